"""Where cells are measured: in this process, or in several processes of this machine."""

import os
import sys
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from georecall.errors import GeorecallError
from georecall.progress import Progress, no_progress
from georecall.sweeps.cells import Cell
from georecall.sweeps.failures import attempt

SECONDS_BETWEEN_LOOKS = 1.0
"""How often a worker looks whether its parent lives."""

TRIES = 3
"""How often a cell is handed out when the workers that hold it die."""

Ended = tuple[Cell, str | None]
"""A cell that came to its end, and what happened if it was given up because its workers died."""


class Engine(ABC):
    """Hands out cells; each is attempted once, and yielded when it has ended, in any order."""

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many cells are measured at once."""

    @abstractmethod
    def run(
        self, cells: Sequence[Cell], root: Path, *, retry_failed: bool, progress: Progress
    ) -> Generator[Ended, None, None]:
        """Attempt every cell; results and failures are files in `root`."""


class SerialEngine(Engine):
    """One cell after the other in this process, which keeps all its threads."""

    workers = 1

    def run(
        self, cells: Sequence[Cell], root: Path, *, retry_failed: bool, progress: Progress
    ) -> Generator[Ended, None, None]:
        """Attempt every cell in order."""
        for cell in cells:
            attempt(cell, root, retry_failed=retry_failed, progress=progress)
            yield cell, None


class ProcessEngine(Engine):
    """Processes of this machine (loky), each of one thread.

    Raises:
        GeorecallError: fewer than one worker.
    """

    def __init__(self, workers: int) -> None:
        self._workers = checked_workers(workers)

    @property
    def workers(self) -> int:
        """As many as asked for."""
        return self._workers

    def run(
        self,
        cells: Sequence[Cell],
        root: Path,
        *,
        retry_failed: bool,
        progress: Progress,  # noqa: ARG002 - workers report nothing
    ) -> Generator[Ended, None, None]:
        """Attempt every cell; those whose worker dies are handed out again.

        A death ends the other processes too, so what they held is begun again. The last of `TRIES` tries is made
        alone, so that a cell is only given up for what it does itself.
        """
        waiting, deaths = {cell.folder_name: cell for cell in cells}, Counter[str]()
        while waiting:
            together = [cell for name, cell in waiting.items() if deaths[name] < TRIES - 1]
            batch = together or list(waiting.values())[:1]
            held: set[str] = set()
            try:
                for name in self._hand_out(batch, held, root, retry_failed=retry_failed):
                    held.discard(name)
                    yield waiting.pop(name), None
            except BrokenProcessPool as error:
                for name in held:
                    deaths[name] += 1
                    if deaths[name] == TRIES:
                        yield (
                            waiting.pop(name),
                            f"handed out {TRIES} times, the last time alone, and its worker died: {error}",
                        )

    def _hand_out(
        self, batch: Sequence[Cell], held: set[str], root: Path, *, retry_failed: bool
    ) -> Iterator[str]:
        """Names as cells end; `held` gets the names of those handed out."""

        def tasks() -> Iterator[Any]:
            for cell in batch:
                held.add(cell.folder_name)
                yield joblib.delayed(attempt_in_worker)(
                    cell, root, retry_failed=retry_failed, parent=os.getpid()
                )

        with joblib.parallel_config("loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(
                n_jobs=max(
                    2, self.workers
                ),  # one job would run in this process, and take it along when it dies
                pre_dispatch=self.workers,
                batch_size=1,
                return_as="generator_unordered",
            )
            names = parallel(tasks())
        with warnings.catch_warnings():
            # A worker that has grown, as by a language model, is exchanged between two cells; nothing is lost.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            yield from names


def attempt_in_worker(cell: Cell, root: Path, *, retry_failed: bool, parent: int) -> str:
    """What a process of `ProcessEngine` does: it ends with its parent, though that be killed outright."""
    _end_with(parent)
    return attempt_on_one_thread(cell, root, retry_failed=retry_failed)


@cache
def _end_with(parent: int) -> None:
    """Watch from now on whether this process still belongs to its parent; on Windows it always seems to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def attempt_on_one_thread(cell: Cell, root: Path, *, retry_failed: bool) -> str:
    """What a worker does: several processes of several threads each would slow one another down."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for libraries that are yet to be imported
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    attempt(cell, root, retry_failed=retry_failed, progress=no_progress)
    return cell.folder_name


def checked_workers(workers: int) -> int:
    """The number of workers, if there is one at least.

    Raises:
        GeorecallError: there is none.
    """
    if workers < 1:
        raise GeorecallError(f"expected at least 1 worker, got {workers}")
    return workers
