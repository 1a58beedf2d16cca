"""Measurements as files: a cell is a frozen config, its hash names a folder, and it is measured once."""

import hashlib
import json
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from georecall.errors import FolderError
from georecall.progress import Progress
from georecall.storage.folders import whole_folder
from georecall.sweeps.environment import environment
from georecall.sweeps.json_files import json_text, read_object
from georecall.sweeps.locks import alone

CONFIG, RESULT = "config.json", "result.json"


class Cell(BaseModel, ABC):
    """One independent measurement; its fields say all that the result depends on.

    `revision` is raised when the meaning of a measurement changes, so that old results are not taken for new.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    revision: ClassVar[int] = 1

    @abstractmethod
    def measure(self, progress: Progress) -> dict[str, Any]:
        """Do the work; the result must be JSON, of finite numbers."""

    def result_in(self, root: Path, progress: Progress) -> dict[str, Any]:  # noqa: ARG002
        """The result; a cell made of other cells runs those in the same `root` instead, and puts them together."""
        return self.measure(progress)

    @property
    def config(self) -> dict[str, Any]:
        """Kind, revision and fields."""
        return {"kind": type(self).__name__, "revision": self.revision, **self.model_dump(mode="json")}

    @property
    def key(self) -> str:
        """Hash of the config."""
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def folder_name(self) -> str:
        """Kind and key."""
        return f"{type(self).__name__}-{self.key}"

    def is_measured(self, root: Path) -> bool:
        """Whether a result is there."""
        return (root / self.folder_name / RESULT).is_file()

    def run(self, root: Path, progress: Progress) -> dict[str, Any]:
        """The result on disk, measured first if it is not there; no two processes measure a cell at once.

        Raises:
            FolderError: as `result`.
        """
        if not self.is_measured(root):
            with alone(root / self.folder_name, done=RESULT):
                if not self.is_measured(root):
                    self.measure_to_disk(root, progress)
        return self.result(root)

    def measure_to_disk(self, root: Path, progress: Progress) -> None:
        """Measure now and write the result with `seconds` and `environment`; the caller holds the cell's lock."""
        started = time.monotonic()
        result = dict(self.result_in(root, progress))
        result["seconds"] = round(time.monotonic() - started, 3)
        result["environment"] = environment()
        self.write(root, RESULT, result)

    def write(self, root: Path, file: str, content: dict[str, Any]) -> None:
        """Make the cell's folder of its config and one file; it appears whole or not at all.

        Raises:
            ValueError, TypeError: the content is not JSON of finite numbers.
        """
        text = json_text(content)
        with whole_folder(root / self.folder_name, marker=CONFIG, replace=True) as draft:
            (draft / CONFIG).write_text(json_text(self.config), encoding="utf-8")
            (draft / file).write_text(text, encoding="utf-8")

    def result(self, root: Path) -> dict[str, Any]:
        """The result on disk.

        Raises:
            FolderError: it is missing or damaged, or belongs to another config.
        """
        return read_cell_file(root / self.folder_name / RESULT, self.config)


def read_cell_file(path: Path, config: dict[str, Any]) -> dict[str, Any]:
    """A result or a failure, if the config beside it is the one expected.

    Raises:
        FolderError: either file is missing or damaged, or the config is another one.
    """
    remedy = f"delete {path.parent} to measure it again"
    content = read_object(path, remedy=remedy)
    if read_object(path.with_name(CONFIG), remedy=remedy) != json.loads(json_text(config)):
        raise FolderError(f"{path.with_name(CONFIG)}: is not the config of this cell; {remedy}")
    return content
