"""Evidence is found where it was planted, and next to never where nothing was."""

import json

import numpy as np
import pytest
from scipy import stats

from georecall.probing.controls import probe_with_controls
from georecall.probing.evidence import score_by_input, weigh_evidence
from georecall.probing.relations import choose_targets
from georecall.statistics.comparisons import compare
from georecall.statistics.intervals import Interval, mean_interval, rate_interval, ratio_interval
from georecall.statistics.wording import number
from planted_states import layers_with, random_table, superposed, table_of, vectors_of


def evidence_of(states, table, vectors, **options):
    targets, _ = choose_targets(table, vectors)
    judged = [target for target in targets if target.judged]
    return [weigh_evidence(one) for one in probe_with_controls(states, table, judged, **options)]


@pytest.fixture(scope="module")
def planted():
    table = random_table([4, 6, 120], 120)
    vectors = vectors_of(table, out=12)
    states = layers_with(superposed(table, vectors, 64), 4, 2.0, at=[2])
    untrained = layers_with(np.zeros((120, 64)), 4, 1.0, seed=8)
    targets, _ = choose_targets(table, vectors)
    judged = [target for target in targets if target.judged]
    return probe_with_controls(states, table, judged, random_states=untrained)


def test_evidence_is_found_for_every_relation_that_was_planted(planted):
    found = [weigh_evidence(one) for one in planted]
    assert [(evidence.relation, evidence.kind) for evidence in found] == [
        ("r0", "classes"),
        ("r1", "classes"),
        ("r2", "vectors"),
    ]
    for evidence in found:
        assert evidence.found
        assert evidence.chosen_layers == (2,) * 5
        assert evidence.not_measured == ()
        assert len(evidence.comparisons) == 6
        assert evidence.words.startswith(
            f"evidence: {evidence.score} at layer 2, beats every control; nearest: "
        )


def test_nothing_planted_is_called_evidence_in_at_most_a_tenth_of_shuffles(record_property):
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2, 60, 8)).astype(np.float32)
    found = []
    for column in (np.arange(60) % 3, np.arange(60)):  # judged by classes, and by vectors
        for _ in range(50):
            table = table_of({"r": rng.permutation(column)})
            (evidence,) = evidence_of(states, table, vectors_of(table, out=8))
            found.append(evidence.found)
    record_property("share called evidence", float(np.mean(found)))
    assert np.mean(found) <= 0.10


def test_one_control_that_is_not_beaten_is_enough(planted):
    evidence = weigh_evidence(planted[0])
    strong, *others = evidence.comparisons
    unsure = strong.model_copy(update={"difference": Interval(value=0.2, low=-0.01, high=0.4)})
    doubted = evidence.model_copy(update={"comparisons": (*others, unsure)})
    assert not doubted.found
    assert doubted.words == (
        f"no evidence: {evidence.score.value:.2f} does not beat majority {strong.score:.2f} "
        "(difference 0.20, −0.01 … 0.40)"
    )


def test_what_was_not_measured_is_said():
    table = random_table([4], 60)
    (evidence,) = evidence_of(
        layers_with(superposed(table, vectors_of(table), 20), 2, 0.1, at=[1]), table, vectors_of(table)
    )
    assert evidence.not_measured == ("random weights", "other relation")
    assert evidence.words.endswith("; not measured: random weights; not measured: other relation")


def test_results_are_json(planted):
    for one in planted:
        read = json.loads(json.dumps(weigh_evidence(one).to_dict(), allow_nan=False))
        assert read["evidence"] is True
        assert read["words"] == weigh_evidence(one).words


def test_scores_by_layer_are_means_with_wilson_or_bootstrap_intervals(planted):
    classes, vectors = planted[0].probe, planted[2].probe
    by_layer = score_by_input(classes)
    assert len(by_layer) == 4
    assert by_layer[2] == rate_interval(classes.hits[2])
    assert score_by_input(vectors)[2] == mean_interval(vectors.reciprocal_ranks[2], seed=0)


def test_a_rate_has_wilsons_interval():
    found = rate_interval(np.arange(50) < 10)
    expected = stats.binomtest(10, 50).proportion_ci(method="wilson")
    assert (found.value, found.low, found.high) == pytest.approx((0.2, expected.low, expected.high))


def test_a_bootstrap_interval_of_many_subjects_is_the_normal_one():
    scores = np.random.default_rng(0).exponential(size=400)
    found = mean_interval(scores, seed=0)
    half = 1.96 * scores.std() / 20
    assert (found.low, found.high) == pytest.approx(
        (scores.mean() - half, scores.mean() + half), abs=0.15 * half
    )


def test_a_ratio_is_of_sums_and_undefined_over_nothing():
    below = np.array([1.0, 2, 3, 4])
    found = ratio_interval(3 * below, below, seed=0)
    assert (found.value, found.low, found.high) == pytest.approx((3, 3, 3))
    assert ratio_interval(below, 0 * below, seed=0).to_dict() == {"value": None, "low": None, "high": None}


def test_a_comparison_is_paired_and_drawn_from_the_seed():
    rng = np.random.default_rng(0)
    base = rng.normal(size=100)

    def compared(seed):
        return compare(base + 0.1 + 0.01 * rng.normal(size=100), base, control="c", name="c", seed=seed)

    assert compared(0).beaten  # the spread of the subjects, a hundred times larger, drops out
    assert mean_interval(base, seed=0) == mean_interval(base, seed=0) != mean_interval(base, seed=1)


@pytest.mark.parametrize(
    ("value", "text"), [(0.614, "0.61"), (-0.05, "−0.05"), (-0.001, "0.00"), (1.0, "1.00")]
)
def test_numbers_have_a_minus_sign_and_no_negative_zero(value, text):
    assert number(value) == text
