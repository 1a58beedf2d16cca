"""`georecall train`: a run is trained, stopped, resumed and shown; what cannot be trained is refused."""

import json
from pathlib import Path

import pytest
import torch

from georecall.training import runs

WORLD = ("--subjects", "6", "--relations", "2")
QUICK = ("train", *WORLD, "--dim", "4", "--width", "8", "--seeds", "2", "--steps", "12", "--check-every", "4")
FILES = {"config.json", "facts.parquet", "history.json", "result.json", "model.safetensors", "history.html"}


def names(folder):
    return {path.name for path in Path(folder).iterdir()}


def pairs(text):
    return dict(line.split("  ", 1) for line in text.splitlines() if "  " in line)


def test_the_summary_says_what_was_trained_and_a_row_shows_each_member(cli):
    result = cli(*QUICK, "--learning-rate", "0.01, 0.02", "-o", "run", "--margin", "never")
    assert (result.code, result.err) == (0, "")
    shown = {name: value.strip() for name, value in pairs(result.out).items()}
    assert shown["wrote"] == "run"
    assert shown["questions"] == "12 trained on, 0 held out"
    assert shown["parameters"] == "140 trained, 0 frozen, in each of 4 members"
    assert shown["steps"].startswith("12 of 12, in ")
    header, *rows = result.out.splitlines()[4:]
    assert header.split() == ["learning", "rate", "seed", "loss", "recall", "least", "margin"]
    assert [row.split()[:2] for row in rows] == [["0.01", "0"], ["0.01", "1"], ["0.02", "0"], ["0.02", "1"]]
    assert names("run") == FILES
    assert "vegaEmbed" in Path("run/history.html").read_text(encoding="utf-8")


def test_as_json_it_prints_the_result_and_the_folder(cli):
    found = cli(*QUICK, "-o", "run", "--json").json
    assert found == json.loads(Path("run/result.json").read_text()) | {"folder": "run"}
    assert found["finished"] is True
    assert found["last"]["step"] == 12
    assert len(found["last"]["recall"]) == 2


def test_a_member_that_diverged_is_null_in_json(cli):
    found = cli(*QUICK, "--learning-rate", "0.01,1e15", "-o", "run", "--json").json
    assert found["last"]["loss"][2:] == [None, None]
    assert all(loss > 0 for loss in found["last"]["loss"][:2])


def test_a_run_that_is_stopped_can_be_resumed_to_its_end(cli):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    never = ("--margin", "never")
    assert cli(*QUICK, *never, "-o", "straight").code == 0
    stopped = cli(*QUICK, *never, "-o", "run", "--stop-after", "4")
    assert stopped.code == 0
    assert stopped.err == "note: not finished; go on with `georecall train --resume run`\n"
    assert pairs(stopped.out)["steps"].strip().startswith("4 of 12")
    assert names("run") == FILES - {"model.safetensors"} | {"checkpoint.safetensors"}
    resumed = cli("train", "--resume", "run")
    torch.set_num_threads(threads)
    assert (resumed.code, resumed.err) == (0, "")
    assert names("run") == FILES
    assert Path("run/model.safetensors").read_bytes() == Path("straight/model.safetensors").read_bytes()
    assert cli("train", "--resume", "run", "--json").json["finished"] is True


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "facts.parquet", "history.json"])
def test_a_finished_run_that_lost_a_file_is_not_said_to_be_well(cli, name):
    cli(*QUICK, "-o", "run")
    Path("run", name).unlink()
    result = cli("train", "--resume", "run")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: run/{name}: missing; put it back, or ")


def test_options_left_out_depend_on_those_given(cli):
    assert (
        cli("train", *WORLD, "--dim", "3", "--hops", "2", "--steps", "2", "--mode", "cot", "-o", "two").code
        == 0
    )
    assert cli("train", *WORLD, "--dim", "3", "--steps", "2", "-o", "one").code == 0
    two, one = (json.loads(Path(name, "config.json").read_text()) for name in ("two", "one"))
    chosen = ("width", "attention", "held_out")
    assert [two[name] for name in chosen] == [12, "learned", 0.1]
    assert [one[name] for name in chosen] == [12, "uniform", 0.0]


def test_compositions_that_are_held_out_have_a_column_of_their_own(cli):
    result = cli(*QUICK, "--hops", "2", "-o", "run")
    assert "22 trained on, 2 held out" in result.out
    assert "recall, held out" in result.out


def test_a_table_is_trained_on_as_it_is_read(cli, family_csv):
    found = cli("train", "--facts", family_csv, "--dim", "4", "--steps", "2", "-o", "run", "--json").json
    assert found["questions"] == 20
    assert runs.load_run(Path("run")).table.relations[0] == "wife"


def test_a_table_without_a_header_or_with_an_index_is_trained_on_if_asked(cli):
    Path("t.tsv").write_text("a\tnext\tb\nb\tnext\tc\nc\tnext\ta\n")
    Path("i.csv").write_text(",who,next\n0,a,b\n1,b,c\n2,c,a\n")
    short = ("--dim", "4", "--seeds", "1", "--steps", "2", "--json")
    for number, options in enumerate((("t.tsv", "--no-header"), ("i.csv", "--subject", "who"))):
        assert "--subject" in cli("train", "--facts", options[0], *short, "-o", "no").err
        found = cli("train", "--facts", *options, *short, "-o", f"run{number}").json
        assert found["questions"] == 3


@pytest.mark.parametrize("option", [("--no-header",), ("--subject", "who"), ("--allow-missing",)])
def test_how_a_table_is_read_is_refused_without_one(cli, option):
    result = cli("train", *option, "-o", "run")
    assert (result.code, result.err) == (
        2,
        f"error: a random world is not read from a table (--facts): {option[0]} cannot be given\n",
    )


def test_worlds_of_other_seeds_are_other_worlds(cli):
    digests = [
        cli(*QUICK, "--world-seed", seed, "-o", f"run{place}", "--json").json["table"]
        for place, seed in enumerate("001")
    ]
    assert digests[0] == digests[1] != digests[2]


def test_a_run_is_replaced_only_when_asked(cli):
    cli(*QUICK, "-o", "run")
    refused = cli(*QUICK, "-o", "run")
    assert (refused.code, refused.err) == (2, "error: wrong settings: run: already exists; give another folder, "
                                              "or --force to replace it\n")  # fmt: skip
    assert cli(*QUICK, "--dim", "5", "-o", "run", "--force").code == 0
    assert json.loads(Path("run/config.json").read_text())["dim"] == 5


REFUSED = {
    "dim 0": (("--dim", "0"), "dim: ", "got 0"),
    "an unknown mode": (("--mode", "both"), "mode: ", "'both'"),
    "an unknown attention": (("--attention", "flash"), "attention: ", "'flash'"),
    "an unknown part to freeze": (("--freeze", "all"), "freeze: ", "'all'"),
    "no subjects": (("--subjects", "0"), "subjects must be 1 or more, got 0"),
    "no relations": (("--relations", "-1"), "relations must be 1 or more, got -1"),
    "10^9 subjects": (("--subjects", "1000000000"), "at most 100,000,000"),
    "a world that fits with a model that does not": (
        ("--subjects", "100000000", "--relations", "1", "--dim", "100000"), "fits in memory"
    ),
    "an enormous dimension": (("--dim", "1000000000000"), "fits in memory"),
    "an enormous ensemble": (("--seeds", "1000000000000"), "fits in memory"),
    "an enormous number of hops": (("--hops", "1000000000"), "fits in memory"),
    "too many questions": (("--hops", "27"), "expected at most 10^8 queries"),
    "uniform attention on hops": (("--hops", "2", "--attention", "uniform"), "attention must be learned"),
    "no learning rate": (("--learning-rate", ""), "learning_rates.0: ", "''"),
    "learning rate NaN": (("--learning-rate", "nan"), "learning_rates.0: ", "'nan'"),
    "learning rate 0": (("--learning-rate", "0"), "learning_rates.0: ", "'0'"),
    "an infinite learning rate": (("--learning-rate", "inf"), "learning_rates.0: ", "'inf'"),
    "a negative weight decay": (("--weight-decay", "-1"), "weight_decay: ", "got -1.0"),
    "label smoothing NaN": (("--label-smoothing", "nan"), "label_smoothing: ", "got nan"),
    "infinite noise": (("--embedding-noise", "inf"), "embedding_noise: ", "got inf"),
    "margin NaN": (("--margin", "nan"), "margin: ", "got 'nan'"),
    "everything held out": (("--hops", "2", "--held-out", "1"), "held_out: ", "got 1.0"),
    "a learning rate twice": (("--learning-rate", "0.1,0.1"), "learning_rates must differ, got 0.1, 0.1"),
    "heads of uniform attention": (("--heads", "3"), "heads must be 1 with uniform attention, got 3"),
    "a world of one subject": (("--subjects", "1"), "at least 2 attributes, got 1"),
    "a table and the size of a world": (("--facts", "x.csv", "--world-seed", "3"), "--world-seed cannot be given"),
    "no steps": (("--steps", "0"), "steps: ", "got 0"),
    "an unknown device": (("--device", "abacus"), "device that this machine has, got 'abacus'"),
    "an output and a run to resume": (("--resume", "run"), "either --output FOLDER, for a new run, or --resume"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "says"), [(o, says) for o, *says in REFUSED.values()], ids=REFUSED)
def test_what_cannot_be_trained_is_one_error_and_nothing_is_written(cli, tmp_path, options, says):
    result = cli(*QUICK, "-o", "run", *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert len(result.err.splitlines()) == 1
    assert all(part in result.err for part in says)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_refused(cli, tmp_path):
    result = cli(*QUICK, "-o", "run", "--device", "cuda")
    assert result.err == "error: wrong settings: expected a device that this machine has, got 'cuda'\n"
    assert (result.code, list(tmp_path.iterdir())) == (2, [])


def test_all_problems_are_said_at_once(cli, tmp_path):
    (tmp_path / "file").touch()
    wrong = ("--dim", "0", "--steps", "-5", "--subjects", "0", "--device", "abacus", "-o", "file")
    first, *lines = cli(*QUICK, *wrong).err.splitlines()
    assert first == "error: wrong settings"
    starts = ["  dim: ", "  steps: ", "  subjects must", "  expected a device", "  file: expected a folder"]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts


def test_neither_an_output_nor_a_run_to_resume_is_refused(cli):
    result = cli(*QUICK)
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: expected either --output FOLDER, for a new run, or --resume FOLDER\n"


def test_a_folder_that_is_no_run_cannot_be_resumed(cli):
    Path("notes").mkdir()
    result = cli("train", "--resume", "notes")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: notes/config.json: missing; was this folder written by `georecall train`?\n"
    assert names("notes") == set()


def test_a_run_that_diverges_says_at_which_step(cli):
    result = cli(*QUICK, "--learning-rate", "1e15", "-o", "run")
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: every member has diverged by step 4; try a smaller learning rate\n"
    assert names("run") == {"config.json", "facts.parquet"}


@pytest.mark.parametrize("options", [("--stop-after", "0"), ("--world-seed", "-1"), ("--dim", "four")])
def test_wrong_usage_names_the_option(cli, options):
    result = cli(*QUICK, "-o", "run", *options)
    assert result.code == 2
    assert options[0] in result.err
    assert not Path("run").exists()


def test_a_run_that_is_resumed_keeps_its_settings(cli):
    cli(*QUICK, "-o", "run", "--stop-after", "1")
    result = cli("train", "--resume", "run", "--dim", "32", "--force")
    assert (result.code, result.out) == (2, "")
    assert "a run that is resumed keeps its settings: --dim, --force cannot be given" in result.err


def test_a_table_that_is_missing_is_refused(cli):
    result = cli("train", "--facts", "none.csv", "-o", "run")
    assert (result.code, result.out) == (2, "")
    assert "none.csv: no such file" in result.err


def test_blank_objects_are_unknown_facts_only_if_allowed(cli):
    Path("gaps.csv").write_text("name,wife,job\nAda,Bea,cook\nCid,,vet\nEli,Fay,cook\n", encoding="utf-8")
    command = ("train", "--facts", "gaps.csv", "--dim", "4", "--seeds", "1", "--steps", "2", "-o", "run")
    assert "blank object" in cli(*command).err
    result = cli(*command, "--allow-missing", "--json")
    assert (result.code, result.json["questions"]) == (0, 5)


def test_a_figure_that_cannot_be_drawn_is_a_note_beside_the_run(cli, monkeypatch):
    def fail(_: object) -> None:
        raise ValueError("no ink")

    monkeypatch.setattr("georecall.figures.training.history_figure", fail)
    result = cli("train", "--subjects", "8", "--relations", "1", "--dim", "4", "--steps", "2", "-o", "run")
    assert (result.code, result.err) == (0, "note: history: cannot be drawn: no ink\n")
    assert Path("run/result.json").is_file()
