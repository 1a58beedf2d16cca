"""`georecall reproduce`: verdicts from cells on disk, finished cells cached, exit code 3 for a failure."""

import json
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from georecall.claims import CLAIMS, claim, one_hop, registry
from georecall.claims.claim import Claim
from georecall.claims.judgement import Judgement
from georecall.cli import reproduce
from georecall.progress import Progress
from georecall.records import Record
from georecall.sweeps import Cell, ProcessEngine, SerialEngine, run_sweep


class Area(Record):
    """Of a square."""

    area: int


class SquareCell(Cell[Area]):
    """A cell that is measured in no time, and counts how often."""

    side: int
    measured: ClassVar[list[int]] = []

    def measure(self, progress: Progress) -> Area:  # noqa: ARG002
        self.measured.append(self.side)
        return Area(area=self.side**2)


class Faulty(SquareCell):
    """Fails while the file `fault` exists."""

    def measure(self, progress: Progress) -> Area:
        if Path("fault").exists():
            raise RuntimeError("out of squares")
        return super().measure(progress)


def _claim(name: str, verdict: str, kind: type[SquareCell] = SquareCell) -> Claim:
    return Claim(
        id=name,
        statement=f"Squares are {verdict}.",
        source="ours",
        criterion="area = side²",
        cells=lambda preset: [kind(side=side) for side in range(1, 3 if preset == "quick" else 5)],
        judge=lambda results: Judgement.saying(verdict, f"{sum(one.result.area for one in results)} in all"),
    )


@pytest.fixture(autouse=True)
def _squares(monkeypatch):
    """Three claims that take no time instead of the real ones, in this process."""
    SquareCell.measured.clear()
    set_claims(monkeypatch, _claim("S1", "holds"), _claim("S2", "fails"), _claim("S3", "undecided"))
    monkeypatch.setattr(reproduce, "DEFAULT_ENGINE", "serial")


def set_claims(monkeypatch, *claims: Claim) -> None:
    monkeypatch.setattr(registry, "CLAIMS", claims)


def saved() -> dict[str, str]:
    """The verdicts in the folder of the report."""
    outcomes = json.loads(Path("report/results.json").read_text(encoding="utf-8"))
    return {outcome["id"]: outcome["verdict"] for outcome in outcomes}


def test_outcomes_are_shown_as_a_table(cli):
    result = cli("reproduce", "--claims", "S1")
    assert result.code == 0
    assert result.err.startswith("note: georecall reproduce --show CLAIM ")
    assert result.err.endswith(" the page report/index.html\n")
    assert result.out == "claim  verdict  key figure\nS1     holds    5 in all\n"


def test_one_claim_is_shown_whole_from_what_is_on_disk_and_nothing_is_measured_or_written(cli):
    cli("reproduce", "--claims", "S2")
    SquareCell.measured.clear()
    before = {path: path.read_bytes() for path in Path("report").rglob("*") if path.is_file()}
    result = cli("reproduce", "--show", "S2")
    assert (result.code, result.err, SquareCell.measured) == (0, "", [])
    for said in (
        "S2  Squares are fails.",
        "fails, at the preset quick",
        "area = side²",
        "Measured\n  5 in all",
    ):
        assert said in result.out
    assert cli("reproduce", "--show", "s2", "--json").json["measured"] == "5 in all"
    assert {path: path.read_bytes() for path in Path("report").rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--show", "S1"), "nowhere: expected the folder of a report"),
        (("--show", "S9"), "'S9'"),
        (("--show", "S1,S2"), "expected one claim to show, got 2"),
    ],
)
def test_a_claim_that_cannot_be_shown_is_refused(cli, arguments, says):
    if "S1" not in arguments:
        cli("reproduce", "--claims", "S1", "-o", "nowhere")
    result = cli("reproduce", *arguments, "-o", "nowhere")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert says in result.err


def test_a_figure_that_fails_is_one_line_and_takes_nothing_with_it(cli, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError("no ink\nat all")

    set_claims(monkeypatch, replace(_claim("S1", "holds"), figure=fail))
    result = cli("reproduce", "--claims", "S1")
    assert result.code == 0
    assert "note: S1: cannot be drawn: no ink\n" in result.err
    assert saved()["S1"] == "holds"
    assert "The figure of S1 cannot be drawn: no ink" in Path("report/index.html").read_text(encoding="utf-8")


def test_outcomes_as_json_carry_what_settled_them(cli):
    result = cli("reproduce", "--claims", "S1,s3", "--json")
    assert result.code == 0
    assert [outcome.pop("seconds") >= 0 for outcome in result.json] == [True, True]
    first, second = json.loads(result.out)
    assert {key: first[key] for key in ("id", "verdict", "measured", "criterion", "preset", "cells")} == {
        "id": "S1",
        "verdict": "holds",
        "measured": "5 in all",
        "criterion": "area = side²",
        "preset": "quick",
        "cells": {"measured": 2, "failed": 0, "missing": 0},
    }
    assert (second["id"], second["verdict"]) == ("S3", "undecided")


def test_a_report_is_written_to_the_folder_asked_for(cli):
    result = cli("reproduce", "--claims", "S1", "--json", "-o", "results")
    assert json.loads(Path("results/results.json").read_text(encoding="utf-8"))[:1] == result.json
    assert {path.name for path in Path("results").iterdir()} == {
        "cells",
        "index.html",
        "results.json",
        "results.parquet",
        "quantities.parquet",
    }
    assert len(list(Path("results/cells").glob("*/result.json"))) == 2
    assert not Path("report").exists()


def test_finished_cells_are_cached_and_larger_presets_add_theirs(cli):
    first = cli("reproduce", "--claims", "S1", "--json").json
    assert SquareCell.measured == [1, 2]
    assert cli("reproduce", "--claims", "S1", "--json").json == first
    assert SquareCell.measured == [1, 2]
    cli("reproduce", "--claims", "S1", "--preset", "standard")
    assert SquareCell.measured == [1, 2, 3, 4]


def test_a_claim_that_fails_is_named_and_gives_exit_code_3(cli):
    result = cli("reproduce", "--json")
    assert (result.code, result.err) == (3, "claims that fail: S2\n")
    assert [outcome["verdict"] for outcome in result.json] == ["holds", "fails", "undecided"]
    assert cli("reproduce", "--claims", "S1,S3").code == 0


def test_all_claims_stand_in_the_report_by_the_cells_of_its_preset(cli, monkeypatch):
    cli("reproduce", "--claims", "S2")
    set_claims(monkeypatch, _claim("S1", "holds"), _claim("S4", "holds", Faulty))
    shown = cli("reproduce", "--plot-only", "--json").json
    assert [(outcome["id"], outcome["verdict"]) for outcome in shown] == [
        ("S1", "holds"),
        ("S4", "not measured"),
    ]
    cli("reproduce", "--claims", "S4")
    assert saved() == {"S1": "holds", "S4": "holds"}
    cli("reproduce", "--claims", "S4", "--preset", "standard")
    assert saved() == {"S1": "not measured", "S4": "holds"}


def test_plot_only_measures_nothing_and_says_what_is_missing(cli):
    cli("reproduce", "--claims", "S1")
    SquareCell.measured.clear()
    result = cli("reproduce", "--plot-only", "--preset", "standard")
    assert (result.code, SquareCell.measured) == (0, [])
    assert "2 of 4 cells are measured" in result.out
    assert saved() == dict.fromkeys(("S1", "S2", "S3"), "not measured")
    assert cli("reproduce", "--plot-only").code == 3


def test_a_claim_with_something_missing_is_skipped_and_says_what(cli, monkeypatch):
    claim = replace(_claim("S1", "fails"), missing=lambda: "the wheel of the model is not installed")
    set_claims(monkeypatch, claim, _claim("S3", "holds", Faulty))
    result = cli("reproduce")
    (row,) = [line for line in result.out.splitlines() if line.startswith("S1")]
    assert (result.code, row.split()[1]) == (0, "skipped")
    assert "the wheel of the model is not installed" in row
    (listed,) = cli("reproduce", "--list", "--claims", "S1", "--json").json
    assert listed["lacks"] == "the wheel of the model is not installed"


class Interrupting(SquareCell):
    """The user presses Ctrl-C at side 2, while the file `impatience` exists."""

    def measure(self, progress: Progress) -> Area:
        if self.side == 2 and Path("impatience").exists():
            raise KeyboardInterrupt
        return super().measure(progress)


def test_ctrl_c_keeps_finished_cells_says_so_in_one_line_and_the_next_run_continues(cli, monkeypatch):
    set_claims(monkeypatch, _claim("S1", "holds", Interrupting))
    Path("impatience").touch()
    result = cli("reproduce", "--preset", "standard")
    assert (result.code, result.out) == (130, "")
    assert result.err == "note: interrupted; finished cells are kept in report, and the next run continues\n"
    Path("impatience").unlink()
    assert cli("reproduce", "--preset", "standard").code == 0
    assert SquareCell.measured == [1, 2, 3, 4]


def test_a_claim_with_failed_cells_is_undecided_and_says_where_until_they_are_tried_again(cli, monkeypatch):
    def judge(_results: object) -> Judgement:
        pytest.fail("judged without all results")

    faulty = _claim("S1", "holds", Faulty)
    set_claims(monkeypatch, replace(faulty, judge=judge))
    Path("fault").touch()
    result = cli("reproduce", "--json")
    (outcome,) = result.json
    assert (result.code, outcome["verdict"]) == (0, "undecided")
    folders = [f"report/cells/{Faulty(side=side).folder_name}" for side in (1, 2)]
    assert outcome["measured"] == (
        f"2 of 2 cells failed, the first with RuntimeError: out of squares; see {folders[0]}, {folders[1]}"
    )
    Path("fault").unlink()
    assert cli("reproduce", "--json").json == [outcome]
    set_claims(monkeypatch, faulty)
    assert cli("reproduce", "--retry-failed", "--json").json[0]["verdict"] == "holds"


def test_cells_go_to_the_engine_asked_for(cli, monkeypatch):
    engines = []

    def note_engine(cells, root, *, engine, **options):
        engines.append(engine)
        return run_sweep(cells, root, engine=SerialEngine(), **options)

    monkeypatch.setattr(claim, "run_sweep", note_engine)
    cli("reproduce", "--claims", "S1")
    cli("reproduce", "--claims", "S1", "--engine", "processes", "--workers", "3")
    assert [(type(engine), engine.workers) for engine in engines] == [(SerialEngine, 1), (ProcessEngine, 3)]


ENGINES = {
    "an unknown engine": (("--engine", "dask"), "'dask'"),
    "workers without an engine for them": (("--workers", "2", "--engine", "serial"), "serial has no workers"),
    "no workers": (("--engine", "processes", "--workers", "0"), "at least 1 worker"),
    "an address without Ray": (("--address", "auto"), "needs the engine ray"),
}


@pytest.mark.parametrize(("options", "says"), ENGINES.values(), ids=ENGINES)
def test_engine_options_that_do_not_fit_are_refused_and_nothing_is_written(cli, options, says):
    result = cli("reproduce", *options)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert list(Path().iterdir()) == []


def test_the_list_says_what_is_measured_and_measures_nothing(cli):
    result = cli("reproduce", "--list", "--json")
    assert [claim["id"] for claim in result.json] == ["S1", "S2", "S3"]
    assert result.json[0] == {
        "id": "S1",
        "statement": "Squares are holds.",
        "criterion": "area = side²",
        "source": "ours",
        "preset": "quick",
        "sizes": "2 cells",
        "cells": 2,
        "done": 0,
        "minutes": None,
        "how": "unknown",
        "lacks": None,
    }
    assert "Squares are undecided." in cli("reproduce", "--list").out
    assert SquareCell.measured == []
    assert list(Path().iterdir()) == []


def test_the_list_knows_what_is_done(cli):
    cli("reproduce", "--claims", "S1")
    listed = cli("reproduce", "--list", "--preset", "standard").out.splitlines()
    assert [line.split()[:4] for line in listed[1:]] == [
        [name, "2", "of", "4"] for name in ("S1", "S2", "S3")
    ]
    assert cli("reproduce", "--list", "--json").json[0]["minutes"] == 0


def test_the_list_expects_minutes_on_this_machine_for_the_real_claims(cli, monkeypatch):
    set_claims(monkeypatch, *CLAIMS)
    result = cli("reproduce", "--list", "--preset", "paper", "--claims", "K1,C1", "--json")
    one_hop, capacity = result.json
    assert 0 < one_hop["minutes"] < capacity["minutes"]
    assert capacity["how"] == "estimated"
    assert capacity["sizes"].startswith("N = 256, 1,024, 4,096; R = 2, 4, 8, 16; ")


def test_a_real_claim_is_settled(cli, monkeypatch):
    set_claims(monkeypatch, *CLAIMS)
    monkeypatch.setattr(one_hop, "SUBJECTS", {"quick": (8,)})
    monkeypatch.setattr(one_hop, "RELATIONS", (2,))
    (outcome,) = cli("reproduce", "--claims", "k1", "--json").json
    assert (outcome["id"], outcome["verdict"]) == ("K1", "holds")
    assert "worlds 1; facts 16; " in outcome["measured"]
    assert [quantity["name"] for quantity in outcome["findings"][0]["quantities"]][:2] == ["worlds", "facts"]


def test_a_folder_without_cells_is_no_report_to_plot(cli):
    result = cli("reproduce", "--plot-only", "-o", "nowhere")
    assert result.code == 2
    assert result.err == "error: nowhere: expected the folder of a report, found no cells in it\n"
