"""`georecall transfer`: new worlds and new subjects for a finished run; what cannot be done is refused at once."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from georecall.facts.worlds import random_bijections, random_functions
from georecall.training.config import TrainConfig
from georecall.training.runs import continue_run, load_run, start_run

SHORT = TrainConfig(dim=4, width=4, steps=2)
NEW = "name,r1,r0\nnew1,x1,x2\nnew2,x3,elsewhere\nnew3,,x4\n"


def finished(folder, table, config):
    start_run(folder, table, config)
    continue_run(folder)
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run, made once."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    config = TrainConfig(dim=8, width=32, attribute_dim=5, steps=150, batch=32, margin=None, check_every=150)
    return finished(folder, random_bijections(16, 2, rng=np.random.default_rng(0)), config)


@pytest.fixture
def run(cli, trained, tmp_path):
    """Commands in a place with that run in the folder `run`, and a table `new.csv`."""
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "new.csv").write_text(NEW)
    return cli


def pairs(text):
    lines = (line.split("  ", 1) for line in text.splitlines() if "  " in line)
    return {name: value.strip() for name, value in lines}


def test_new_worlds_are_summed_up_with_controls_and_a_row_for_each_member(run):
    result = run("transfer", "run", "--worlds", "2")
    assert (result.code, result.err) == (0, "")
    shown = pairs(result.out)
    assert shown["wrote"] == "run/transfer-ridge-worlds-2-seed-0.json"
    assert shown["new facts"].endswith(") in 2 new worlds, by ridge")
    assert "…" in shown["interference"]
    assert shown["chance"] == "6.250%"
    assert shown["ranks of selectors"].count(",") == 1
    assert {"old facts", "random embeddings", "permuted embeddings"} <= shown.keys()
    header, *rows = result.out.splitlines()[8:]
    assert header.split() == [
        "learning",
        "rate",
        "seed",
        "old",
        "facts",
        "new",
        "facts",
        "random",
        "permuted",
    ]
    assert [row.split()[:2] for row in rows] == [["0.01", "0"], ["0.01", "1"], ["0.01", "2"]]


def test_new_subjects_may_come_without_a_header_or_behind_an_index(run):
    Path("t.tsv").write_text("new1\tr1\tx1\nnew1\tr0\tx2\nnew2\tr1\tx3\n")
    Path("i.csv").write_text(",name,r1,r0\n0,new1,x1,x2\n1,new2,x3,\n")
    for options in (("t.tsv", "--no-header"), ("i.csv", "--subject", "name")):
        assert "--subject" in run("transfer", "run", "--insert", options[0]).err
        found = run("transfer", "run", "--insert", *options, "--json").json
        assert (found["facts"], found["subjects"]) == (3, 2)


def test_how_a_table_is_read_is_refused_without_one(run):
    for option in (("--no-header",), ("--subject", "name")):
        result = run("transfer", "run", *option)
        assert (result.code, "need --insert" in result.err) == (2, True)


def test_as_json_it_prints_what_it_wrote(run):
    found = run("transfer", "run", "--method", "selector", "--seed", "3", "-o", "there", "--json").json
    file = found.pop("file")
    assert file == "there/transfer-selector-worlds-5-seed-3.json"
    assert found == json.loads(Path(file).read_text())
    assert (found["method"], found["worlds"], found["chance"]) == ("selector", 5, 1 / 16)
    assert list(Path("run").glob("transfer-*")) == []


def test_new_subjects_are_inserted_from_a_table(run):
    result = run("transfer", "run", "--insert", "new.csv")
    assert (result.code, result.err) == (0, "note: blank objects, read as unknown: 1\n")
    shown = pairs(result.out)
    assert shown["wrote"] == "run/insertion-ridge-seed-0.json"
    assert " of 4 about 3 subjects, by ridge" in shown["new facts"]
    assert shown["left out"].startswith("1 facts")
    assert shown["commonest answer"].endswith("%")
    found = run("transfer", "run", "--insert", "new.csv", "--json").json
    assert (found["subjects"], found["facts"], found["left_out"]) == (3, 4, 1)


def test_another_seed_is_other_worlds(run):
    found = [run("transfer", "run", "--worlds", "1", "--seed", seed, "--json").json for seed in "001"]
    assert found[0] == found[1]
    assert found[0]["random"] != found[2]["random"]


def test_results_of_other_settings_lie_side_by_side_and_say_what_they_are_of(run):
    digest = load_run(Path("run")).digest
    for seed, worlds, method in ((0, 1, "ridge"), (5, 1, "ridge"), (0, 2, "ridge"), (0, 1, "selector")):
        settings = {"run": digest, "method": method, "seed": seed, "worlds": worlds}
        options = ("--seed", seed, "--worlds", worlds, "--method", method)
        assert run("transfer", "run", *map(str, options), "--json").json["settings"] == settings
    assert len(list(Path("run").glob("transfer-*.json"))) == 4


def test_a_result_of_another_run_or_table_is_replaced_only_when_asked(run, tmp_path):
    finished(Path("other"), random_bijections(16, 2, rng=np.random.default_rng(1)), SHORT)
    new = ("transfer", "run", "--insert", "new.csv")
    for command in (("transfer", "run", "--worlds", "1", "-o", "there"), new):
        assert run(*command).code == 0
    (tmp_path / "new.csv").write_text(NEW.replace("new1", "new4"))
    for command in (("transfer", "other", "--worlds", "1", "-o", "there"), new):
        refused = run(*command)
        assert (refused.code, refused.out) == (2, "")
        assert "was measured with other settings: " in refused.err
        assert "--force" in refused.err
        assert run(*command, "--force").code == 0
        assert run(*command).code == 0


def test_all_problems_are_said_at_once_and_nothing_is_written(cli, tmp_path):
    (tmp_path / "file").touch()
    wrong = ("--method", "lasso", "--worlds", "0", "--insert", "none.csv", "-o", "file")
    result = cli("transfer", "none", *wrong)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "error: wrong settings",
        "  expected a method among ridge, selector, got 'lasso'",
        "  worlds must be 1 or more, got 0",
        "  none/result.json: missing; was this folder written by `georecall train`?",
        "  none.csv: no such file",
        "  file: expected a folder to write, found a file",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("name,r0,father,son\nnew,x1,x2,x3\n", "expected relations among 'r0', 'r1', got 'father', 'son'"),
        ("name,r0\nx3,x1\nx5,x1\nnew,x1\n", "expected new subjects, got 2 that the model has: 'x3', 'x5'"),
        ("name,r0\nnew,elsewhere\n", "got none"),
    ],
)
def test_new_subjects_that_cannot_be_inserted_are_refused_by_name(run, tmp_path, table, says):
    (tmp_path / "new.csv").write_text(table)
    result = run("transfer", "run", "--insert", "new.csv")
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert list(Path("run").glob("insertion-*")) == []


def test_runs_of_several_hops_and_worlds_that_are_no_bijections_are_refused(cli):
    world = random_bijections(9, 2, rng=np.random.default_rng(0))
    finished(Path("two"), world, SHORT.model_copy(update={"hops": 2, "attention": "learned"}))
    assert "a model of one hop" in cli("transfer", "two").err
    finished(Path("colours"), random_functions(12, 1, 3, rng=np.random.default_rng(0)), SHORT)
    assert "as many attributes as its 12 subjects, got 3" in cli("transfer", "colours").err


def test_a_run_that_is_not_finished_is_refused(cli):
    config = TrainConfig(dim=4, width=4, steps=4, check_every=1)
    start_run(Path("run"), random_bijections(9, 2, rng=np.random.default_rng(0)), config)
    continue_run(Path("run"), until=2)
    assert "not finished; go on with `georecall train --resume run`" in cli("transfer", "run").err
