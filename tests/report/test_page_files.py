"""A report is one page, one table and figures beside it; two of them can be compared."""

import json
import shutil

import polars as pl
import pytest

from georecall.claims.judgement import Finding, Judgement
from georecall.errors import FolderError
from georecall.report.comparing import compare_reports
from georecall.report.results_table import numbers_of, quantities_table, results_table
from georecall.report.writing import write_report
from georecall.statistics.quantities import Quantity
from reports import NAMES, capacity, one_hop, outcome, planted_report, unmeasured


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report([one_hop(), unmeasured()], folder)
    return folder


def test_a_report_has_outcomes_table_figures_and_page(folder):
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {
        "results.json",
        "results.parquet",
        "quantities.parquet",
        "index.html",
        "figures/K1.png",
        "figures/K1.svg",
    }


def test_outcomes_say_how_many_cells_stand_how_and_who_measured_them(folder):
    first, second = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert (first["id"], first["cells"]["measured"], first["versions"]) == ("K1", 4, ["0.0.7"])
    assert second["cells"] == {"measured": 1, "failed": 1, "missing": 1}


def test_a_figure_of_results_that_are_gone_is_taken_away(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "C8.png").touch()
    write_report([unmeasured()], tmp_path)
    assert not (tmp_path / "figures" / "C8.png").exists()


def test_the_table_has_a_row_for_each_cell_and_its_numbers_in_long_form(folder):
    table = pl.read_parquet(folder / "results.parquet")
    assert table.group_by("claim", "state").len().sort("claim", "state").rows() == [
        ("C8", "failed", 1),
        ("C8", "measured", 1),
        ("C8", "missing", 1),
        ("K1", "measured", 4),
    ]
    long = table.filter(pl.col("claim") == "K1").explode("numbers").unnest("numbers")
    dims = long.filter(pl.col("name") == "dim").select("n_subjects", "n_relations", "value")
    assert dims.rows() == [(64, 2, 14.0), (64, 4, 28.0), (256, 2, 14.0), (256, 4, 28.0)]
    assert not long["name"].str.contains("seconds|environment|n_subjects").any()


def test_every_quantity_is_a_row_with_its_words_and_every_control_another():
    control = Quantity(name="shuffled", value=0.0)
    quantities = (
        Quantity(name="R²", value=0.5, interval=(0.25, 0.75), controls=(control,)),
        Quantity(name="d*", value=(3, None)),
    )
    finding = Finding(world="N = 8", met=True, quantities=quantities)
    judgement = Judgement(verdict="holds", key="", findings=(finding,))
    table = quantities_table([outcome("C3", "holds", judgement=judgement)])
    columns = table.select("world", "met", "quantity", "control", "values", "low", "words")
    assert columns.rows() == [
        ("N = 8", True, "R²", None, [0.5], 0.25, "0.500 (0.250 … 0.750)"),
        ("N = 8", True, "R²", "shuffled", [0.0], None, "0.000"),
        ("N = 8", True, "d*", None, [3.0, None], None, "3, none"),
    ]
    assert quantities_table([]).schema == table.schema


def test_the_table_keeps_config_environment_and_failure():
    table = results_table([one_hop(), unmeasured()])
    assert json.loads(table["config"][0])["n_subjects"] == 64
    assert (table["torch"][0], table["torch"][4]) == ("2.6.0", None)
    assert table["failure"][5].startswith("RuntimeError: <img")


def test_a_table_of_nothing_has_the_same_columns():
    assert results_table([]).schema == results_table([capacity()]).schema


def test_numbers_are_named_by_their_places():
    found = dict(numbers_of({"a": [1, {"b": 2.5}], "c": "word", "d": None, "e": True}))
    assert found == {"a.0": 1, "a.1.b": 2.5, "e": True}


def _cell(folder, name, result):
    place = folder / "cells" / name
    place.mkdir(parents=True)
    (place / "result.json").write_text(json.dumps(result), encoding="utf-8")


@pytest.fixture
def pair(tmp_path, folder):
    """Two reports; in the second one number differs, one cell is missing, one is new, and K1 fails."""
    first, second = tmp_path / "first", tmp_path / "second"
    for place in (first, second):
        place.mkdir()
        shutil.copy(folder / "results.json", place)
        _cell(place, "A-1", {"x": 1, "seconds": len(place.name), "environment": {"georecall": place.name}})
    _cell(first, "B-1", {"x": [0.1, 2], "word": NAMES, "seconds": 1})
    _cell(second, "B-1", {"x": [0.1 + 1e-17, 2], "word": NAMES, "seconds": 1})
    _cell(first, "C-1", {"seconds": 1})
    _cell(second, "D-1", {"seconds": 1})
    outcomes = json.loads((second / "results.json").read_text(encoding="utf-8"))
    outcomes[0] |= {"verdict": "fails", "seconds": 99}
    (second / "results.json").write_text(json.dumps(outcomes[:1]), encoding="utf-8")
    return first, second


def test_claims_stand_side_by_side(pair):
    one_hop, missing = compare_reports(*pair).claims
    assert (one_hop.id, one_hop.changed) == ("K1", ("verdict",))
    assert (missing.id, missing.second) == ("C8", None)


def test_cells_are_equal_whatever_measured_them_and_differ_by_the_smallest_number(pair):
    found = compare_reports(*pair)
    assert found.equal == ("A-1",)
    (difference,) = found.differing
    assert (difference.cell, difference.numbers) == ("B-1", {"x.0": (0.1, 0.1 + 1e-17)})
    assert (found.only_first, found.only_second) == (("C-1",), ("D-1",))


def test_versions_of_both_are_told(pair):
    assert compare_reports(*pair).versions == (("first", "not recorded"), ("not recorded", "second"))


def test_a_report_equals_itself(pair):
    found = compare_reports(pair[0], pair[0])
    assert all(not claim.changed for claim in found.claims)
    assert (found.differing, found.only_first, found.only_second) == ((), (), ())


@pytest.mark.parametrize("text", [None, "[{", "[1]", '[{"id": "K1"}]', "3"])
def test_a_folder_that_is_no_report_is_refused(pair, text):
    if text is None:
        (pair[1] / "results.json").unlink()
    else:
        (pair[1] / "results.json").write_text(text)
    with pytest.raises(FolderError, match=r"second.*results\.json"):
        compare_reports(*pair)


def test_a_damaged_cell_is_refused(pair):
    (pair[1] / "cells" / "A-1" / "result.json").write_text("{")
    with pytest.raises(FolderError, match="A-1"):
        compare_reports(*pair)


def test_a_page_is_written_for_every_verdict(tmp_path):
    write_report(planted_report(), tmp_path)
    assert (tmp_path / "index.html").stat().st_size > 500_000
