"""`georecall analyze`: every number beside its controls, files that are whole, and refusals that say what is wrong."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from georecall.dissection import dissect
from georecall.errors import FigureError
from georecall.facts.worlds import random_bijections
from georecall.figures.dissection import TITLES
from georecall.statistics.wording import number, within
from georecall.training.config import TrainConfig
from georecall.training.runs import continue_run, load_run, start_run

SUBJECTS, RELATIONS = 48, 2
RECIPE = {
    "dim": 12,
    "width": 24,
    "attribute_dim": 6,
    "learning_rates": (0.03,),
    "steps": 60,
    "margin": None,
    "check_every": 60,
}


def trained(folder: Path, *, relations=RELATIONS, until=None, **fields) -> Path:
    table = random_bijections(SUBJECTS, relations, rng=np.random.default_rng(0))
    start_run(folder, table, TrainConfig(**RECIPE | fields))
    continue_run(folder, until=until)
    return folder


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory):
    """Three members, trained once."""
    return trained(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def run(finished_run, tmp_path):
    """A copy: `run` in the folder in which commands run."""
    return shutil.copytree(finished_run, tmp_path / "run")


@pytest.fixture
def undrawn(monkeypatch):
    """Figures noted down instead of drawn, which takes seconds; shows which files were to be written."""
    drawn = []
    monkeypatch.setattr("georecall.figures.saving.save_figure", lambda _, path: drawn.append(path.name))
    return drawn


def lines_of(text):
    return {line.split("  ")[0].strip(): line for line in text.splitlines()}


def test_every_headline_number_stands_beside_its_controls(cli, run, undrawn):  # noqa: ARG001
    result = cli("analyze", "run")
    assert result.code == 0
    lines = lines_of(result.out)
    found = dissect(load_run(run).model, load_run(run).table)
    assert "N = 48, R = 2, d = 12, a = 6, 24 hidden units, 3 members, 60 steps" in lines["model"]
    r2 = found.superposition.held_out_r2
    low, high = r2.interval
    assert within(float(r2.mean), (float(low), float(high)), ".3f") in lines["R² of subject embeddings"]
    assert (
        f"shuffled facts {number(float(found.superposition.shuffled_r2.mean), '.3f')}"
        in lines["R² of subject embeddings"]
    )
    assert f"{found.selectivity.mean_index.mean:.3f}" in lines["selectivity index of units"]
    for r, name in enumerate(("r0", "r1")):
        readout = lines[f"read-out of {name}"]
        assert f"{found.readout.rates.mean[r]:.3f}" in readout
        assert f"shuffled facts {found.readout.shuffled.mean[r]:.3f}" in readout
        assert readout.rstrip().endswith("0.0208")
        for field, what in (("follow", "answer follows"), ("stay", "others stay")):
            line = lines[f"swap of {name}: {what}"]
            outcomes = {
                "no change": found.swap.no_op,
                "random direction": found.swap.random_direction,
                "wrong relation": found.swap.wrong_relation,
            }
            assert f"{getattr(found.swap.swap, field).mean[r]:.3f}" in line
            for control, outcome in outcomes.items():
                assert f"{control} {getattr(outcome, field).mean[r]:.3f}" in line
        ablated, random = found.ablation.ablated.mean, found.ablation.random.mean
        for what, asked in ((name, r), ("others", 1 - r)):
            line = lines[f"units of {name} ablated: recall of {what}"]
            assert f"{ablated[r, asked]:.3f} (" in line
            assert (
                f"intact {found.ablation.intact.mean[asked]:.3f}, random units {random[r, asked]:.3f}" in line
            )
        assert (
            f"{found.patching.became.mean[r, 1 - r]:.3f}" in lines[f"patched for {name}: the other's answer"]
        )
        agreement = found.gates.agreement.mean
        line = lines[f"gates of {name}: agreement of subjects"]
        assert f"{agreement[r, r]:.3f} (" in line
        assert f"with other relations {agreement[r, 1 - r]:.3f}" in line
    assert "patching shows nothing new" in result.err


def test_result_and_figures_are_files_in_the_run(cli, run):
    result = cli("analyze", "run", "--json", "--only", "superposition")
    saved = json.loads((run / "analysis" / "analysis.json").read_text(encoding="utf-8"))
    assert result.json == saved | {"folder": "run/analysis"}
    assert saved["relations"] == ["r0", "r1"]
    assert saved["recall"] == load_run(run).result["last"]["recall"]
    figures = {f"{name}{suffix}" for name in ("variance", "readout") for suffix in (".html", ".png")}
    assert {path.name for path in (run / "analysis").iterdir()} == figures | {"analysis.json"}
    assert (run / "analysis" / "readout.png").read_bytes().startswith(b"\x89PNG")


def test_all_figures_are_drawn_by_default(cli, run, undrawn):  # noqa: ARG001
    cli("analyze", "run")
    assert set(undrawn) == {f"{name}{suffix}" for name in TITLES for suffix in (".html", ".png")}


GROUPS = {
    "superposition": {"superposition", "readout"},
    "interventions": {"superposition", "swap", "patching"},
    "selectivity": {"selectivity", "ablation", "gates"},
}


@pytest.mark.parametrize(("group", "analyses"), GROUPS.items())
def test_a_group_runs_its_analyses_and_what_they_need(cli, run, undrawn, group, analyses):  # noqa: ARG001
    found = cli("analyze", "run", "--only", group, "--json").json["dissection"]
    every = set().union(*GROUPS.values())
    assert {name for name in every if found[name]} == analyses


def test_figures_of_an_analysis_before_do_not_stay(cli, run, undrawn):  # noqa: ARG001
    folder = run / "analysis"
    folder.mkdir()
    for name in ("ablation.png", "notes.txt"):
        (folder / name).touch()
    cli("analyze", "run", "--only", "superposition")
    assert {path.name for path in folder.iterdir()} == {"notes.txt", "analysis.json"}


def test_a_group_measured_later_joins_those_of_the_same_run_and_seed(cli, run, undrawn):
    whole = cli("analyze", "run", "--json", "-o", "whole").json["dissection"]
    cli("analyze", "run", "--only", "superposition")
    undrawn.clear()
    result = cli("analyze", "run", "--only", "selectivity")
    assert "note: kept from the analysis before: superposition, readout" in result.err
    assert "read-out" not in result.out
    assert {name.partition(".")[0] for name in undrawn} == {"ablation", "units"}
    cli("analyze", "run", "--only", "interventions")
    assert json.loads((run / "analysis" / "analysis.json").read_text())["dissection"] == whole


def test_figures_of_what_is_kept_stay(cli, run, undrawn):  # noqa: ARG001
    cli("analyze", "run", "--only", "superposition")
    for name in ("readout.png", "ablation.png"):
        (run / "analysis" / name).touch()
    cli("analyze", "run", "--only", "interventions")
    assert {path.name for path in (run / "analysis").iterdir()} == {"readout.png", "analysis.json"}


@pytest.mark.parametrize("content", [None, "{}", "{", '{"settings": 3}', "same"])
def test_an_analysis_of_other_settings_is_replaced_only_when_asked(cli, run, undrawn, content):  # noqa: ARG001
    command = ("analyze", "run", "--only", "superposition")
    file = run / "analysis" / "analysis.json"
    cli(*command, "--seed", "1")
    if content == "same":
        found = json.loads(file.read_text())
        file.write_text(json.dumps(found | {"settings": found["settings"] | {"run": "another"}}))
    elif content is not None:
        file.write_text(content)
    before = file.read_bytes()
    refused = cli(*command)
    assert (refused.code, refused.out, file.read_bytes()) == (2, "", before)
    assert refused.err.startswith("error: run/analysis/analysis.json: ")
    assert refused.err.endswith("; give another folder with --output, or --force to replace it\n")
    assert cli(*command, "--force", "--json").json["settings"]["seed"] == 0


def test_another_folder_and_another_seed_are_taken(cli, run, undrawn):  # noqa: ARG001
    options = ("--only", "superposition", "--json")
    first = cli("analyze", "run", *options).json
    other = cli("analyze", "run", *options, "-o", "elsewhere", "--seed", "1").json
    assert Path("elsewhere/analysis.json").is_file()
    assert (first["dissection"]["seed"], other["dissection"]["seed"]) == (0, 1)
    assert first["dissection"]["readout"] != other["dissection"]["readout"]


def test_what_cannot_be_given_is_said_in_words(cli, tmp_path, undrawn):  # noqa: ARG001
    trained(tmp_path / "run", relations=1, seeds=2, dim=48, attribute_dim=40)
    result = cli("analyze", "run")
    assert result.code == 0
    assert "the fit has 41 regressors and only 36 training subjects: its R² says nothing" in result.err
    assert "no intervals over members: expected 3 or more, got 2" in result.err
    assert "with one relation there are no others to stay, to patch in or to select against" in result.err
    assert "nan" not in result.out
    lines = lines_of(result.out)
    assert "R² of subject embeddings" not in lines
    assert lines["selectivity index of units"].split()[4] == "–"
    assert not any("others" in name for name in lines)


def test_unknown_groups_are_refused_all_at_once_before_the_run_is_read(cli, tmp_path):
    result = cli("analyze", "none", "--only", "superposition,probing,,probing")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "error: expected groups among superposition, interventions, selectivity, got 'probing', ''\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_two_hops_is_refused(cli, tmp_path):
    trained(tmp_path / "run", hops=2, attention="learned", steps=4, check_every=4)
    result = cli("analyze", "run")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: expected a model of one hop")
    assert not (tmp_path / "run" / "analysis").exists()


def test_a_run_that_is_not_finished_is_refused(cli, tmp_path):
    trained(tmp_path / "run", until=30, check_every=30)
    result = cli("analyze", "run")
    assert result.err == "error: run: not finished; go on with `georecall train --resume run`\n"


def test_a_folder_that_is_no_run_and_an_output_that_is_a_file_are_refused(cli, run):  # noqa: ARG001
    assert "none/config.json: missing" in cli("analyze", "none").err
    Path("file").touch()
    result = cli("analyze", "run", "-o", "file")
    assert (result.code, result.err) == (2, "error: file: expected a folder to write, found a file\n")


def test_the_run_itself_stays_as_it_was(cli, run, undrawn):  # noqa: ARG001
    before = {name: tensor.clone() for name, tensor in load_run(run).model.state_dict().items()}
    cli("analyze", "run", "--only", "interventions")
    after = load_run(run).model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_figure_that_cannot_be_drawn_is_a_note_beside_the_result(cli, run, monkeypatch):  # noqa: ARG001
    def fail(*_: object) -> None:
        raise FigureError("no ink")

    monkeypatch.setattr("georecall.figures.saving.save_figure", fail)
    result = cli("analyze", "run", "--only", "superposition")
    assert (result.code, set(result.err.splitlines())) == (0, {"note: no ink"})
    assert {path.name for path in Path("run/analysis").iterdir()} == {"analysis.json"}


def test_relations_with_control_characters_are_drawn_and_shown(cli):
    names = "a\x0b", "b\x1b[31m"
    rows = [
        f"s{row},{name},o{(row * 7 + place) % 12}" for place, name in enumerate(names) for row in range(48)
    ]
    Path("f.csv").write_text("\n".join(["subject,relation,object", *rows]), encoding="utf-8")
    sizes = ("--dim", "12", "--width", "24", "--attribute-dim", "6", "--steps", "20", "--seeds", "1")
    assert cli("train", "--facts", "f.csv", *sizes, "-o", "run").code == 0
    result = cli("analyze", "run", "--only", "superposition")
    assert result.code == 0
    assert "read-out of b\\x1b[31m" in result.out
    assert Path("run/analysis/readout.png").read_bytes().startswith(b"\x89PNG")
