"""Measurements as files: a cell is a frozen config, its hash names a folder, and it is measured once."""

import hashlib
import json
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from georecall.progress import Progress
from georecall.storage.folders import whole_folder

RESULT = "result.json"


class Cell(BaseModel, ABC):
    """One independent measurement; its fields say all that the result depends on.

    `revision` is raised when the meaning of a measurement changes, so that old results are not taken for new.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    revision: ClassVar[int] = 1

    @abstractmethod
    def measure(self, progress: Progress) -> dict[str, Any]:
        """Do the work; the result must be JSON."""

    @property
    def config(self) -> dict[str, Any]:
        """Kind, revision and fields."""
        return {"kind": type(self).__name__, "revision": self.revision, **self.model_dump(mode="json")}

    @property
    def key(self) -> str:
        """Hash of the config: the name of the cell's folder."""
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()[:16]

    def run(self, root: Path, progress: Progress) -> dict[str, Any]:
        """The result on disk, measured first if it is not there; it appears whole or not at all."""
        folder = root / f"{type(self).__name__}-{self.key}"
        if not (folder / RESULT).is_file():
            started = time.monotonic()
            result = self.measure(progress)
            result["seconds"] = round(time.monotonic() - started, 3)
            with whole_folder(folder, marker=RESULT, replace=True) as draft:
                (draft / "config.json").write_text(json.dumps(self.config, indent=2) + "\n", encoding="utf-8")
                (draft / RESULT).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        loaded: dict[str, Any] = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        return loaded
