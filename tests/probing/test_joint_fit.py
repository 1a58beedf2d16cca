"""The joint fit finds the superposition that was written, by the relations that wrote it."""

import json

import numpy as np
import pytest

from georecall.errors import ProbingError
from georecall.probing.explained import held_out_residuals
from georecall.probing.joint_fit import fit_jointly
from georecall.probing.superposition_map import fit_superposition, relation_codes
from planted_states import layers_with, random_table, superposed, table_of, vectors_of


def fitted(states, table, vectors=None, **options):
    vectors = vectors_of(table) if vectors is None else vectors
    return fit_jointly(states, table, vectors, table.relations, **options)


@pytest.fixture(scope="module")
def table():
    return random_table([4, 5, 6], 300)


@pytest.fixture(scope="module")
def signal(table):
    return superposed(table, vectors_of(table), 20)


@pytest.fixture(scope="module")
def noiseless(table, signal):
    return fitted(layers_with(signal, 3, 0.0, at=[1, 2]) + layers_with(0 * signal, 3, 1e-6), table)


def test_a_superposition_without_noise_is_explained_whole(noiseless):
    assert noiseless.joint.chosen.value > 0.999
    assert noiseless.joint.by_layer[1].value > 0.999
    assert noiseless.shuffled.chosen.value < 0.05


def test_many_attributes_of_few_dimensions_are_explained_from_half_of_them():
    table = table_of({"r0": np.arange(200), "r1": np.random.default_rng(0).permutation(200)})
    vectors = vectors_of(table, out=20)
    found = fitted(layers_with(superposed(table, vectors, 64), 2, 0.0), table, vectors)
    assert found.regressors == (20, 20)
    assert found.joint.by_layer[1].value > 0.999
    assert found.shuffled.by_layer[1].value < 0.1


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_r2_is_what_the_noise_implies(table, signal, noise):
    spread = np.sqrt(signal.var(axis=0).sum() / signal.shape[1])
    states = layers_with(signal, 3, noise * spread, at=[2])
    found = fitted(states, table)
    missed = noise**2 / (1 + noise**2) * (1 + (12 + 1) / 240)  # the fit of 3 + 4 + 5 regressors errs as well
    assert found.joint.chosen.low < 1 - missed < found.joint.chosen.high
    assert found.joint.chosen.high - found.joint.chosen.low < 0.1
    assert found.chosen_layers == (2,) * 5
    assert found.joint.by_layer[1].value < 0.05


def test_each_relation_explains_its_part_and_no_other_explains_it(noiseless, table):
    parts = np.array([noiseless.unique[relation].chosen.value for relation in table.relations])
    alone = np.array([noiseless.alone[relation].chosen.value for relation in table.relations])
    assert parts.sum() == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(alone, parts, atol=0.1)  # the relations are all but independent
    np.testing.assert_allclose(noiseless.shares[1], parts, atol=0.1)
    for relation in table.relations:
        joint, without = noiseless.joint.chosen.value, noiseless.without[relation].chosen.value
        assert noiseless.unique[relation].chosen.value == pytest.approx(joint - without)


def test_a_relation_that_another_determines_has_no_part_of_its_own():
    first = np.random.default_rng(0).permutation(np.arange(200) % 6)
    table = table_of({"r1": first, "r2": first % 2})
    found = fitted(layers_with(superposed(table, vectors_of(table), 12), 2, 0.01), table)
    assert found.alone["r2"].chosen.value > 0.1
    assert found.unique["r2"].chosen.value == pytest.approx(0, abs=0.01)


def test_random_states_explain_nothing_and_choose_their_own_layers(table, signal):
    untrained = layers_with(signal, 4, 1.0, at=[3])
    found = fitted(layers_with(signal, 4, 1.0, at=[1]), table, random_states=untrained)
    assert found.random.by_layer[1].value < 0.05
    assert found.random.by_layer[3].value > 0.5
    assert found.random.chosen == found.random.by_layer[3]
    assert found.joint.chosen == found.joint.by_layer[1]


def test_layer_0_is_never_chosen(table, signal):
    found = fitted(layers_with(signal, 3, 1.0, at=[0, 2]) + layers_with(signal, 3, 0.0, at=[0]), table)
    assert found.joint.by_layer[0].value > found.joint.by_layer[2].value
    assert found.chosen_layers == (2,) * 5


def test_layers_keep_their_numbers(table, signal):
    found = fitted(layers_with(signal, 3, 1.0, at=[2]), table, layers=(0, 7, 11))
    assert found.layers == (0, 7, 11)
    assert found.chosen_layers == (11,) * 5


def test_relations_that_write_to_the_same_place_are_told_from_those_that_do_not():
    table = random_table([4, 4, 4], 240)
    vectors = vectors_of(table)
    rng = np.random.default_rng(0)
    place, other = rng.normal(size=(3, 30)), rng.normal(size=(3, 30))
    codes = [code[:, :3] for code in relation_codes(table.answers, vectors)]
    written = [
        code[column] @ axes
        for code, column, axes in zip(codes, table.answers.T, (place, place, other), strict=True)
    ]
    states = layers_with(np.sum(written, axis=0), 2, 0.01)
    found = fitted(states, table, vectors).subspaces[1]
    overlaps = found.overlaps.values[0]
    assert found.ranks.values[0].tolist() == [3, 3, 3]
    assert overlaps[0, 1] > 0.95
    assert overlaps[0, 2] < 0.3
    assert found.chance_overlaps.values[0, 0, 2] == pytest.approx(3 / 30)


def test_subjects_without_an_answer_to_every_relation_are_left_out(table, signal):
    answers = table.answers.copy()
    answers[::10, 1] = -1
    gaps = type(table)(table.subjects, table.relations, table.attributes, answers)
    states = layers_with(signal, 2, 1.0)
    before = fitted(states, gaps)
    states[:, ::10] = 1e6
    assert before.subjects == 270
    assert fitted(states, gaps).joint == before.joint


def test_held_out_subjects_do_not_reach_the_fit_of_their_fold(table, signal):
    folds = np.arange(300) % 5
    vectors = [np.eye(15)[column] for column in table.answers.T]
    states = layers_with(signal, 2, 1.0).astype(np.float64)
    before = held_out_residuals(vectors, states, folds)
    held_out = np.flatnonzero(folds == 0)
    states[:, held_out[::2]] += 5
    after = held_out_residuals(vectors, states, folds)
    np.testing.assert_array_equal(before.left_out[:, 0], after.left_out[:, 0])
    kept = held_out[1::2]
    np.testing.assert_allclose(before.residuals.missed[:, kept], after.residuals.missed[:, kept], rtol=1e-9)
    assert not np.allclose(before.left_out[:, 1], after.left_out[:, 1])


def test_too_few_complete_subjects_are_refused():
    column = np.arange(40) % 3
    gaps = np.where(np.arange(40) < 19, column, -1)
    table = table_of({"r0": column, "r1": gaps})
    with pytest.raises(ProbingError, match="20 subjects with an answer to each of 2 relations, got 19"):
        fitted(layers_with(np.zeros((40, 4)), 2, 1.0), table)


def test_one_relation_alone_is_a_joint_fit_too():
    table = random_table([4], 60)
    found = fitted(layers_with(superposed(table, vectors_of(table), 8), 2, 0.1), table)
    assert found.unique["r0"].chosen.value == pytest.approx(found.joint.chosen.value, abs=0.05)


def test_one_seed_gives_the_same_bytes_threads_change_nothing_and_results_are_json(table, signal):
    states = layers_with(signal, 2, 1.0)
    states[0] = states[0, :1]  # one state for all subjects
    runs = [
        json.dumps(fitted(states, table, seed=seed, n_jobs=n_jobs).to_dict(), allow_nan=False)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_the_map_gives_back_the_states_and_their_components(table, signal):
    vectors = vectors_of(table)
    rows = np.arange(0, 300, 2)
    fit = fit_superposition(signal.astype(np.float32), table.answers, vectors, rows)
    np.testing.assert_allclose(fit.embed(table.answers), signal, atol=1e-3)
    old, new = table.answers[:5].copy(), table.answers[:5].copy()
    new[:, 1] = np.roll(new[:, 1], 1)
    swapped = fit.component(1, new[:, 1]) - fit.component(1, old[:, 1])
    np.testing.assert_allclose(fit.embed(new) - fit.embed(old), swapped, atol=1e-9)


def test_the_map_knows_attributes_that_its_subjects_do_not_have():
    table = table_of({"r0": np.arange(100), "r1": np.random.default_rng(0).permutation(100)})
    vectors = vectors_of(table, out=10)
    signal = superposed(table, vectors, 40)
    fit = fit_superposition(signal.astype(np.float32), table.answers, vectors, np.arange(60))
    np.testing.assert_allclose(fit.embed(table.answers), signal, atol=1e-2)


def test_a_map_of_subjects_with_missing_answers_is_refused():
    table = table_of({"r0": [0, 1, -1, 1]})
    with pytest.raises(ProbingError, match="got subject 2 without one"):
        fit_superposition(np.zeros((4, 3), dtype=np.float32), table.answers, np.eye(2), np.array([0, 2]))
