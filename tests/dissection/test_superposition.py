"""The fit finds the superposition of the construction, and none where there is none."""

import numpy as np
import pytest
import torch

import known_models
from georecall.constructions.one_hop import OneHop
from georecall.dissection import HeldOutSplit, dissect
from georecall.dissection.superposition import superpose
from georecall.facts.worlds import random_bijections, random_functions
from georecall.statistics.subspaces import compare_subspaces, energy_rank


def fitted(model, table=known_models.TABLE, seed=0):
    return superpose(HeldOutSplit.of(model, table, seed=seed), rng=np.random.default_rng(1))


def test_a_constructed_embedding_is_explained_whole_and_its_shuffled_facts_explain_nothing(geometric):
    found = geometric.superposition
    assert found.note is None
    assert found.held_out_r2.values[0] >= 1 - 1e-6
    assert -0.3 < found.shuffled_r2.values[0] < 0.05


def test_every_block_of_the_construction_has_its_share_of_the_variance(geometric):
    shares = geometric.superposition.shares.values[0]
    assert shares.sum() == pytest.approx(1, abs=0.1)  # blocks are orthogonal, subjects a sample
    np.testing.assert_allclose(shares, 1 / known_models.RELATIONS, atol=0.05)


def test_blocks_are_orthogonal_subspaces_of_the_dimension_that_a_code_spans(geometric):
    subspaces = geometric.superposition.subspaces
    places = OneHop(known_models.TABLE).code.length
    assert subspaces.ranks.values.tolist() == [[places - 1] * 3]  # all codewords have the same sum
    others = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(subspaces.smallest_angles.values[0][others], 90, atol=1e-4)
    np.testing.assert_allclose(subspaces.overlaps.values[0][others], 0, atol=1e-9)


@pytest.mark.parametrize("kind", ["shuffled", "untrained", "key_value"])
def test_nothing_is_explained_where_the_embeddings_hold_no_answers(kind, request):
    found = request.getfixturevalue(kind).superposition
    assert (found.held_out_r2.values < 0.1).all()
    assert (found.shares.values < 0.1).all()


def test_the_fit_writes_the_embeddings_of_a_world_it_has_not_seen():
    fit = fitted(known_models.one_hop()).fit
    new = random_bijections(known_models.SUBJECTS, 3, rng=np.random.default_rng(9))
    attributes = known_models.one_hop().unembedding[:, : known_models.SUBJECTS].detach().numpy()
    expected = known_models.one_hop(new).embedding[0].detach().numpy()
    np.testing.assert_allclose(fit.embed(attributes, new.answers), expected, atol=1e-5)


def test_with_more_regressors_than_subjects_there_is_no_number_but_words():
    table = random_bijections(24, 3, rng=np.random.default_rng(2))
    found = fitted(known_models.untrained(table=table), table)  # 3·6 + 1 regressors for 18 subjects
    assert found.regressors == 19 > found.training_subjects == 18
    assert found.held_out_r2 is found.shuffled_r2 is found.shares is None
    assert "19 regressors and only 18 training subjects" in found.to_dict()["note"]
    assert found.fit.matrices.shape == (3, 3, 20, 6)


def test_held_out_facts_do_not_reach_the_fit():
    model, split = known_models.one_hop(), HeldOutSplit.of(known_models.one_hop(), known_models.TABLE, seed=0)
    before = fitted(model).fit
    with torch.no_grad():
        model.embedding[0][:, split.held_out] += 7
    np.testing.assert_array_equal(fitted(model).fit.matrices, before.matrices)


def test_r2_weighs_coordinates_by_their_variance():
    model = known_models.untrained()
    found = fitted(model)
    with torch.no_grad():
        model.embedding[0][..., 1:] *= 1e-6
        split = HeldOutSplit.of(model, known_models.TABLE, seed=0)
        first = model.embedding[0][:, :, 0].double().numpy()
        rows, mean = first[:, split.held_out], first[:, split.training].mean(axis=1)
    alone = fitted(model)
    vectors = model.unembedding.detach().double().numpy()[:, known_models.TABLE.answers[split.held_out]]
    predicted = np.einsum("mro,msro->ms", alone.fit.matrices[:, :, 0], vectors) + alone.fit.offset[:, :1]
    expected = 1 - ((rows - predicted) ** 2).sum(axis=1) / ((rows.T - mean) ** 2).sum(axis=0)
    np.testing.assert_allclose(alone.held_out_r2.values, expected, atol=1e-9)
    assert not np.allclose(alone.held_out_r2.values, found.held_out_r2.values, atol=1e-6)


def test_subjects_with_a_missing_fact_are_left_out():
    table = random_functions(160, 3, 40, rng=np.random.default_rng(3), missing=0.1)
    complete = (table.answers >= 0).all(axis=1)
    split = HeldOutSplit.of(known_models.one_hop(table), table, seed=0)
    assert len(split.training) + len(split.held_out) == complete.sum() < 160
    found = dissect(known_models.one_hop(table), table)
    assert found.superposition.held_out_r2.values[0] >= 1 - 1e-6
    assert found.readout.rates.values.min() == found.swap.swap.follow.values.min() == 1


@pytest.mark.parametrize(
    ("values", "rank"), [([3, 0, 0], 1), ([1, 1, 1, 1], 4), ([10, 1, 0.01], 1), ([10, 2], 2), ([0, 0], 0)]
)
def test_the_energy_rank_holds_99_percent(values, rank):
    assert energy_rank(np.array(values, dtype=float)) == rank


def test_angles_are_those_that_were_built_in_and_undefined_for_nothing():
    turn = np.radians(30)
    planes = np.zeros((1, 3, 4, 2))
    planes[0, 0, :2] = np.eye(2)
    planes[0, 1, [0, 1, 2], [0, 1, 1]] = 1, np.cos(turn), np.sin(turn)
    found = compare_subspaces(planes)
    assert found.smallest_angles.values[0, 0, 1] == pytest.approx(0, abs=1e-6)
    assert found.mean_angles.values[0, 0, 1] == pytest.approx(15)
    assert found.overlaps.values[0, 0, 1] == pytest.approx((1 + 0.75) / 2)
    assert found.chance_overlaps.values[0, 0, 1] == 0.5
    assert found.to_dict()["overlaps"]["members"][0][2] == [None] * 3
