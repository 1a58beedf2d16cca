"""`georecall reproduce`: verdicts from results on disk, finished cells taken over, exit code 3 for a failure."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from georecall.claims import CLAIMS, claim, one_hop, registry
from georecall.claims.claim import Claim, Judgement
from georecall.cli import reproduce
from georecall.progress import Progress
from georecall.report import claim_figures
from georecall.sweeps import Cell, ProcessEngine, SerialEngine, run_sweep


class SquareCell(Cell):
    """A cell that is measured in no time, and counts how often."""

    side: int
    measured: ClassVar[list[int]] = []

    def measure(self, progress: Progress) -> dict[str, Any]:  # noqa: ARG002
        self.measured.append(self.side)
        return {"area": self.side**2}


class Faulty(SquareCell):
    """Fails while the file `fault` exists."""

    def measure(self, progress: Progress) -> dict[str, Any]:
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
        judge=lambda results: Judgement(
            verdict=verdict, measured=f"{sum(r['area'] for r in results)} in all"
        ),
    )


@pytest.fixture(autouse=True)
def squares(monkeypatch):
    """Three claims that take no time instead of the real ones, in this process, and figures only noted down."""
    SquareCell.measured.clear()
    claims = (_claim("S1", "holds"), _claim("S2", "fails"), _claim("S3", "undecided"))
    drawn: list[tuple[str, Path]] = []
    monkeypatch.setattr(registry, "CLAIMS", claims)
    monkeypatch.setattr(reproduce, "DEFAULT_ENGINE", "serial")
    monkeypatch.setattr(
        claim_figures, "write_claim_figures", lambda outcomes, to: drawn.extend((o.id, to) for o in outcomes)
    )
    return drawn


def test_outcomes_are_shown_as_a_table(cli):
    result = cli("reproduce", "--claims", "S1")
    assert (result.code, result.err) == (0, "note: results and figures are in report\n")
    header, row = result.out.splitlines()
    assert header.split() == ["claim", "verdict", "measured", "criterion", "seconds"]
    assert row.split()[:5] == ["S1", "holds", "5", "in", "all"]


def test_outcomes_as_json_carry_what_settled_them(cli):
    result = cli("reproduce", "--claims", "S1,s3", "--json")
    assert result.code == 0
    assert [outcome.pop("seconds") >= 0 for outcome in result.json] == [True, True]
    first, second = json.loads(result.out)
    assert {key: first[key] for key in ("id", "verdict", "measured", "criterion", "preset")} == {
        "id": "S1",
        "verdict": "holds",
        "measured": "5 in all",
        "criterion": "area = side²",
        "preset": "quick",
    }
    assert (second["id"], second["verdict"]) == ("S3", "undecided")


def test_results_and_figures_are_files_in_the_folder_asked_for(cli, squares):
    result = cli("reproduce", "--claims", "S1", "--json", "-o", "results")
    assert json.loads(Path("results/results.json").read_text(encoding="utf-8")) == result.json
    assert squares == [("S1", Path("results/figures"))]
    assert len(list(Path("results/cells").glob("*/result.json"))) == 2
    assert not Path("report").exists()


def test_finished_cells_are_taken_over_and_larger_presets_add_theirs(cli):
    first = cli("reproduce", "--claims", "S1", "--json").json
    assert SquareCell.measured == [1, 2]
    assert cli("reproduce", "--claims", "S1", "--json").json == first
    assert SquareCell.measured == [1, 2]
    cli("reproduce", "--claims", "S1", "--preset", "standard")
    assert SquareCell.measured == [1, 2, 3, 4]


def test_a_claim_that_fails_is_reported_and_gives_exit_code_3(cli):
    result = cli("reproduce", "--json")
    assert result.code == 3
    assert [outcome["verdict"] for outcome in result.json] == ["holds", "fails", "undecided"]
    assert cli("reproduce", "--claims", "S1,S3").code == 0


def test_other_claims_keep_their_outcomes_in_the_order_of_the_claims(cli):
    saved = Path("report/results.json")
    cli("reproduce", "--claims", "S3")
    shown = cli("reproduce", "--claims", "S2,S1", "--json").json
    assert [outcome["id"] for outcome in shown] == ["S2", "S1"]
    assert [outcome["id"] for outcome in json.loads(saved.read_text())] == ["S1", "S2", "S3"]
    cli("reproduce", "--claims", "S2", "--preset", "standard")
    assert [(o["id"], o["preset"]) for o in json.loads(saved.read_text())] == [("S2", "standard")]


@pytest.mark.parametrize("text", ["[{", "[1]", '[{"id": "S1"}]', "3"])
def test_damaged_results_are_refused_before_anything_is_measured(cli, text):
    Path("report").mkdir()
    Path("report/results.json").write_text(text)
    result = cli("reproduce", "--claims", "S1")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: report/results.json: is not a list of outcomes; delete it")
    assert SquareCell.measured == []


def test_a_claim_with_failed_cells_is_undecided_and_says_where_until_they_are_tried_again(
    cli, monkeypatch, squares
):
    def judge(_results: object) -> Judgement:
        pytest.fail("judged without all results")

    faulty = _claim("S1", "holds", Faulty)
    monkeypatch.setattr(registry, "CLAIMS", (replace(faulty, judge=judge),))
    Path("fault").touch()
    result = cli("reproduce", "--json")
    (outcome,) = result.json
    assert (result.code, outcome["verdict"]) == (0, "undecided")
    folders = [f"report/cells/{Faulty(side=side).folder_name}" for side in (1, 2)]
    assert outcome["measured"] == (
        f"2 of 2 cells failed, the first with RuntimeError: out of squares; see {folders[0]}, {folders[1]}"
    )
    assert squares == []
    Path("fault").unlink()
    assert cli("reproduce", "--json").json == [outcome]
    monkeypatch.setattr(registry, "CLAIMS", (faulty,))
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


def test_the_list_measures_nothing(cli):
    result = cli("reproduce", "--list", "--json")
    assert [claim["id"] for claim in result.json] == ["S1", "S2", "S3"]
    assert all(claim.keys() == {"id", "statement", "criterion", "source"} for claim in result.json)
    assert "Squares are undecided." in cli("reproduce", "--list").out
    assert SquareCell.measured == []
    assert list(Path().iterdir()) == []


def test_a_real_claim_is_settled(cli, monkeypatch):
    monkeypatch.setattr(registry, "CLAIMS", CLAIMS)
    monkeypatch.setattr(one_hop, "SUBJECTS", {"quick": (8,)})
    monkeypatch.setattr(one_hop, "RELATIONS", (2,))
    (outcome,) = cli("reproduce", "--claims", "k1", "--json").json
    assert (outcome["id"], outcome["verdict"]) == ("K1", "holds")
    assert "16 facts in 1 worlds" in outcome["measured"]
