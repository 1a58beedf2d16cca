"""The status of a claim's cells on disk: measured, failed or missing, and with which version of georecall."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from georecall.sweeps import Cell, Measured
from georecall.sweeps.failures import Failure, has_failed, read_failure

State = Literal["measured", "failed", "missing"]
NOT_RECORDED = "not recorded"


@dataclass(frozen=True, kw_only=True)
class CellStatus:
    """A cell with what is on disk for its present config: a result, a failure, or neither."""

    cell: Cell
    measured: Measured[Any, Any] | None = None
    failure: Failure | None = None

    @property
    def state(self) -> State:
        """Which of the two is there."""
        if self.measured is not None:
            return "measured"
        return "missing" if self.failure is None else "failed"

    @property
    def environment(self) -> dict[str, str]:
        """What the result was measured with; empty for cells of before that was recorded, and without a result."""
        return {} if self.measured is None else self.measured.about.environment

    @property
    def version(self) -> str:
        """The version of georecall that measured it."""
        return self.environment.get("georecall", NOT_RECORDED)


def cell_statuses(cells: Sequence[Cell], root: Path) -> tuple[CellStatus, ...]:
    """What is on disk for each cell; an old result has another config or revision, so another folder.

    Raises:
        FolderError: a file of a cell is damaged.
    """
    return tuple(_status(cell, root) for cell in cells)


def _status(cell: Cell, root: Path) -> CellStatus:
    if cell.is_measured(root):
        return CellStatus(cell=cell, measured=cell.measured_in(root))
    if has_failed(cell, root):
        return CellStatus(cell=cell, failure=read_failure(root / cell.folder_name, cell.config))
    return CellStatus(cell=cell)
