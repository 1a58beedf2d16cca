"""A probe reads what is there, in the layer where it is, and the held-out part has no say in it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from georecall.errors import ProbingError
from georecall.probing.features import States, checked_layers
from georecall.probing.probes import Probe, probe
from georecall.probing.relations import choose_targets
from georecall.statistics.intervals import rate_interval
from planted_states import layers_with, random_table, superposed, table_of, vectors_of


def probed(states, targets, **options):
    return probe(
        States(source="hidden states", names=tuple(range(len(states))), values=states), targets, **options
    )


def targets_of(table, **options):
    targets, _ = choose_targets(table, vectors_of(table), **options)
    return {(target.relation, target.kind): target for target in targets}


def test_accuracy_is_what_the_noise_implies():
    n, apart = 600, 1.5
    table = table_of({"side": np.arange(n) % 2})
    signal = np.outer(apart * (np.arange(n) % 2), [1.0, 0, 0, 0])
    states = layers_with(signal, 2, 1.0, at=[1])
    (found,) = probed(states, [targets_of(table)["side", "classes"]])
    accuracy = rate_interval(found.chosen_scores == 1)
    assert accuracy.low < stats.norm.cdf(apart / 2) < accuracy.high
    assert accuracy.high - accuracy.low < 0.08


def test_the_layer_with_the_signal_is_chosen_and_layer_0_never():
    table = random_table([4], 100)
    signal = superposed(table, vectors_of(table), 10)
    target = targets_of(table)["r0", "classes"]
    (found,) = probed(layers_with(signal, 4, 1.0, at=[0, 2]), [target])
    assert found.chosen.tolist() == [2] * 5
    (found,) = probed(layers_with(signal, 4, 1.0, at=[0]), [target])
    assert (found.chosen > 0).all()
    assert found.scores[0].mean() > 0.9
    assert found.chosen_scores.mean() < 0.5


def test_the_layer_is_chosen_by_the_training_part_alone():
    target = targets_of(random_table([4], 40))["r0", "classes"]
    found = Probe(
        source="planted",
        target=target,
        inputs=(0, 1, 2),
        first=1,
        reciprocal_ranks=np.repeat([[0.0], [0.0], [1.0]], 40, axis=1),
        left_out=np.array([[1.0] * 5, [0.8] * 4 + [0.2], [0.5] * 5]),
        strengths=np.ones((3, 5)),
    )
    assert found.chosen.tolist() == [1, 1, 1, 1, 2]
    np.testing.assert_array_equal(found.chosen_scores, target.folds == 4)


def test_attributes_that_training_never_met_are_named_by_their_vectors():
    table = random_table([80], 80)
    vectors = vectors_of(table, out=16)
    (target,), _ = choose_targets(table, vectors)
    assert target.kind == "vectors"
    (found,) = probed(layers_with(superposed(table, vectors, 40), 2, 0.0), [target])
    assert found.hits[1].mean() > 0.9


def test_a_class_that_training_never_met_cannot_be_named():
    column = np.arange(60) % 4
    column[7] = 4
    table = table_of({"class": column})
    signal = superposed(table, vectors_of(table), 12)
    target = targets_of(table)["class", "classes"]
    (found,) = probed(layers_with(signal, 2, 0.01), [target])
    others = np.arange(60) != 7
    assert found.reciprocal_ranks[1, 7] == 0
    assert found.hits[1, others].all()
    fold = target.folds[7]
    expected = np.where(np.arange(5) == fold, 1, 47 / 48)  # left out, it cannot be named either
    np.testing.assert_allclose(found.left_out[1], expected)


def test_a_tie_is_lost():
    target = targets_of(random_table([3], 30))["r0", "classes"]
    closeness = np.array([[1.0, 1, 0], [2, 1, 1], [0, 0, 0]])
    ranks = target.reciprocal_ranks(closeness, np.array([0, 0, 2]), np.array([1, 1, 1]))
    np.testing.assert_allclose(ranks, [1 / 2, 1, 1 / 3])
    np.testing.assert_allclose(
        target.reciprocal_ranks(closeness, np.array([0, 0, 2]), np.array([1, 0, 1])), [1, 1, 1 / 2]
    )


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_a_state_that_is_turned_stretched_and_shifted_says_the_same(seed):
    rng = np.random.default_rng(seed)
    table = random_table([3, 25], 25, seed)
    targets = list(targets_of(table).values())
    states = layers_with(superposed(table, vectors_of(table), 6), 2, 3.0, seed)
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    moved = (7 * states.astype(np.float64) @ turn + rng.normal(size=6)).astype(np.float32)
    for before, after in zip(probed(states, targets), probed(moved, targets), strict=True):
        # float32 rounding may change the place of attributes that are all but tied
        assert (before.reciprocal_ranks == after.reciprocal_ranks).mean() > 0.9


def test_held_out_answers_do_not_reach_what_is_said_of_their_fold():
    table = random_table([4, 60], 60)
    states = layers_with(superposed(table, vectors_of(table), 12), 3, 2.0)
    for target in targets_of(table).values():
        held_out = np.flatnonzero(target.folds == 0)
        changed, kept = held_out[::2], held_out[1::2]
        labels = target.labels.copy()
        labels[changed] = np.roll(labels[changed], 1)
        before, after = probed(states, [target, replace(target, labels=labels)])
        assert (labels != target.labels).any()
        np.testing.assert_array_equal(before.left_out[:, 0], after.left_out[:, 0])
        np.testing.assert_array_equal(before.strengths[:, 0], after.strengths[:, 0])
        np.testing.assert_array_equal(before.reciprocal_ranks[:, kept], after.reciprocal_ranks[:, kept])
        assert not np.array_equal(before.left_out[:, 1], after.left_out[:, 1])


def test_states_of_subjects_without_an_answer_do_not_matter():
    column = np.arange(70) % 3
    column[::7] = -1
    table = table_of({"class": column, "other": np.arange(70) % 4})
    states = layers_with(superposed(table, vectors_of(table), 8), 2, 0.5)
    target = targets_of(table)["class", "classes"]
    assert len(target.rows) == 60
    (before,) = probed(states, [target])
    states[:, ::7] = 1e6
    (after,) = probed(states, [target])
    np.testing.assert_array_equal(before.reciprocal_ranks, after.reciprocal_ranks)


def test_a_target_is_read_the_same_alone_and_in_company():
    table = random_table([3, 5], 50)
    states = layers_with(superposed(table, vectors_of(table), 8), 3, 1.0)
    targets = list(targets_of(table).values())
    for target, together in zip(targets, probed(states, targets), strict=True):
        (alone,) = probed(states, [target])
        np.testing.assert_array_equal(alone.reciprocal_ranks, together.reciprocal_ranks)
        np.testing.assert_array_equal(alone.strengths, together.strengths)


def test_two_threads_give_the_bytes_of_one():
    table = random_table([4, 60], 60)
    states = layers_with(superposed(table, vectors_of(table), 30), 5, 2.0)
    targets = list(targets_of(table).values())
    for one, two in zip(probed(states, targets), probed(states, targets, n_jobs=2), strict=True):
        for name in ("reciprocal_ranks", "left_out", "strengths"):
            assert getattr(one, name).tobytes() == getattr(two, name).tobytes()


def test_folds_come_from_the_seed_and_are_even():
    table = random_table([4], 63)
    folds = [targets_of(table, seed=seed)["r0", "classes"].folds for seed in (5, 5, 6)]
    np.testing.assert_array_equal(folds[0], folds[1])
    assert not np.array_equal(folds[0], folds[2])
    assert sorted(np.bincount(folds[0])) == [12, 12, 13, 13, 13]


def test_relations_are_judged_by_classes_only_where_most_subjects_share_their_attribute():
    column = np.arange(40)
    half_shared = np.where(column < 20, column % 4, column)
    fewer_shared = np.where(column < 19, column % 3, column)
    one_class = np.where(column < 30, 0, column)
    columns = {"few": column % 5, "half": half_shared, "less": fewer_shared, "one": one_class, "all": column}
    targets = targets_of(table_of(columns))
    judged = {relation: kind for (relation, kind), target in targets.items() if target.judged}
    assert judged == {
        "few": "classes",
        "half": "classes",
        "less": "vectors",
        "one": "vectors",
        "all": "vectors",
    }
    assert ("less", "classes") in targets
    assert ("one", "classes") not in targets  # only one of its attributes occurs twice
    assert ("all", "classes") not in targets


def test_relations_that_cannot_be_probed_are_named_with_their_reasons():
    few = np.where(np.arange(40) < 19, np.arange(40) % 2, -1)
    columns = {"good": np.arange(40) % 4, "few": few, "same": np.zeros(40, dtype=int)}
    table = table_of(columns)
    targets, skipped = choose_targets(table, vectors_of(table))
    assert {target.relation for target in targets} == {"good"}
    assert skipped == {
        "few": "19 subjects have an answer, and 20 are needed",
        "same": "all subjects have the same attribute",
    }


def test_attributes_of_one_vector_are_told_apart_only_as_classes():
    table = table_of({"class": np.arange(30) % 3, "all": np.arange(30)})
    targets, skipped = choose_targets(table, np.ones((33, 4)) / 3)
    assert [(target.relation, target.kind, target.judged) for target in targets] == [
        ("class", "classes", True)
    ]
    assert skipped == {"all": "no two attributes occur twice, and all attributes have the same vector"}


def test_a_table_without_any_relation_to_probe_is_refused():
    table = table_of({"same": np.zeros(40, dtype=int)})
    with pytest.raises(ProbingError, match="got none: 'same': all subjects have the same attribute"):
        choose_targets(table, vectors_of(table))


@pytest.mark.parametrize(
    ("vectors", "folds", "message"),
    [
        (np.zeros((2, 4)), 5, "each of the 3 attributes, got 2"),
        (np.full((3, 4), np.nan), 5, "not all of them finite"),
        (np.eye(3), 1, "expected 2 to 20 folds, got 1"),
        (np.eye(3), 21, "expected 2 to 20 folds, got 21"),
    ],
)
def test_vectors_and_folds_that_do_not_fit_are_refused(vectors, folds, message):
    with pytest.raises(ProbingError, match=message):
        choose_targets(random_table([3], 30), vectors, folds=folds)


def test_a_state_that_is_not_finite_is_refused_with_its_layer():
    states = np.zeros((3, 4, 2), dtype=np.float32)
    states[2, 1, 0] = np.inf
    with pytest.raises(ProbingError, match="hidden states: expected finite states, got others at layer 8"):
        States(source="hidden states", names=(0, 4, 8), values=states)


@pytest.mark.parametrize("layers", [(0,), (0, 1), (1, 2, 3), (0, 2, 1), (0, 1, 1)])
def test_layers_that_do_not_fit_the_states_are_refused(layers):
    with pytest.raises(ProbingError, match=r"for \d states, got \("):
        checked_layers(1 if len(layers) == 1 else 3, layers)
