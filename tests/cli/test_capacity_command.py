"""`georecall capacity`: thresholds and laws are shown, a second run measures nothing, refusals come before any work."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch

from georecall.cli.capacity import _show_laws
from georecall.scaling import laws as scaling
from georecall.training.recall_cell import Parameters, RecallCell, RecallResult

GRID = (
    "capacity",
    "--subjects",
    "8,16",
    "--relations",
    "2,4",
    "--freeze",
    "none,subjects",
    "--most-dim",
    "30",
)
QUICK = (*GRID, "--seeds", "2", "--engine", "serial")
ONE = ("capacity", "--subjects", "4", "--relations", "1", "--freeze", "none", "--engine", "serial")


@pytest.fixture
def measured(monkeypatch):
    """Training replaced by a law: d* = R·log2 N / 2 for the first seed, one more for the second; twice if frozen."""
    dims = []

    def measure(cell, progress):  # noqa: ARG001
        dims.append(cell.training.dim)
        turn = (
            cell.n_relations
            * (cell.n_subjects.bit_length() - 1)
            // (2 if cell.training.freeze == "none" else 1)
        )
        return RecallResult(
            recall=[float(cell.training.dim >= turn + seed) for seed in range(cell.training.seeds)],
            steps=10,
            questions=16,
            parameters=Parameters(trained=100 * cell.training.dim, frozen=0),
        )

    monkeypatch.setattr(RecallCell, "measure", measure)
    monkeypatch.setattr(scaling, "RESAMPLES", 10)
    return dims


def names(folder):
    return {path.name for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith(".")}


@pytest.mark.usefixtures("measured")
def test_thresholds_and_laws_are_shown_and_figure_and_table_are_in_the_folder(cli):
    result = cli(*QUICK, "-o", "sweep")
    assert result.code == 0
    assert result.err.endswith("note: figure and table of all runs are in sweep\n")
    assert "2 bits a parameter" in result.err
    header, first, second, *_ = result.out.splitlines()
    assert header.split()[:4] == ["N", "R", "frozen", "d*"]
    assert first.split()[:6] == ["8", "2", "none", "3", "3,", "4"]
    assert second.split()[:6] == ["8", "2", "subjects", "6", "6,", "7"]
    assert result.out.index("Laws for d*, frozen: none") < result.out.index("Laws for d*, frozen: subjects")
    assert "c = " in result.out
    assert names("sweep") == {"sweep.json", "capacity.html", "capacity.parquet"}
    assert "vegaEmbed" in Path("sweep/capacity.html").read_text(encoding="utf-8")
    table = pl.read_parquet("sweep/capacity.parquet")
    assert set(table.select("n_subjects", "n_relations", "freeze").rows()) == {
        (n, r, what) for n in (8, 16) for r in (2, 4) for what in ("none", "subjects")
    }


def test_a_second_run_measures_nothing_and_shows_the_same(cli, measured):
    first = cli(*QUICK, "-o", "sweep")
    count = len(measured)
    assert cli(*QUICK, "-o", "sweep") == first
    assert len(measured) == count
    cli(*QUICK, "--subjects", "8,16,32", "-o", "sweep")
    assert len(measured) > count


@pytest.mark.usefixtures("measured")
def test_as_json_it_prints_worlds_and_laws(cli):
    found = cli(*QUICK, "-o", "sweep", "--json").json
    assert found["folder"] == "sweep"
    assert [world["least"] for world in found["worlds"] if world["freeze"] == "none"] == [
        [3, 4],
        [6, 7],
        [4, 5],
        [8, 9],
    ]
    assert list(found["laws"]) == ["none", "subjects"]
    assert {"law", "coefficients", "intervals", "held_out_error"} < found["laws"]["none"][0].keys()


@pytest.mark.usefixtures("measured")
def test_a_world_above_the_largest_dimension_is_shown_as_more(cli):
    world = ("--subjects", "64", "--relations", "4", "--seeds", "2", "--most-dim", "12")
    row = cli(*ONE, *world, "-o", "sweep").out.splitlines()[1]
    assert row.split()[:6] == ["64", "4", "none", "12", "12,", ">"]


def test_a_tiny_world_is_really_measured(cli):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    budget = ("--seeds", "1", "--passes", "10", "--least-steps", "60", "--most-dim", "6")
    result = cli(*ONE, *budget, "-o", "sweep", "--json")
    torch.set_num_threads(threads)
    (world,) = result.json["worlds"]
    assert result.code == 0
    assert world["questions"] == 4
    assert len(list(Path("sweep").glob("RecallCell-*/result.json"))) == len(world["tried"])
    assert result.json["laws"] == {"none": []}


def test_a_world_that_fails_gives_exit_code_3_and_a_note_and_the_others_are_shown(cli, monkeypatch, measured):
    sound = RecallCell.measure

    def faulty(cell, progress):
        if cell.n_subjects == 16:
            raise RuntimeError("no luck")
        return sound(cell, progress)

    monkeypatch.setattr(RecallCell, "measure", faulty)
    grid = (*QUICK, "--relations", "2", "--freeze", "none", "-o", "sweep")
    result = cli(*grid)
    assert result.code == 3
    assert "note: 1 worlds failed; see `georecall sweep status sweep`\n" in result.err
    assert [line.split()[:2] for line in result.out.splitlines()[1:]] == [["8", "2"]]
    status = cli("sweep", "status", "sweep", "--json").json
    assert (status["planned"], status["done"]) == (2, 1)
    assert "no luck" in json.dumps(status["failed"])
    monkeypatch.setattr(RecallCell, "measure", sound)
    assert cli(*grid).code == 3
    assert cli(*grid, "--retry-failed").code == 0
    assert measured


def test_learning_rates_that_all_diverge_are_a_failure(cli):
    result = cli(*ONE, "--learning-rate", "1e15", "--passes", "1", "--least-steps", "40", "-o", "sweep")
    assert (result.code, result.out) == (3, "")
    assert "every member has diverged" in cli("sweep", "status", "sweep", "--json").out


REFUSED = {
    "a list of nothing": (("--subjects", ""), "subjects: expected a list such as 64,128, got ''"),
    "no relation": (("--relations", "0"), "n_relations: ", "got 0"),
    "no dimension": (("--most-dim", "0"), "most_dim: ", "got 0"),
    "a target above 1": (("--target", "1.5"), "target: ", "got 1.5"),
    "an unknown mode": (("--mode", "both"), "mode: ", "'both'"),
    "learning rate NaN": (("--learning-rate", "nan"), "learning_rates.0: ", "got nan"),
    "an unknown device": (("--device", "abacus"), "device that this machine has, got 'abacus'"),
    "too large a world": (("--subjects", "1000000000"), "at most 100,000,000"),
    "an unknown engine": (("--engine", "dask"), "'dask'"),
}


@pytest.mark.parametrize(("options", "says"), [(o, says) for o, *says in REFUSED.values()], ids=REFUSED)
def test_what_cannot_be_measured_is_one_error_and_nothing_is_written(cli, tmp_path, options, says):
    result = cli(*ONE, "-o", "sweep", *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert len(result.err.splitlines()) == 1
    assert all(part in result.err for part in says)
    assert list(tmp_path.iterdir()) == []


def test_all_problems_are_said_at_once(cli, tmp_path):
    wrong = ("--subjects", "x", "--target", "2", "--width", "d", "--freeze", "all", "--device", "abacus")
    first, *lines = cli(*ONE, *wrong, "-o", "sweep").err.splitlines()
    assert first == "error: wrong settings"
    assert sorted(line.split(":")[0] for line in lines) == [
        "  expected a device that this machine has, got 'abacus'",
        "  freeze",
        "  subjects",
        "  target",
        "  width",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_for_a_sweep(cli):
    Path("file").write_text("mine")
    result = cli(*ONE, "-o", "file")
    assert (result.code, result.err) == (2, "error: file: expected a folder to write, found a file\n")
    assert Path("file").read_text() == "mine"


def test_no_laws_are_shown_where_there_are_none(capsys):
    _show_laws("none", ())
    assert capsys.readouterr().out == ""


def test_a_folder_that_holds_other_work_is_no_folder_for_a_sweep(cli):
    Path("run").mkdir()
    Path("run/config.json").write_text("{}")
    result = cli(*QUICK, "-o", "run")
    assert (result.code, result.out) == (2, "")
    assert "run: expected a new folder or a sweep, found other work: no sweep.json" in result.err
