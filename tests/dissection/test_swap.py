"""An exchanged component changes one answer of a construction, and nothing where there is no component."""

import time

import numpy as np
import pytest
import torch

import known_models
from georecall.dissection import HeldOutSplit, dissect
from georecall.dissection.superposition import SuperpositionFit
from georecall.dissection.swap import SCALES, Swaps, _changes, swap_components
from georecall.facts.queries import correct
from georecall.facts.worlds import random_bijections
from georecall.progress import no_progress


def test_the_answer_follows_and_all_others_stay(geometric):
    swap = geometric.swap.swap
    assert swap.follow.values.tolist() == swap.stay.values.tolist() == [[1.0] * 3]
    assert swap.old.values.tolist() == [[0.0] * 3]


def test_no_change_leaves_every_answer(geometric):
    no_op = geometric.swap.no_op
    assert no_op.kept.values.tolist() == np.ones((1, 3, 3)).tolist()
    assert no_op.follow.values.max() == 0


def test_the_answer_does_not_follow_a_random_direction_or_another_relations_matrix(geometric):
    assert geometric.swap.random_direction.follow.values.max() < 0.05
    assert geometric.swap.wrong_relation.follow.values.max() < 0.05


def test_the_dose_tips_the_answer_of_a_construction_in_the_middle(geometric):
    follow = dict(
        zip(geometric.swap.scales, (dose.follow.mean.mean() for dose in geometric.swap.doses), strict=True)
    )
    assert follow[0.25] == 0
    assert follow[0.75] == follow[1.0] == 1


@pytest.mark.parametrize("kind", ["shuffled", "untrained", "key_value"])
def test_no_answer_follows_where_there_is_no_component(kind, request):
    swap = request.getfixturevalue(kind).swap
    assert max(dose.follow.values.max() for dose in swap.doses) < 0.05


def test_a_key_value_memory_does_not_notice_the_change(key_value):
    assert key_value.swap.swap.old.values.min() == 1


def test_with_one_relation_there_is_nothing_to_stay():
    table = random_bijections(64, 1, rng=np.random.default_rng(2))
    swap = dissect(known_models.one_hop(table), table, only=["swap"]).swap
    assert swap.swap.follow.values.tolist() == [[1.0]]
    assert swap.swap.stay is None
    assert swap.wrong_relation is None
    assert swap.to_dict()["doses"][0]["stay"] is None


def test_draws_are_held_out_subjects_with_another_attribute_and_another_relation():
    split = HeldOutSplit.of(known_models.untrained(), known_models.TABLE, seed=0)
    swaps = Swaps.draw(split, rng=np.random.default_rng(1))
    relations = np.arange(3)[:, None]
    assert set(swaps.subjects.ravel()) == set(split.held_out)
    assert (swaps.new != known_models.TABLE.answers[swaps.subjects, relations]).all()
    assert (swaps.others != relations).all()
    assert set(swaps.new.ravel()) == set(range(known_models.SUBJECTS))
    assert all(len(set(row)) == 2 for row in swaps.others)


def test_controls_are_as_long_as_the_change_or_written_by_another_matrix():
    model, rng = known_models.untrained(members=1), np.random.default_rng(8)
    split = HeldOutSplit.of(model, known_models.TABLE, seed=0)
    swaps = Swaps.draw(split, rng=rng)
    noise, matrices = rng.standard_normal((*swaps.subjects.shape, 20)), rng.standard_normal((3, 20, 6))
    (member,) = split.members("", no_progress)
    *doses, random, wrong = _changes(member, split, swaps, matrices, noise)
    whole = doses[SCALES.index(1)]
    np.testing.assert_allclose(np.linalg.norm(random, axis=-1), np.linalg.norm(whole, axis=-1))
    np.testing.assert_allclose(doses[-1], SCALES[-1] * whole)
    vectors, other = member.attributes, swaps.others[2, 5]
    change = vectors[swaps.new[2, 5]] - vectors[known_models.TABLE.answers[swaps.subjects[2, 5], 2]]
    np.testing.assert_allclose(whole[2, 5], matrices[2] @ change)
    np.testing.assert_allclose(wrong[2, 5], matrices[other] @ change)


def loop(split, matrices, swaps, draws):
    """The first draws of relation 0, one question at a time by the forward pass of the whole model."""
    model, table = split.model, split.table
    became = np.zeros(3)
    for subject, new in zip(swaps.subjects[0, :draws], swaps.new[0, :draws], strict=True):
        change = model.unembedding[0, new] - model.unembedding[0, table.answers[subject, 0]]
        for relation in range(3):
            x = model.embed(torch.tensor([[known_models.SUBJECTS + relation, subject]]))
            x[0, 0, 1] += torch.from_numpy(matrices[0]).to(x) @ change
            scores = (model.states(x)[:, :, 0] @ model.unembedding.mT)[0].numpy()
            became[relation] += correct(scores, np.array([new]))[0]
    return became


@torch.no_grad()
def test_batches_give_what_a_loop_gives_and_are_20_times_as_fast():
    model, rng = known_models.untrained(members=1), np.random.default_rng(4)
    split = HeldOutSplit.of(model, known_models.TABLE, seed=0)
    matrices = 3 * rng.standard_normal((1, 3, 20, 6))
    fit = SuperpositionFit(offset=np.zeros((1, 20)), matrices=matrices)
    started = time.perf_counter()
    found = swap_components(split, fit, rng=np.random.default_rng(7))
    batched = (time.perf_counter() - started) / (found.samples * (len(SCALES) + 2) * 3)
    swaps = Swaps.draw(split, rng=np.random.default_rng(7))
    draws = swaps.subjects.shape[1]
    started = time.perf_counter()
    became = loop(split, matrices[0], swaps, draws)
    single = (time.perf_counter() - started) / (draws * 3)
    np.testing.assert_allclose(found.swap.became.values[0, 0], became / draws, atol=1e-12)
    assert became.any()
    assert single > 20 * batched
