"""Each control finds what it is there to find."""

from collections import Counter

import numpy as np
import pytest

from georecall.errors import ProbingError
from georecall.probing.controls import majority, probe_with_controls
from georecall.probing.evidence import weigh_evidence
from georecall.probing.features import NameGrams, OtherRelations
from georecall.probing.relations import choose_targets
from planted_states import layers_with, random_table, superposed, table_of, vectors_of


def controlled(states, table, **options):
    targets, _ = choose_targets(table, vectors_of(table))
    probes = probe_with_controls(states, table, targets, **options)
    return {one.probe.target.relation: one for one in probes if one.probe.target.judged}


def noise(table, layers=2, dim=6, seed=9):
    return layers_with(np.zeros((len(table.subjects), dim)), layers, 1.0, seed)


@pytest.fixture(scope="module")
def function_of_another():
    """The states carry r1 alone; r2 is a function of it, by which several attributes become one."""
    rng = np.random.default_rng(0)
    first = rng.permutation(np.arange(120) % 8)
    table = table_of({"r1": first, "r2": first % 4})
    signal = np.eye(8)[first] @ rng.normal(size=(8, 20))
    return table, layers_with(signal, 3, 0.1, at=[1, 2])


def test_what_another_relation_gives_away_is_no_evidence(function_of_another):
    table, states = function_of_another
    found = {relation: weigh_evidence(one) for relation, one in controlled(states, table).items()}
    assert found["r2"].score.value > 0.95
    assert not found["r2"].found
    assert [one.control for one in found["r2"].comparisons if not one.beaten] == ["other relation"]
    assert found["r2"].by_relation == {"r1": 1.0}
    assert "does not beat other relation 'r1' 1.00 (difference" in found["r2"].words
    assert found["r1"].found


def test_what_the_name_gives_away_is_no_evidence():
    column = np.random.default_rng(0).permutation(np.arange(80) % 2)
    endings = ["land", "stan"]
    table = table_of({"class": column}, subjects=[f"n{i}x{endings[c]}" for i, c in enumerate(column)])
    states = layers_with(superposed(table, vectors_of(table), 10), 2, 0.01, at=[1])
    found = weigh_evidence(controlled(states, table)["class"])
    assert found.score.value == 1
    assert not found.found
    assert [one.control for one in found.comparisons if not one.beaten] == ["character n-grams"]


def test_what_layer_0_has_already_is_no_evidence():
    table = random_table([4], 80)
    signal = superposed(table, vectors_of(table), 10)
    found = weigh_evidence(controlled(layers_with(signal, 3, 0.01), table)["r0"])
    assert found.score.value == 1
    assert [one.control for one in found.comparisons if not one.beaten] == ["layer 0"]


def test_what_random_weights_have_as_well_is_no_evidence():
    table = random_table([4], 80)
    signal = superposed(table, vectors_of(table), 10)
    states = layers_with(signal, 3, 0.01, at=[1])
    untrained = layers_with(signal, 3, 0.01, at=[2])
    probes = controlled(states, table, random_states=untrained)["r0"]
    found = weigh_evidence(probes)
    assert [one.control for one in found.comparisons if not one.beaten] == ["random weights"]
    assert probes.controls["random weights"].probes[0].chosen.tolist() == [2] * 5  # its own layers
    assert found.chosen_layers == (1,) * 5


def test_the_majority_is_that_of_the_training_part():
    (target, *_), _ = choose_targets(table_of({"r": [0] * 20 + [1] * 20 + [2] * 5}), np.eye(3))
    found = majority(target)
    for training, held_out in target.splits():
        order = [name for name, _ in Counter(sorted(target.labels[training].tolist())).most_common()]
        expected = [1 / (1 + order.index(label)) for label in target.labels[held_out]]
        np.testing.assert_allclose(found.reciprocal_ranks[0, held_out], expected)


def test_shuffled_answers_are_the_same_answers_of_other_subjects():
    table = random_table([3, 50], 50)
    for one in controlled(noise(table), table, shuffles=3).values():
        shuffles = [probe.target.labels for probe in one.controls["shuffled labels"].probes]
        assert len(shuffles) == 3
        for labels in shuffles:
            assert sorted(labels) == sorted(one.probe.target.labels)
            assert not np.array_equal(labels, one.probe.target.labels)
        assert not np.array_equal(shuffles[0], shuffles[1])


def test_a_shuffle_does_not_depend_on_which_fold_a_subject_is_in():
    """Folds and shuffles of one seed are two draws: the answers of one class must not end in one fold."""
    table = table_of({"r": np.arange(100) % 5})
    one = controlled(noise(table), table, shuffles=1)["r"]
    target = one.controls["shuffled labels"].probes[0].target
    for fold in range(5):
        assert len(set(target.labels[target.folds == fold])) > 1


def test_the_mean_over_shuffles_counts():
    table = random_table([3], 40)
    control = controlled(noise(table), table, shuffles=4)["r0"].controls["shuffled labels"]
    np.testing.assert_allclose(control.scores, np.mean([one.chosen_scores for one in control.probes], axis=0))


def test_controls_that_cannot_be_are_left_out():
    table = random_table([3], 40)
    controls = controlled(noise(table), table)["r0"].controls
    assert list(controls) == ["majority", "shuffled labels", "character n-grams", "layer 0"]
    full = random_table([3, 4], 40)
    controls = controlled(noise(full), full, random_states=noise(full, seed=4))["r0"].controls
    assert list(controls)[-2:] == ["random weights", "other relation"]


def test_a_missing_answer_to_another_relation_is_all_zero():
    table = table_of({"r1": np.arange(6) % 2, "r2": [0, -1, 1, 0, -1, 2]})
    fitted, others = OtherRelations(table=table, without="r1").split(0, np.array([0, 1, 2]), np.array([4, 5]))
    np.testing.assert_array_equal(fitted[:, 2:], [[1, 0, 0], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(others[:, 2:], [[0, 0, 0], [0, 0, 1]])


def test_n_grams_are_those_of_the_training_names():
    names = NameGrams(subjects=("ab", "ba", "zz"))
    fitted, others = names.split(0, np.array([0, 1]), np.array([2]))
    assert fitted.shape[1] == others.shape[1]
    assert fitted.any(axis=1).all()
    longer = NameGrams(subjects=("ab", "ba", "zz" * 20))
    assert longer.split(0, np.array([0, 1]), np.array([2]))[1].shape == others.shape


def test_one_seed_gives_the_same_bytes_and_threads_change_nothing():
    table = random_table([3, 40], 40)
    runs = [
        controlled(noise(table, 3), table, random_states=noise(table, 3, seed=5), seed=seed, n_jobs=n_jobs)
        for seed, n_jobs in ((7, 1), (7, 2), (8, 1))
    ]
    records = [
        [(k, [list(p.records()) for p in c.probes]) for k, c in run["r0"].controls.items()] for run in runs
    ]
    assert str(records[0]) == str(records[1])
    assert str(records[0]) != str(records[2])


def test_records_add_up_to_the_scores():
    table = random_table([3, 40], 40)
    probe = controlled(noise(table, 3), table)["r0"].probe
    records = list(probe.records())
    assert len(records) == 3 * 5
    chosen = [record for record in records if record["chosen"]]
    assert [record["fold"] for record in sorted(chosen, key=lambda record: record["fold"])] == list(range(5))
    assert sum(record["hits"] for record in chosen) == probe.chosen_scores.sum()
    assert sum(record["subjects"] for record in records if record["layer"] == 1) == 40


def test_states_of_another_table_are_refused():
    table = random_table([3], 40)
    other = noise(random_table([3], 41))
    with pytest.raises(ProbingError, match="expected states of 40 subjects, got 41"):
        controlled(other, table)
