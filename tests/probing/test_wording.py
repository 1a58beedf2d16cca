"""Sentences say the numbers of a report, with their intervals, and nothing that was not measured."""

import numpy as np

from georecall.probing import Findings, ProbeSettings, Templates
from georecall.probing.causal import SwapSummary
from georecall.probing.explained import Explained
from georecall.probing.joint_fit import JointFit
from georecall.probing.linear_relations import LinearRelation
from georecall.probing.probe import ProbeSummary
from georecall.probing.wording import remarks
from georecall.statistics.comparisons import Comparison
from georecall.statistics.intervals import Interval


def interval(value, spread=0.05):
    return Interval(value=value, low=value - spread, high=value + spread)


def explained(value):
    return Explained(by_layer=(), chosen=interval(value))


def joint(*, layers=(3, 3, 6), random=True):
    return JointFit(
        relations=("capital", "currency"),
        subjects=40,
        regressors=(1, 1),
        layers=(0, 3, 6),
        chosen_layers=layers,
        joint=explained(0.8),
        alone={},
        without={},
        unique={"capital": explained(0.3), "currency": explained(-0.01)},
        shuffled=explained(-0.02),
        random=explained(0.1) if random else None,
        shares=np.zeros((3, 2)),
        subspaces=(),
        shuffled_subspaces=(),
    )


def effect(*, follows=True, others=True):
    return SwapSummary(
        layer=6,
        subjects=3,
        follows=follows,
        towards=interval(1.5),
        towards_at_random=interval(-0.25),
        others_mean=interval(0.0) if others else None,
        others={},
        others_at_random={},
    )


RELATION = LinearRelation(
    subjects=40,
    by_layer=(),
    faithfulness=interval(0.7),
    layers=(0, 4),
    chosen_layers=(4, 4),
    comparisons=[
        Comparison(control=name, name=name, score=score, difference=interval(0.1))
        for name, score in (("commonest token", 0.2), ("shuffled pairs", 0.104))
    ],
)


def said(*, fit=None, reason="too few", relations=None, swaps=None, asked=0):
    findings = Findings(
        layers=(0, 3), evidence=(), curves=(), skipped={}, joint=fit, joint_skipped=None if fit else reason
    )
    report = ProbeSummary(
        model="",
        digest="",
        subjects=40,
        facts=80,
        templates=Templates(),
        settings=ProbeSettings(swaps=asked),
        knowledge={},
        findings=findings,
        linear_relations=relations or {},
        swaps=swaps or {},
    )
    return list(remarks(report))


def test_the_superposition_stands_beside_its_controls_and_what_each_relation_adds():
    assert said(fit=joint()) == [
        "superposition of 40 subjects: held-out R² 0.80 (0.75 … 0.85) at layers 3–6, shuffled facts −0.02, "
        "random weights 0.10; lost without a relation: capital 0.30 (0.25 … 0.35), currency −0.01 (−0.06 … 0.04)"
    ]


def test_a_control_that_was_not_measured_is_not_mentioned():
    (line,) = said(fit=joint(random=False, layers=(3, 3)))
    assert "at layer 3, shuffled facts −0.02; lost" in line
    assert "random" not in line


def test_without_a_joint_fit_the_reason_is_said():
    assert said(reason="expected 20 subjects, got 3") == ["superposition: expected 20 subjects, got 3"]


def test_a_linear_relation_stands_beside_its_controls():
    assert said(relations={"capital": RELATION})[1] == (
        "linear relation 'capital': an affine map of the state at layer 4 names the model's own first token for "
        "0.70 (0.65 … 0.75) of held-out subjects; commonest token 0.20, shuffled pairs 0.10"
    )


def test_a_swap_says_whether_the_answer_follows_and_what_happens_to_others():
    assert said(swaps={"capital": effect()})[1] == (
        "swap of 'capital': at layer 6, the answer follows: towards the new attribute by 1.50 (1.45 … 1.55) nats, "
        "in a random direction by −0.25 (−0.30 … −0.20); right answers of other relations by 0.00 (−0.05 … 0.05)"
    )


def test_a_swap_without_other_relations_says_nothing_of_them():
    line = said(swaps={"capital": effect(follows=False, others=False)})[1]
    assert "the answer does not follow" in line
    assert line.endswith("in a random direction by −0.25 (−0.30 … −0.20)")


def test_there_is_a_line_for_each_relation_and_each_swap():
    lines = said(fit=joint(), relations={"a": RELATION, "b": RELATION}, swaps={"b": effect()})
    assert [line.partition(":")[0] for line in lines] == [
        "superposition of 40 subjects", "linear relation 'a'", "linear relation 'b'", "swap of 'b'",
    ]  # fmt: skip


def test_swaps_that_were_asked_for_and_not_made_are_explained():
    assert any(line.startswith("no swaps: they need a superposition") for line in said(asked=24))
    assert not any(line.startswith("no swaps") for line in said(asked=24, swaps={"a": effect()}))
    assert not any(line.startswith("no swaps") for line in said(asked=0))
