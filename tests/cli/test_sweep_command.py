"""`georecall sweep status`: counts, the time left, and where the tracebacks of failed cells are."""

from pathlib import Path

import pytest

from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.sweeps import Cell, SerialEngine, run_sweep
from georecall.sweeps.plan import add_to_plan


class Halved(Record):
    half: int


class Half(Cell[Halved]):
    """Fails on odd numbers."""

    number: int

    def measure(self, progress: Progress) -> Halved:  # noqa: ARG002
        if self.number % 2:
            raise ArithmeticError(f"{self.number} is odd\x1b[31m\nand long")
        return Halved(half=self.number // 2)


@pytest.fixture
def sweep(cli) -> Path:  # noqa: ARG001 - in its folder
    """A sweep of two finished cells, a failed one and one that waits."""
    folder = Path("cells")
    run_sweep([Half(number=n) for n in range(3)], folder, engine=SerialEngine(), progress=no_progress)
    add_to_plan(folder, [Half(number=4)], workers=2)
    return folder


def test_counts_times_and_failed_cells_are_shown(cli, sweep):
    result = cli("sweep", "status", sweep)
    assert (result.code, result.err) == (0, "")
    header, row, _, title, columns, failed = result.out.splitlines()
    assert header.split()[:5] == ["planned", "done", "running", "waiting", "failed"]
    assert row.split() == ["4", "2", "0", "1", "1", "0.0", "s", "0.0", "s"]
    assert (title, columns.split()) == ("Failed cells", ["error", "traceback", "in"])
    assert failed.startswith("ArithmeticError: 1 is odd\\x1b[31m …")
    assert failed.split()[-1] == str(sweep / Half(number=1).folder_name / "failure.json")


def test_the_state_as_json(cli, sweep):
    found = cli("sweep", "status", sweep, "--json").json
    assert {name: found[name] for name in ("planned", "done", "running", "waiting", "workers")} == {
        "planned": 4,
        "done": 2,
        "running": 0,
        "waiting": 1,
        "workers": 2,
    }
    assert "ArithmeticError" in found["failed"][0]["traceback"]


def test_before_a_cell_has_finished_the_time_is_unknown(cli):
    add_to_plan(Path("cells"), [Half(number=0)], workers=1)
    result = cli("sweep", "status", "cells")
    assert result.out.count("unknown") == 2
    assert "Failed" not in result.out


def test_long_times_are_hours_minutes_and_seconds():
    from georecall.cli.sweep import _duration  # noqa: PLC0415

    assert [_duration(seconds) for seconds in (0.04, 59.94, 60.0, 3725.4, 90_000.0)] == [
        "0.0 s",
        "59.9 s",
        "0:01:00",
        "1:02:05",
        "1 day, 1:00:00",
    ]


@pytest.mark.parametrize("folder", ["none", "file", "empty"])
def test_what_is_no_sweep_is_refused(cli, folder):
    Path("file").touch()
    Path("empty").mkdir()
    result = cli("sweep", "status", folder)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {folder}")
    assert result.err.count("\n") == 1


def test_the_help_shows_an_example(cli):
    assert "Example: georecall sweep status" in cli("sweep", "status", "--help").out
    assert " status " in cli("sweep", "--help").out
