"""Cells for the tests of sweeps, in a module that workers can import."""

import math
import os
import signal
import time
from pathlib import Path

from georecall.progress import Progress
from georecall.records import Record
from georecall.sweeps.cells import Cell


def note(log: str, *words: object) -> None:
    """Append one line in one write, which processes may do at once."""
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(" ".join(map(str, words)) + "\n")


def noted(log: Path) -> list[str]:
    """The lines so far."""
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


class Squared(Record):
    square: int
    process: int


class Logged(Cell[Squared]):
    """Notes that it is measured, and takes its time."""

    number: int
    log: str
    seconds: float = 0.0

    def measure(self, progress: Progress) -> Squared:  # noqa: ARG002
        note(self.log, self.number)
        time.sleep(self.seconds)
        return Squared(square=self.number**2, process=os.getpid())


class Mended(Record):
    mended: bool


class Failing(Cell[Mended]):
    """Fails while the file `fault` exists."""

    fault: str
    number: int = 0

    def measure(self, progress: Progress) -> Mended:  # noqa: ARG002
        if Path(self.fault).exists():
            raise RuntimeError(f"no luck with {self.number}\nsecond line")
        return Mended(mended=True)


class Loss(Record):
    loss: float


class Diverging(Cell[Loss]):
    """Its loss is NaN."""

    def measure(self, progress: Progress) -> Loss:  # noqa: ARG002
        return Loss(loss=math.nan)


class Interrupted(Cell[Loss]):
    """The user presses Ctrl-C."""

    def measure(self, progress: Progress) -> Loss:  # noqa: ARG002
        raise KeyboardInterrupt


class Survived(Record):
    survived: bool


class Deadly(Cell[Survived]):
    """Kills the process that measures it, until that was done `times` times."""

    log: str
    times: int

    def measure(self, progress: Progress) -> Survived:  # noqa: ARG002
        note(self.log, "deadly")
        if noted(Path(self.log)).count("deadly") <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return Survived(survived=True)


class Told(Record):
    torch: int
    told: str | None
    process: int


class Threads(Cell[Told]):
    """How many threads torch has, and what the libraries under it are told."""

    number: int

    def measure(self, progress: Progress) -> Told:  # noqa: ARG002
        import torch  # noqa: PLC0415

        return Told(
            torch=torch.get_num_threads(), told=os.environ.get("OMP_NUM_THREADS"), process=os.getpid()
        )


class Total(Record):
    sum: int


class Sum(Cell[Total]):
    """Made of other cells."""

    log: str
    parts: tuple[int, ...]

    def measure(self, progress: Progress) -> Total:
        raise NotImplementedError

    def result_in(self, root: Path, progress: Progress) -> Total:
        cells = [Logged(number=number, log=self.log) for number in self.parts]
        return Total(sum=sum(cell.run(root, progress).square for cell in cells))
