"""A run as a folder: stopped or killed it goes on as if it had not been, and what was altered is refused."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from recipes import MIXED, TABLE, recipe, same_weights, trained
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from georecall.errors import FolderError, GeorecallError, TrainingError
from georecall.facts.table_files import write_parquet
from georecall.facts.worlds import random_bijections
from georecall.storage.folders import sha256_of
from georecall.training import runs
from georecall.training.optimiser import freeze
from georecall.training.runs import continue_run, describe_run, load_run, parameter_counts, start_run
from georecall.training.trainer import fresh_model

EVERYTHING = {
    "embedding_noise": 0.3,
    "label_smoothing": 0.1,
    "weight_decay": 0.05,
    "learning_rates": (0.01, 0.03),
}
STOPPED = {
    "one hop": {"batch": 5, "margin": None},
    "several hops at once": {"hops": 2, "attention": "learned", "held_out": 0.2, "batch": 5, "margin": None},
    "a chain of thought": {"hops": 2, "mode": "cot", "attention": "learned", "batch": 5, "margin": None},
    "an early end": {
        "dim": 16,
        "width": 32,
        "learning_rates": (0.03, 0.05),
        "steps": 60,
        "batch": 5,
        "check_every": 7,
    },
}
"""Recipes that are stopped anywhere: every kind of question, and one that recalls all before its schedule is over."""

KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from georecall.training import runs

torch.set_num_threads(1)
runs.SECONDS_BETWEEN_CHECKPOINTS = 0

def progress(task, done, total, note=""):
    if done == 8:
        os.kill(os.getpid(), signal.SIGKILL)

runs.continue_run(Path(sys.argv[1]), progress=progress)
"""
"""Goes on with a run, with a checkpoint at every look, until it kills itself."""


def finished(folder: Path, **fields: object) -> Path:
    start_run(folder, TABLE, recipe(**fields))
    continue_run(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Everything that does not depend on the time of day."""
    return {
        name: (folder / name).read_bytes() for name in (runs.MODEL, runs.HISTORY, runs.CONFIG, runs.TABLE)
    }


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def run(tmp_path):
    return finished(tmp_path / "run")


@pytest.fixture
def half(tmp_path):
    start_run(tmp_path / "half", TABLE, recipe(margin=None))
    continue_run(tmp_path / "half", until=4)
    return tmp_path / "half"


def test_a_run_that_is_read_back_is_the_ensemble_that_was_trained(run):
    found, straight = load_run(run), trained(recipe())
    assert same_weights(found.model, straight.model)
    assert (found.config, found.table.digest()) == (recipe(), TABLE.digest())
    assert not any(parameter.requires_grad for parameter in found.model.parameters())
    assert found.result == describe_run(run)
    assert found.result["last"] == straight.history[-1].to_dict()
    assert found.result["members"] == [{"learning_rate": 0.01, "seed": 0}, {"learning_rate": 0.01, "seed": 1}]
    assert (found.result["questions"], found.result["held_out"]) == (12, 0)


def test_a_finished_run_has_no_checkpoint_and_is_left_as_it_is(run):
    assert names(run) == {runs.CONFIG, runs.TABLE, runs.HISTORY, runs.RESULT, runs.MODEL}
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    history = continue_run(run)
    assert [checked.to_dict() for checked in history] == json.loads((run / runs.HISTORY).read_text())
    assert before == {path.name: path.stat().st_mtime_ns for path in run.iterdir()}


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("stop", [3, 6])
def test_a_run_that_stopped_goes_on_bit_for_bit(tmp_path, stop):
    straight = finished(tmp_path / "straight", **MIXED)
    start_run(tmp_path / "paused", TABLE, recipe(**MIXED))
    history = continue_run(tmp_path / "paused", until=stop)
    assert history[-1].step == stop
    assert names(tmp_path / "paused") == {runs.CONFIG, runs.TABLE, runs.HISTORY, runs.RESULT, runs.CHECKPOINT}
    assert describe_run(tmp_path / "paused")["finished"] is False
    continue_run(tmp_path / "paused")
    assert contents(tmp_path / "paused") == contents(straight)
    assert names(tmp_path / "paused") == names(straight)


def stopped(folder: Path, stops: list[int], **fields: object) -> None:
    start_run(folder, TABLE, recipe(**EVERYTHING | fields))
    for stop in stops:
        continue_run(folder, until=stop)


def checkpoint(folder: Path) -> tuple[dict[str, torch.Tensor], str]:
    """Weights, optimiser and losses, and the history."""
    with safe_open(folder / runs.CHECKPOINT, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()["history"]  # noqa: SIM118


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("kind", STOPPED)
def test_wherever_a_run_is_stopped_it_goes_on_bit_for_bit(tmp_path, kind):
    straight = finished(tmp_path / "straight", **EVERYTHING | STOPPED[kind])
    length = describe_run(straight)["last"]["step"]
    assert (length < recipe(**STOPPED[kind]).steps) is (kind == "an early end")

    @given(st.lists(st.integers(1, length - 1), min_size=1, max_size=3).map(sorted))
    @settings(max_examples=8, deadline=None, derandomize=True)
    def holds(stops):
        with TemporaryDirectory() as root:
            paused, once = Path(root, "paused"), Path(root, "once")
            stopped(paused, stops, **STOPPED[kind])
            stopped(once, stops[-1:], **STOPPED[kind])
            (state, history), (expected, its_history) = checkpoint(paused), checkpoint(once)
            assert history == its_history
            assert all(torch.equal(state[name], expected[name]) for name in state | expected)
            continue_run(paused)
            assert contents(paused) == contents(straight)

    holds()


def test_a_stop_between_two_looks_is_no_look_but_says_how_the_run_stands(tmp_path):
    start_run(tmp_path / "run", TABLE, recipe())
    assert continue_run(tmp_path / "run", until=3) == []
    last = describe_run(tmp_path / "run")["last"]
    assert last["step"] == 3
    assert min(last["loss"]) > 0


@pytest.mark.usefixtures("one_thread")
def test_a_run_that_was_killed_ends_as_one_that_was_not(tmp_path):
    straight = finished(tmp_path / "straight", **MIXED)
    folder = tmp_path / "killed"
    start_run(folder, TABLE, recipe(**MIXED))
    killed = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", KILLED, str(folder)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    whole = {runs.CONFIG, runs.TABLE, runs.HISTORY, runs.RESULT, runs.CHECKPOINT}
    assert names(folder) == whole | {".georecall.lock"}
    seen = []
    continue_run(folder, progress=lambda _task, done, _total, _note: seen.append(done))
    assert seen[0] == 7
    assert contents(folder) == contents(straight)


def test_no_steps_leave_a_run_that_has_not_begun(tmp_path):
    start_run(tmp_path / "run", TABLE, recipe())
    assert continue_run(tmp_path / "run", until=0) == []
    assert names(tmp_path / "run") == {runs.CONFIG, runs.TABLE}
    with pytest.raises(FolderError, match="not finished"):
        describe_run(tmp_path / "run")


def test_the_time_of_all_parts_is_added_up(half):
    fields = json.loads((half / runs.RESULT).read_text())
    continue_run(half)
    assert describe_run(half)["seconds"] > fields["seconds"] > 0


@pytest.mark.parametrize(("what", "frozen"), [("none", 0), ("subjects", 24), ("inputs+unembedding", 64)])
def test_parameters_of_one_member_are_counted(what, frozen):
    model = fresh_model(TABLE, recipe())
    freeze(model, what)
    counts = parameter_counts(model)
    assert counts == {"trained": 24 + 16 + 24 + 67 - frozen, "frozen": frozen}


def test_a_run_that_diverges_leaves_nothing_that_looks_finished(tmp_path):
    start_run(tmp_path / "run", TABLE, recipe(learning_rates=(1e15,)))
    with pytest.raises(TrainingError, match="diverged by step 4"):
        continue_run(tmp_path / "run")
    assert names(tmp_path / "run") == {runs.CONFIG, runs.TABLE}


def test_what_cannot_be_trained_is_refused_before_a_folder_is_made(tmp_path):
    ends = random_bijections(3, 1, rng=np.random.default_rng(9), disjoint=True)
    for table, fields in ((ends, {"hops": 2}), (TABLE, {"hops": 40}), (TABLE, {"hops": 1, "dim": 10**9})):
        with pytest.raises(GeorecallError):
            start_run(tmp_path / "run", table, recipe(attention="learned", **fields))
        assert not (tmp_path / "run").exists()


def test_a_folder_that_exists_is_replaced_only_when_asked(run):
    with pytest.raises(FolderError, match="already exists"):
        start_run(run, TABLE, recipe())
    start_run(run, TABLE, recipe(), replace=True)
    assert names(run) == {runs.CONFIG, runs.TABLE}


def refused(call, folder, name, says=""):
    with pytest.raises(GeorecallError) as found:
        call(folder)
    assert str(found.value).startswith(f"{folder / name}: ")
    assert says in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1]", b"null"])
@pytest.mark.parametrize("name", [runs.CONFIG, runs.RESULT])
def test_a_json_file_that_is_broken_is_named(run, name, content):
    (run / name).write_bytes(content)
    refused(continue_run, run, name)
    refused(load_run, run, name)


def test_a_config_with_a_wrong_field_is_named_with_the_field(run):
    fields = json.loads((run / runs.CONFIG).read_text())
    (run / runs.CONFIG).write_text(json.dumps(fields | {"dim": 0}))
    with pytest.raises(FolderError, match=r"config.json: dim: expected .*, got 0"):
        continue_run(run)


@pytest.mark.parametrize("content", ["", "{}]", "3", "[]", '[{"step": 1}]'])
def test_a_history_that_is_broken_is_named(run, content):
    (run / runs.HISTORY).write_text(content)
    refused(continue_run, run, runs.HISTORY)


@pytest.mark.parametrize("name", [runs.CONFIG, runs.TABLE, runs.HISTORY, runs.MODEL])
def test_a_file_that_is_missing_is_named_with_the_way_out(run, name):
    (run / name).unlink()
    refused(continue_run, run, name, "missing; put it back, or ")


def test_a_run_that_lost_its_checkpoint_does_not_begin_again_without_a_word(half):
    (half / runs.CHECKPOINT).unlink()
    refused(continue_run, half, runs.CHECKPOINT, "missing; put it back, or ")


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("name", [runs.MODEL, runs.HISTORY])
def test_the_way_out_leads_to_the_run_as_it_was(run, name):
    before = contents(run)
    (run / name).write_bytes(b"else")
    refused(continue_run, run, name, f"delete {run / name} and {run / runs.RESULT}")
    for lost in (name, runs.RESULT):
        (run / lost).unlink()
    continue_run(run)
    assert contents(run) == before


@pytest.mark.parametrize("name", [runs.CONFIG, runs.TABLE, runs.MODEL])
def test_a_run_without_a_file_cannot_be_loaded(run, name):
    (run / name).unlink()
    refused(load_run, run, name, "missing")


def test_a_run_without_a_result_counts_as_not_finished(run):
    (run / runs.RESULT).unlink()
    with pytest.raises(FolderError, match=f"not finished; go on with `georecall train --resume {run}`"):
        load_run(run)


@pytest.mark.parametrize("place", [0, 300, -1])
def test_a_model_with_one_other_bit_is_refused(run, place):
    content = bytearray((run / runs.MODEL).read_bytes())
    content[place] ^= 1
    (run / runs.MODEL).write_bytes(content)
    for call in (load_run, continue_run):
        refused(call, run, runs.MODEL, "altered or truncated")


OTHER_SETTINGS = [{"dim": 5}, {"learning_rates": [0.5, 0.6]}, {"steps": 5}]


@pytest.mark.parametrize("change", OTHER_SETTINGS, ids=str)
def test_another_config_than_the_run_was_trained_with_is_refused(run, half, change):
    for folder in (run, half):
        fields = json.loads((folder / runs.CONFIG).read_text())
        (folder / runs.CONFIG).write_text(json.dumps(fields | change))
    for call in (load_run, continue_run):
        refused(call, run, runs.CONFIG, "altered: not the settings that the run was trained with")
    refused(continue_run, half, runs.CHECKPOINT, "was trained with another config.json")


def test_a_checkpoint_with_one_other_bit_is_refused(half):
    content = bytearray((half / runs.CHECKPOINT).read_bytes())
    content[-1] ^= 1
    (half / runs.CHECKPOINT).write_bytes(content)
    refused(continue_run, half, runs.CHECKPOINT, "altered: its content does not give the hash it states")


def test_another_table_is_refused(run):
    write_parquet(random_bijections(6, 2, rng=np.random.default_rng(9)), run / runs.TABLE)
    for call in (load_run, continue_run):
        refused(call, run, runs.TABLE, "not the table that the run was trained on")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"subject,relation,object\n"])
def test_a_table_that_is_broken_is_named(run, content):
    (run / runs.TABLE).write_bytes(content)
    refused(continue_run, run, runs.TABLE)


def test_a_run_that_is_not_finished_cannot_be_loaded(half):
    with pytest.raises(FolderError, match=f"not finished; go on with `georecall train --resume {half}`"):
        load_run(half)


@pytest.mark.parametrize("kept", [0, 7, 100, -1])
def test_a_checkpoint_that_is_cut_short_is_named(half, kept):
    content = (half / runs.CHECKPOINT).read_bytes()
    (half / runs.CHECKPOINT).write_bytes(content[:kept])
    refused(continue_run, half, runs.CHECKPOINT, "not a checkpoint of this run")


def test_a_checkpoint_of_another_run_is_named(half, run, tmp_path):
    start_run(tmp_path / "other", TABLE, recipe(dim=5, margin=None))
    continue_run(tmp_path / "other", until=4)
    others = {
        tmp_path / "other" / runs.CHECKPOINT: "was trained with another config.json",
        run / runs.MODEL: "not a checkpoint of this run",
    }
    for other, says in others.items():
        (half / runs.CHECKPOINT).write_bytes(other.read_bytes())
        refused(continue_run, half, runs.CHECKPOINT, says)


def stated(path: Path, **changes: object) -> None:
    """Let a JSON file say something else."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("name", [runs.CONFIG, runs.RESULT])
@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"dim": NaN}', '{"dim": 1, "dim": 2}', '{"dim": ' + "9" * 5000 + "}"]
)
def test_json_that_python_would_take_or_choke_on_is_named(run, name, text):
    (run / name).write_text(text)
    refused(load_run, run, name, "is not JSON")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("last", {}), ("last", None), ("members", []), ("members", [{"learning_rate": 0.1}]), ("finished", "yes")),
        *(("parameters", {"trained": -1, "frozen": 0}), ("seconds", "long"), ("versions", [1]), ("steps", 1.5)),
    ],
)  # fmt: skip
def test_a_result_with_a_wrong_field_is_named_with_the_field(run, field, value):
    stated(run / runs.RESULT, **{field: value})
    refused(describe_run, run, runs.RESULT)


def test_a_result_with_other_numbers_of_members_is_refused(run):
    last = json.loads((run / runs.RESULT).read_text())["last"]
    stated(run / runs.RESULT, last=last | {"recall": [1.0]})
    refused(describe_run, run, runs.RESULT, "expected an entry of the last look for each member")


def test_a_history_of_other_numbers_of_members_is_refused(run):
    looks = json.loads((run / runs.HISTORY).read_text())
    looks[0]["margin"] *= 2
    (run / runs.HISTORY).write_text(json.dumps(looks))
    refused(continue_run, run, runs.HISTORY, "look 0: expected an entry for each of 2 members")


def test_an_ensemble_that_does_not_fit_in_memory_is_refused_before_it_is_made(run):
    config = json.loads((run / runs.CONFIG).read_text()) | {"dim": 10**9}
    stated(run / runs.CONFIG, **config)
    stated(run / runs.RESULT, config=config)
    refused(load_run, run, runs.CONFIG, "fits in memory")


def noted(path: Path, **changes: str) -> None:
    """Let the metadata of a checkpoint say something else."""
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    save_file(load_file(path), path, metadata=metadata | changes)


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ({"step": "5"}, "altered: its content does not give the hash it states"),
        ({"history": "[]"}, "altered: its content does not give the hash it states"),
        ({"step": "soon"}, "step: expected a valid integer"),
        ({"step": "-1"}, "step: expected a value greater than or equal to 0"),
        ({"seconds": "nan"}, "seconds: expected a finite number"),
        ({"history": "[{}]"}, "history.0.step: is missing"),
        ({"history": "[" * 100_000}, "not a checkpoint of this run"),
    ],
)
def test_a_checkpoint_with_other_notes_is_refused(half, notes, says):
    noted(half / runs.CHECKPOINT, **notes)
    refused(continue_run, half, runs.CHECKPOINT, says)


def test_a_checkpoint_whose_tensors_have_other_shapes_is_refused(half):
    path = half / runs.CHECKPOINT
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    save_file(load_file(path) | {"optimiser.0.exp_avg": torch.zeros(3)}, path, metadata=metadata)
    refused(
        continue_run, half, runs.CHECKPOINT, "tensor 'optimiser.0.exp_avg': expected F32 of shape [2, 2, 4]"
    )


def test_a_model_of_other_shapes_is_refused_though_its_hash_is_right(run):
    path = run / runs.MODEL
    save_file(load_file(path) | {"positions": torch.zeros(3)}, path)
    stated(run / runs.RESULT, sha256=sha256_of(path))
    refused(load_run, run, runs.MODEL, "tensor 'positions': expected F32 of shape [2, 2, 4]")
