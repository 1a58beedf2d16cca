"""Measurements as files: a cell is a frozen config, its hash names a folder, and it is measured once."""

import hashlib
import json
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeVar

from georecall.errors import FolderError
from georecall.progress import Progress
from georecall.records import Record
from georecall.storage.folders import whole_folder
from georecall.storage.json_files import fields_of, json_text, read_object
from georecall.storage.kinds import Kind
from georecall.sweeps.environment import environment
from georecall.sweeps.locks import alone

CONFIG, RESULT, FAILURE = "config.json", "result.json", "failure.json"
ResultT = TypeVar("ResultT", bound=Record, default=Any)
CellT_co = TypeVar("CellT_co", bound="Cell[Any]", covariant=True)
ResultT_co = TypeVar("ResultT_co", bound=Record, covariant=True)
ThisCell = TypeVar("ThisCell", bound="Cell[Any]")


class About(Record):
    """What stands beside the fields of a result in its file: how long it took, and what it was made with."""

    seconds: Annotated[float, Field(ge=0)]
    environment: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Measured(Generic[CellT_co, ResultT_co]):
    """A cell, its result, and how it was measured."""

    cell: CellT_co
    result: ResultT_co
    about: About


class Cell(BaseModel, ABC, Generic[ResultT]):
    """One independent measurement; its fields say all that the result depends on.

    `revision` is raised when the meaning of a measurement changes, so that old results are not taken for new.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    revision: ClassVar[int] = 1

    @abstractmethod
    def measure(self, progress: Progress) -> ResultT:
        """Do the work."""

    def result_in(self, root: Path, progress: Progress) -> ResultT:  # noqa: ARG002
        """The result; a cell made of other cells runs those in the same `root` instead, and puts them together."""
        return self.measure(progress)

    def dimensions(self, result: ResultT) -> tuple[int, ...]:  # noqa: ARG002
        """The dimensions d of the models that the result is about."""
        return ()

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

    @classmethod
    def result_type(cls) -> type[ResultT]:
        """The kind of result, as the class says it: `class OneHopCell(Cell[OneHopResult])`."""
        arguments = (
            base.__pydantic_generic_metadata__["args"] for base in cls.__mro__ if issubclass(base, Cell)
        )
        return next(args[0] for args in arguments if args)

    def run(self, root: Path, progress: Progress) -> ResultT:
        """The result on disk, measured first if it is not there; no two processes measure a cell at once.

        Raises:
            FolderError: as `result`.
        """
        if not self.is_measured(root):
            with alone(root / self.folder_name):
                if not self.is_measured(root):
                    self.measure_to_disk(root, progress)
        return self.result(root)

    def measure_to_disk(self, root: Path, progress: Progress) -> None:
        """Measure now and write the result with `seconds` and `environment`; the caller holds the cell's lock."""
        started = time.monotonic()
        result = self.result_in(root, progress).to_dict()
        about = About(seconds=round(time.monotonic() - started, 3), environment=environment())
        self.write(root, RESULT, result | about.to_dict())

    def write(self, root: Path, file: str, content: dict[str, Any]) -> None:
        """Make the cell's folder of its config and one file; it appears whole or not at all.

        Raises:
            ValueError, TypeError: the content is not JSON of finite numbers.
        """
        text = json_text(content)
        kind = Kind(
            name="this cell",
            markers=(CONFIG,),
            is_ours=lambda config: config == json.loads(json_text(self.config)),
            files=lambda _: (CONFIG, RESULT, FAILURE),
        )
        with whole_folder(root / self.folder_name, kind=kind, replace=True) as draft:
            (draft / CONFIG).write_text(json_text(self.config), encoding="utf-8")
            (draft / file).write_text(text, encoding="utf-8")

    def result(self, root: Path) -> ResultT:
        """The result on disk.

        Raises:
            FolderError: it is missing or damaged, or belongs to another config.
        """
        return self.measured_in(root).result

    def measured_in(self: ThisCell, root: Path) -> Measured[ThisCell, Any]:
        """The result on disk with what stands beside it.

        Raises:
            FolderError: as `result`.
        """
        path = root / self.folder_name / RESULT
        content = read_cell_file(path, self.config)
        found = {name: value for name, value in content.items() if name not in About.model_fields}
        with fields_of(str(path), remedy=again(path.parent)):
            result = self.result_type().read(found)
        return Measured(cell=self, result=result, about=about_of(content, path))


def read_cell_file(path: Path, config: dict[str, Any]) -> dict[str, Any]:
    """A result or a failure, if the config beside it is the one expected.

    Raises:
        FolderError: either file is missing or damaged, or the config is another one.
    """
    remedy = again(path.parent)
    content = read_object(path, remedy=remedy)
    if read_object(path.with_name(CONFIG), remedy=remedy) != json.loads(json_text(config)):
        raise FolderError(f"{path.with_name(CONFIG)}: is not the config of this cell; {remedy}")
    return content


def about_of(content: dict[str, Any], path: Path) -> About:
    """What stands beside the fields of a result in the content of its file.

    Raises:
        FolderError: it is missing or is something else.
    """
    about = {name: content[name] for name in About.model_fields if name in content}
    with fields_of(str(path), remedy=again(path.parent)):
        return About.read(about)


def again(folder: Path) -> str:
    """What to do about a damaged file of a cell."""
    return f"delete {folder} to measure it again"
