"""A sweep: independent cells, each measured once; it may be interrupted at any moment and run again."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from georecall.errors import FolderError
from georecall.progress import Progress
from georecall.sweeps.cells import Cell
from georecall.sweeps.engines import Engine
from georecall.sweeps.failures import Failure, has_failed, read_failure, record_loss
from georecall.sweeps.locks import tidy
from georecall.sweeps.plan import add_to_plan


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """How a sweep ended: the folders of the cells measured now, of those cached from before, and all failures."""

    finished: tuple[str, ...]
    cached: tuple[str, ...]
    failed: tuple[Failure, ...]

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def run_sweep(
    cells: Sequence[Cell],
    root: Path,
    *,
    engine: Engine,
    progress: Progress,
    retry_failed: bool = False,
    task: str = "cells",
) -> SweepReport:
    """Measure what has no result in `root` yet, cells given twice once; `progress` hears of `task`.

    A cell that fails is recorded and the rest goes on; it is not tried again unless `retry_failed`.

    Raises:
        FolderError: `root` is a file, or a result, a failure or the plan in it is damaged.
    """
    if root.exists() and not root.is_dir():
        raise FolderError(f"{root}: expected the folder of a sweep, found a file")
    root = root.resolve()  # workers may run in other folders than this process
    unique = list({cell.folder_name: cell for cell in cells}.values())
    tidy(root)
    waiting = [cell for cell in unique if not _has_ended(cell, root, retry_failed=retry_failed)]
    if waiting:
        add_to_plan(root, unique, workers=engine.workers)
        try:
            _run(waiting, root, engine, progress, retry_failed=retry_failed, task=task, total=len(unique))
        finally:
            tidy(root)
    progress(task, len(unique), len(unique))
    return _report(unique, {cell.folder_name for cell in waiting}, root)


def _has_ended(cell: Cell, root: Path, *, retry_failed: bool) -> bool:
    """Whether there is nothing left to do; what is there is read, so that damage is found before any work."""
    if cell.is_measured(root):
        cell.result(root)
        return True
    if has_failed(cell, root) and not retry_failed:
        read_failure(root / cell.folder_name, cell.config)
        return True
    return False


def _run(
    waiting: Sequence[Cell],
    root: Path,
    engine: Engine,
    progress: Progress,
    *,
    retry_failed: bool,
    task: str,
    total: int,
) -> None:
    done = total - len(waiting)
    progress(task, done, total)
    with closing(engine.run(waiting, root, retry_failed=retry_failed, progress=progress)) as ended:
        for cell, loss in ended:
            if loss is not None:
                record_loss(cell, root, loss)
            elif not (cell.is_measured(root) or has_failed(cell, root)):
                record_loss(cell, root, f"it ended, but not in {root}: do all workers share that folder?")
            done += 1
            progress(task, done, total)


def _report(cells: Sequence[Cell], tried: set[str], root: Path) -> SweepReport:
    measured = [cell.folder_name for cell in cells if cell.is_measured(root)]
    return SweepReport(
        finished=tuple(name for name in measured if name in tried),
        cached=tuple(name for name in measured if name not in tried),
        failed=tuple(
            read_failure(root / cell.folder_name, cell.config) for cell in cells if has_failed(cell, root)
        ),
    )
