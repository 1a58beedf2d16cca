"""Cells that failed: recorded beside the finished ones, so that the rest goes on and nothing is taken for done."""

import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from georecall.progress import Progress
from georecall.storage.json_files import Stored, fields_of
from georecall.sweeps.cells import FAILURE, Cell, again, read_cell_file
from georecall.sweeps.locks import alone


class FailureFile(Stored):
    """What `failure.json` holds."""

    type: str
    message: str
    traceback: str
    seconds: Annotated[float, Field(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a cell has no result; `folder` is the name of its folder, which holds the traceback."""

    folder: str
    type: str
    message: str
    traceback: str
    seconds: float

    @property
    def summary(self) -> str:
        """Type and message on one line."""
        first, *more = self.message.splitlines() or [""]
        return f"{self.type}: {first}" + (" …" if more else "")

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def attempt(cell: Cell, root: Path, *, retry_failed: bool, progress: Progress) -> None:
    """Measure a cell unless another process has ended it meanwhile; an error is recorded, not raised.

    An interruption by the user is no failure: nothing is recorded, and it is raised.
    """
    with alone(root / cell.folder_name):
        if cell.is_measured(root) or (has_failed(cell, root) and not retry_failed):
            return
        started = time.monotonic()
        try:
            cell.measure_to_disk(root, progress)
        except Exception as error:
            _write(
                cell,
                root,
                type=type(error).__name__,
                message=str(error),
                traceback="".join(traceback.format_exception(error)),
                seconds=round(time.monotonic() - started, 3),
            )


def record_loss(cell: Cell, root: Path, message: str) -> None:
    """Record that no worker brought the cell to an end, unless one did after all."""
    with alone(root / cell.folder_name):
        if not cell.is_measured(root):
            _write(cell, root, type="WorkerLost", message=message, traceback="", seconds=0.0)


def has_failed(cell: Cell, root: Path) -> bool:
    """Whether a failure is recorded."""
    return (root / cell.folder_name / FAILURE).is_file()


def read_failure(folder: Path, config: dict[str, Any]) -> Failure:
    """The failure recorded in the folder of a cell.

    Raises:
        FolderError: as `read_cell_file`; or it holds something else than a failure.
    """
    path = folder / FAILURE
    content = read_cell_file(path, config)
    with fields_of(str(path), remedy=again(folder)):
        found = FailureFile.model_validate(content, strict=True)
    return Failure(folder=folder.name, **found.model_dump())


def _write(cell: Cell, root: Path, **content: str | float) -> None:
    cell.write(root, FAILURE, content)
