"""How far a sweep is, told from its files while it runs or after."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from georecall.errors import FolderError
from georecall.storage.locks import beside, is_held
from georecall.sweeps.cells import FAILURE, RESULT, about_of, read_cell_file
from georecall.sweeps.failures import Failure, read_failure
from georecall.sweeps.plan import read_plan


@dataclass(frozen=True, kw_only=True)
class SweepStatus:
    """Cells by their state; times are in seconds, None while nothing has finished.

    `seconds_left` is (waiting + running) · mean / workers: a running cell counts as if it had just begun.
    """

    planned: int
    done: int
    running: int
    waiting: int
    failed: tuple[Failure, ...]
    workers: int
    mean_seconds: float | None
    seconds_left: float | None

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def sweep_status(root: Path) -> SweepStatus:
    """The state of the sweep in a folder.

    Raises:
        FolderError: the folder is missing or not that of a sweep, or a file in it is damaged.
    """
    if not root.is_dir():
        raise FolderError(
            f"{root}: expected the folder of a sweep, found {'a file' if root.exists() else 'nothing'}"
        )
    plan = read_plan(root)
    seconds, failed, running = [], [], 0
    for name, config in plan.cells.items():
        folder = root / name
        if (folder / RESULT).is_file():
            seconds.append(_seconds(folder, config))
        elif is_held(beside(folder)):
            running += 1
        elif (folder / FAILURE).is_file():
            failed.append(read_failure(folder, config))
    waiting = len(plan.cells) - len(seconds) - len(failed) - running
    left = waiting + running
    mean = sum(seconds) / len(seconds) if seconds else None
    return SweepStatus(
        planned=len(plan.cells),
        done=len(seconds),
        running=running,
        waiting=waiting,
        failed=tuple(failed),
        workers=plan.workers,
        mean_seconds=mean,
        seconds_left=None if mean is None else mean * left / max(1, min(plan.workers, left)),
    )


def _seconds(folder: Path, config: dict[str, Any]) -> float:
    return about_of(read_cell_file(folder / RESULT, config), folder / RESULT).seconds
