"""A measurement is made once for each configuration, and only a whole one is kept."""

import json
import math
import threading
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from sample_cells import Diverging, Logged, Sum, noted

from georecall.errors import FolderError
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.sweeps.cells import Cell


class Doubled(Record):
    twice: int


class Counted(Cell[Doubled]):
    """Counts how often it is measured."""

    measured: ClassVar[list[float]] = []
    size: int
    rate: float = 0.5

    def measure(self, progress: Progress) -> Doubled:
        progress("counting", 1, 1)
        self.measured.append(self.rate)
        if self.rate < 0:
            raise RuntimeError("no such rate")
        return Doubled(twice=2 * self.size)


def visible(folder: Path) -> list[Path]:
    """What is in a folder but for lock files."""
    return [path for path in folder.iterdir() if not path.name.endswith(".lock")]


@pytest.fixture(autouse=True)
def _nothing_measured() -> None:
    Counted.measured.clear()


def test_a_cell_is_measured_once_and_then_read(tmp_path):
    first = Counted(size=3).run(tmp_path, no_progress)
    assert Counted(size=3).run(tmp_path, no_progress) == first
    assert first.twice == 6
    assert Counted(size=3).measured_in(tmp_path).about.seconds >= 0
    assert len(Counted.measured) == 1


def test_its_folder_holds_config_and_result(tmp_path):
    cell = Counted(size=3)
    result = cell.run(tmp_path, no_progress)
    (folder,) = tmp_path.iterdir()
    assert folder.name == f"Counted-{cell.key}"
    assert {path.name for path in folder.iterdir()} == {"config.json", "result.json"}
    assert json.loads((folder / "config.json").read_text()) == {
        "kind": "Counted",
        "revision": 1,
        "size": 3,
        "rate": 0.5,
    }
    about = cell.measured_in(tmp_path).about
    assert json.loads((folder / "result.json").read_text()) == result.to_dict() | about.to_dict()


def test_another_config_is_another_folder(tmp_path):
    for cell in (Counted(size=3), Counted(size=4), Counted(size=3, rate=0.25)):
        cell.run(tmp_path, no_progress)
    assert len(list(tmp_path.iterdir())) == 3
    assert len(Counted.measured) == 3


def test_equal_configs_have_one_key_however_they_are_written():
    assert Counted(rate=1, size=3).key == Counted(size=3, rate=1.0).key


def test_a_failing_measure_leaves_nothing_and_is_tried_again(tmp_path):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no such rate"):
            Counted(size=3, rate=-1).run(tmp_path, no_progress)
    assert visible(tmp_path) == []
    assert len(Counted.measured) == 2


def test_a_result_that_is_not_json_leaves_nothing(tmp_path):
    class Thing(Record):
        thing: object

    class Unwritable(Cell[Thing]):
        def measure(self, progress: Progress) -> Thing:  # noqa: ARG002
            return Thing(thing=object())

    with pytest.raises(PydanticSerializationError):
        Unwritable().run(tmp_path, no_progress)
    assert visible(tmp_path) == []


def test_a_new_revision_is_another_key(monkeypatch):
    before = Counted(size=3).key
    monkeypatch.setattr(Counted, "revision", 2)
    assert Counted(size=3).key != before


def test_another_kind_with_the_same_fields_is_another_key():
    other = type("Other", (Counted,), {"__annotations__": {}})
    assert other(size=3).key != Counted(size=3).key


def test_the_key_does_not_depend_on_the_process():
    """So that a result measured once is found by every later run."""
    assert Counted(size=3).key == "db896accd0afbf8a"


@pytest.mark.parametrize(
    "fields", [{}, {"size": 3, "sise": 4}, {"size": "three"}, {"size": 3, "rate": math.nan}]
)
def test_a_config_with_missing_unknown_or_wrong_fields_is_refused(fields):
    with pytest.raises(ValidationError):
        Counted(**fields)


def test_a_config_cannot_be_changed():
    with pytest.raises(ValidationError):
        Counted(size=3).size = 4


def test_a_result_that_is_not_finite_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        Diverging().run(tmp_path, no_progress)
    assert visible(tmp_path) == []


def test_a_cell_made_of_others_runs_them_in_the_same_folder(root, log):
    whole = Sum(log=str(log), parts=(1, 2, 3))
    Logged(number=2, log=str(log)).run(root, no_progress)
    assert whole.run(root, no_progress).sum == 14
    assert whole.run(root, no_progress).sum == 14
    assert noted(log) == ["2", "1", "3"]
    assert len(visible(root)) == 4


def test_whoever_waits_for_a_cell_finds_its_result(root, log):
    cell = Logged(number=1, log=str(log), seconds=0.2)
    others = [threading.Thread(target=cell.run, args=(root, no_progress)) for _ in range(4)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert noted(log) == ["1"]
    assert cell.is_measured(root)


def test_a_finished_cell_has_no_lock_file_left(root, log):
    cell = Logged(number=1, log=str(log))
    cell.run(root, no_progress)
    assert [path.name for path in root.iterdir()] == [cell.folder_name]


DAMAGE = {
    "half a result": ("result.json", '{"square": 1', "is not JSON"),
    "a result that is a list": ("result.json", "[1]", "expected a JSON object, got [1]"),
    "NaN in a result": ("result.json", '{"square": NaN}', "NaN"),
    "binary": ("result.json", "\udcff", "is not JSON"),
    "another result": (
        "result.json",
        '{"square": "1", "process": 2}',
        "square: expected a valid integer, got '1'",
    ),
    "a result that lacks a number": ("result.json", '{"square": 1}', "process: is missing"),
    "a result with more than there should be": (
        "result.json",
        '{"square": 1, "process": 2, "cube": 1}',
        "unknown field 'cube'",
    ),
    "a time that is no number": ("result.json", '{"square": 1, "process": 2, "seconds": "2"}', "seconds"),
    "half a config": ("config.json", '{"kind"', "is not JSON"),
    "another config": ("config.json", '{"kind": "Logged"}', "is not the config of this cell"),
    "no config": ("config.json", None, "config.json: missing"),
}


@pytest.mark.parametrize(("name", "text", "says"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_folder_is_refused_with_the_file_and_what_to_do(root, log, name, text, says):
    cell = Logged(number=1, log=str(log))
    cell.run(root, no_progress)
    path = root / cell.folder_name / name
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FolderError) as refused:
        cell.run(root, no_progress)
    assert str(refused.value).startswith(str(path))
    assert says in str(refused.value)
    assert f"delete {path.parent} to measure it again" in str(refused.value)


def test_a_folder_with_other_work_in_it_is_not_replaced(root, log):
    cell = Logged(number=1, log=str(log))
    (root / cell.folder_name).mkdir(parents=True)
    (root / cell.folder_name / "notes.txt").write_text("mine")
    with pytest.raises(FolderError, match="found other work"):
        cell.run(root, no_progress)
    assert (root / cell.folder_name / "notes.txt").read_text() == "mine"
