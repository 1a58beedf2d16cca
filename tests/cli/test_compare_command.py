"""`georecall compare`: two reports side by side."""

import json
import shutil
from pathlib import Path

import pytest

from georecall.cli import reproduce


@pytest.fixture
def reports(cli, monkeypatch):
    """Two reports of K5; in the second one cell differs, one is missing, and K5 fails by it."""
    monkeypatch.setattr(reproduce, "DEFAULT_ENGINE", "serial")
    cli("reproduce", "--claims", "K5", "-o", "one")
    shutil.copytree("one", "two")
    wrong, gone, *_ = sorted(Path("two/cells").glob("BoundCell-*"))
    result = json.loads((wrong / "result.json").read_text())
    result["one_hop"][0] = 1
    (wrong / "result.json").write_text(json.dumps(result))
    cli("reproduce", "--plot-only", "-o", "two")
    shutil.rmtree(gone)
    return wrong.name


def test_verdicts_and_cells_are_compared(cli, reports):
    result = cli("compare", "one", "two")
    assert (result.code, result.err) == (0, "")
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0][:5] == ["claim", "verdict", "in", "one", "verdict"]
    assert ["K5", "holds", "fails"] in [line[:3] for line in lines]
    assert ["differing", "cells", "1"] in lines
    assert ["equal", "cells", "58"] in lines
    assert ["only", "in", "one", "1"] in lines
    assert [reports, "one_hop.0"] in [line[:2] for line in lines]


def test_the_comparison_as_json_has_every_number_that_differs(cli, reports):
    found = cli("compare", "one", "two", "--json").json
    (differing,) = found["differing"]
    assert (differing["cell"], list(differing["numbers"])) == (reports, ["one_hop.0"])
    assert differing["numbers"]["one_hop.0"][1] == 1
    (changed,) = [claim for claim in found["claims"] if claim["changed"]]
    assert (changed["id"], changed["changed"]) == ("K5", ["verdict", "measured"])


def test_a_folder_that_is_no_report_is_refused(cli, reports):
    Path("empty").mkdir()
    result = cli("compare", "one", "empty")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: empty: expected the folder of a report, with its results.json")
    assert reports


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "is not JSON"),
        ("{}", "expected a JSON array"),
        ('[{"id": "K5"}]', "0.verdict: is missing"),
        ('[{"id": ["K5"], "verdict": "holds"}]', "0.id: expected a valid string"),
        ("TWICE", "expected every claim once, got"),
    ],
)
def test_a_report_with_damaged_outcomes_is_refused_in_one_line(cli, reports, text, says):
    path = Path("two/results.json")
    outcome = json.loads(path.read_text(encoding="utf-8"))[-1]
    path.write_text(json.dumps([outcome] * 2) if text == "TWICE" else text, encoding="utf-8")
    result = cli("compare", "one", "two")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"error: {path}: ")
    assert says in result.err
    assert reports


@pytest.mark.parametrize(
    "changes", [{"environment": [1]}, {"environment": {"georecall": 3}}, {"seconds": "long"}]
)
def test_a_cell_with_damaged_fields_is_refused_in_one_line(cli, reports, changes):
    path = Path("one/cells") / reports / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    result = cli("compare", "one", "two")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"{path}: {next(iter(changes))}" in result.err
