"""Claims are measured together, and every one is judged from the cells that are on disk now."""

import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest

import georecall.claims
from georecall.claims import CLAIMS, find_claims, registry, reproduce, select, settled_outcomes
from georecall.claims.claim import PRESETS, Claim
from georecall.claims.judgement import Judgement
from georecall.claims.status import NOT_RECORDED
from georecall.errors import FolderError, GeorecallError
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.sweeps import Cell


class Volume(Record):
    """Of a cube."""

    volume: int


class CubeCell(Cell[Volume]):
    """A cell that is measured in no time, fails for side 0, and counts how often."""

    side: int
    measured: ClassVar[list[int]] = []

    def measure(self, progress: Progress) -> Volume:  # noqa: ARG002
        self.measured.append(self.side)
        return Volume(volume=1 // self.side * self.side**3)


def a_claim(name: str, *sides: int, **fields: Any) -> Claim:
    return Claim(
        **{
            "id": name,
            "statement": "Cubes are cubes.",
            "source": "ours",
            "criterion": "volume = side³",
            "cells": lambda _preset: [CubeCell(side=side) for side in sides],
            "judge": lambda results: Judgement.saying(
                "holds" if sum(one.result.volume for one in results) < 30 else "fails",
                f"{len(results)} cubes",
            ),
        }
        | fields
    )


@pytest.fixture(autouse=True)
def _nothing_measured() -> None:
    CubeCell.measured.clear()


@pytest.fixture
def settle(monkeypatch, tmp_path):
    """Runs some claims of all, and gives how all stand by their ids."""

    def run(claims, *, chosen=None, progress=no_progress, **options):
        monkeypatch.setattr(registry, "CLAIMS", tuple(claims))
        outcomes = reproduce(claims if chosen is None else chosen, "quick", tmp_path, progress, **options)
        return {outcome.id: outcome for outcome in outcomes}

    return run


def verdicts(found) -> dict[str, str]:
    return {name: outcome.verdict for name, outcome in found.items()}


def test_every_claim_stands_in_what_a_run_of_one_returns(settle):
    one, other = a_claim("S1", 1), a_claim("S2", 2, 3)
    found = settle([one, other], chosen=[one])
    assert verdicts(found) == {"S1": "holds", "S2": "not measured"}
    assert found["S2"].measured == "0 of 2 cells are measured"
    assert CubeCell.measured == [1]


def test_a_claim_with_some_of_its_cells_is_not_measured(settle):
    one, other = a_claim("S1", 1), a_claim("S2", 1, 2)
    found = settle([one, other], chosen=[one])
    assert (found["S2"].verdict, found["S2"].measured) == ("not measured", "1 of 2 cells are measured")
    assert found["S2"].results == ()
    assert [found["S2"].count(state) for state in ("measured", "failed", "missing")] == [1, 0, 1]


def test_a_failure_is_told_whether_cells_are_missing_or_not(settle):
    half, whole = a_claim("S1", 0, 5), a_claim("S2", 0)
    found = settle([half, whole], chosen=[whole])
    assert verdicts(found) == {"S1": "not measured", "S2": "undecided"}
    assert found["S1"].measured.startswith(
        "0 of 2 cells are measured, 1 failed, the first with ZeroDivisionError"
    )
    assert "1 of 1 cells failed, the first with ZeroDivisionError" in found["S2"].measured


def test_what_is_lacking_is_the_reason_to_skip_and_nothing_is_tried(settle):
    claim = a_claim("S1", 1, missing=lambda: "the package is not installed")
    found = settle([claim, a_claim("S2", 2)])
    assert verdicts(found) == {"S1": "skipped", "S2": "holds"}
    assert found["S1"].measured == "the package is not installed"
    assert CubeCell.measured == [2]


def test_a_claim_that_was_measured_elsewhere_is_judged_where_something_is_lacking(settle):
    claim = a_claim("S1", 1)
    settle([claim])
    found = settle([replace(claim, missing=lambda: "the package is not installed")])
    assert verdicts(found) == {"S1": "holds"}


def test_results_of_an_old_revision_are_not_taken_for_new(settle, monkeypatch, tmp_path):
    settle([a_claim("S1", 1)])
    monkeypatch.setattr(CubeCell, "revision", 2)
    (outcome,) = settled_outcomes("quick", tmp_path)
    assert outcome.verdict == "not measured"


def test_the_version_that_measured_a_cell_is_known(settle, tmp_path):
    (outcome,) = settle([a_claim("S1", 1, 2)]).values()
    (version,) = outcome.versions
    assert outcome.cells[0].environment.keys() >= {"georecall", "torch", "numpy", "python", "machine", "date"}
    path = tmp_path / "cells" / CubeCell(side=1).folder_name / "result.json"
    result = json.loads(path.read_text())
    del result["environment"]
    path.write_text(json.dumps(result))
    assert settled_outcomes("quick", tmp_path)[0].versions == (version, NOT_RECORDED)


def test_a_verdict_changes_with_the_results_on_disk(settle, tmp_path):
    assert verdicts(settle([a_claim("S1", 1)])) == {"S1": "holds"}
    path = tmp_path / "cells" / CubeCell(side=1).folder_name / "result.json"
    path.write_text(json.dumps({"volume": 100, "seconds": 1.0}))
    assert settled_outcomes("quick", tmp_path)[0].verdict == "fails"


def test_a_damaged_cell_is_refused(settle, tmp_path):
    settle([a_claim("S1", 1)])
    (tmp_path / "cells" / CubeCell(side=1).folder_name / "result.json").write_text("{")
    with pytest.raises(FolderError, match=r"result\.json: is not JSON"):
        settled_outcomes("quick", tmp_path)


def test_outcomes_of_nothing_measure_and_write_nothing(tmp_path):
    found = settled_outcomes("quick", tmp_path)
    assert {outcome.verdict for outcome in found} <= {"not measured", "skipped"}
    assert [outcome.id for outcome in found] == [claim.id for claim in CLAIMS]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_preset_is_refused(tmp_path):
    with pytest.raises(GeorecallError, match="expected a preset among quick, standard, paper, got 'huge'"):
        settled_outcomes("huge", tmp_path)


@pytest.mark.parametrize("preset", PRESETS)
def test_no_claim_names_a_cell_twice(preset):
    for claim in CLAIMS:
        keys = [cell.key for cell in claim.cells(preset)]
        assert len(keys) == len(set(keys)) > 0, claim.id


def test_claims_are_selected_in_the_order_given_and_once():
    assert [claim.id for claim in select("c3, K1,c3")] == ["C3", "K1"]
    with pytest.raises(GeorecallError, match="got 'X9'"):
        select("K1,X9")


def test_finished_cells_are_kept_when_a_claim_gets_more(settle):
    settle([a_claim("S1", 1, 2)])
    settle([a_claim("S1", 1, 2, 3)])
    assert CubeCell.measured == [1, 2, 3]


def test_a_file_in_the_package_is_all_that_a_claim_takes(tmp_path, monkeypatch):
    (tmp_path / "cubes_of_a_test.py").write_text(
        "from dataclasses import replace\n\nfrom georecall.claims.one_hop import K1\n\n"
        "K12 = replace(K1, id='K12')\nX1 = replace(K1, id='X1')\n"
    )
    monkeypatch.setattr("georecall.claims.__path__", [*georecall.claims.__path__, str(tmp_path)])
    ids = [claim.id for claim in find_claims()]
    assert ids == [*(claim.id for claim in CLAIMS[:5]), "K12", *(claim.id for claim in CLAIMS[5:]), "X1"]
    (tmp_path / "again_cubes_of_a_test.py").write_text(
        "from georecall.claims.one_hop import K1 as ONE\n\n"
        "from dataclasses import replace\n\nK1 = replace(ONE)\n"
    )
    with pytest.raises(GeorecallError, match="got two of K1"):
        find_claims()


def test_what_is_told_of_an_outcome_is_read_back(settle):
    (outcome,) = settle([a_claim("S1", 1)]).values()
    assert Judgement.read(outcome.judgement.to_dict()) == outcome.judgement
