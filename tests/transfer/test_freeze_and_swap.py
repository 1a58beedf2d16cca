"""New facts are written into models that select, and into no others; nothing else changes."""

import copy
import json

import numpy as np
import pytest
import torch

import known_models
from georecall.dissection import HeldOutSplit
from georecall.errors import AnalysisError, UnknownNameError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections, random_functions
from georecall.models.recall import RecallTransformer
from georecall.progress import no_progress
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer
from georecall.transfer.embedding_solvers import METHODS, embedding_solver
from georecall.transfer.freeze_and_swap import insert_subjects, swap_worlds

CHANCE = 1 / known_models.SUBJECTS


def open_only_where_positive(model: RecallTransformer) -> RecallTransformer:
    """A turned construction has pre-activations of 0 but for rounding, half of them above: no gate is to open there."""
    model.layers[0].b1.data -= 1e-9
    return model


MODELS = {
    "plain": known_models.one_hop(),
    "rotated": open_only_where_positive(known_models.rotated(known_models.one_hop())),
}
NOTHING = {"untrained": known_models.untrained(), "key-value": known_models.key_value()}


def part(table: FactTable, rows: slice) -> FactTable:
    return FactTable(table.subjects[rows], table.relations, table.attributes, table.answers[rows].copy())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", MODELS)
def test_a_construction_recalls_new_worlds(kind, method):
    found = swap_worlds(MODELS[kind], known_models.TABLE, method=method, worlds=3)
    assert found.accuracy.worlds.tolist() == [[1.0] * 3]
    assert found.old.values.tolist() == [1.0]
    assert max(found.random.values.max(), found.permuted.values.max()) < 5 * CHANCE


def test_a_turned_construction_whose_gates_open_by_rounding_is_written_exactly_by_ridge_only():
    model = known_models.rotated(known_models.one_hop())
    assert swap_worlds(model, known_models.TABLE, method="ridge").accuracy.worlds.min() == 1
    assert 0.5 < swap_worlds(model, known_models.TABLE, method="selector").accuracy.worlds.max() < 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", NOTHING)
def test_a_model_without_selectors_recalls_next_to_nothing(kind, method):
    found = swap_worlds(NOTHING[kind], known_models.TABLE, method=method, worlds=2)
    assert found.accuracy.worlds.max() < 8 * CHANCE


def test_embeddings_of_other_subjects_mislead_the_ridge_solver_and_not_the_selector_solver():
    shuffled = known_models.with_shuffled_subjects(known_models.one_hop())
    ridge, selector = (
        swap_worlds(shuffled, known_models.TABLE, method=method, worlds=2) for method in METHODS
    )
    assert ridge.accuracy.worlds.max() < 5 * CHANCE
    assert selector.accuracy.worlds.min() == 1
    assert ridge.old.values.max() < 5 * CHANCE


@pytest.mark.parametrize("method", METHODS)
def test_all_parameters_are_bit_equal_after_a_swap_and_an_insertion(method):
    model = known_models.untrained(attention="learned", residual=True, attribute_dim=20)
    bits = [parameter.detach().clone() for parameter in model.parameters()]
    swap_worlds(model, known_models.TABLE, method=method, worlds=1)
    insert_subjects(model, known_models.TABLE, FactTable.from_facts([("new", "r0", "x1")]), method=method)
    assert all(torch.equal(old, new) for old, new in zip(bits, model.parameters(), strict=True))


def test_new_worlds_are_bijections_and_others_for_every_seed():
    found = [
        swap_worlds(known_models.untrained(), known_models.TABLE, worlds=2, seed=seed).to_dict()
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1]
    assert found[0]["random"] != found[2]["random"]
    assert json.loads(json.dumps(found[0], allow_nan=False)) == found[0]


def test_interference_is_the_sum_of_the_effective_ranks_over_the_dimension():
    found = swap_worlds(known_models.untrained(), known_models.TABLE, worlds=1)
    assert found.ranks.values.shape == (3, 3)
    np.testing.assert_allclose(found.interference.values, found.ranks.values.sum(axis=1) / 20)
    symbols = known_models.one_hop().unembedding.shape[2]
    ranks = swap_worlds(known_models.one_hop(), known_models.TABLE, worlds=1).ranks.values
    assert (ranks < symbols).all()
    assert (ranks > 0.9 * (symbols - 1)).all()


def test_a_trained_model_of_low_rank_recalls_new_worlds_far_above_controls():
    table = random_bijections(64, 2, rng=np.random.default_rng(0))
    config = TrainConfig(
        dim=16, width=64, attribute_dim=6, seeds=1, steps=400, batch=128, learning_rates=(0.02,), margin=None,
        embedding_noise=0.3, label_smoothing=0.1, weight_decay=0.1, check_every=400,
    )  # fmt: skip
    trainer = Trainer(table, config)
    trainer.run()
    for method in METHODS:
        found = swap_worlds(trainer.model, table, method=method, worlds=2)
        assert found.old.values.min() > 0.99
        assert found.accuracy.values.min() > 0.5
        assert max(found.random.values.max(), found.permuted.values.max()) < 0.08


@pytest.mark.parametrize("attributes", [6, 40])
@pytest.mark.parametrize("turn", [False, True])
def test_new_subjects_are_inserted_into_a_construction_with_many_to_one_and_missing_facts(attributes, turn):
    table = random_functions(128, 3, attributes, rng=np.random.default_rng(3), missing=0.15)
    old, new = part(table, slice(96)), part(table, slice(96, 128))
    model = known_models.rotated(known_models.one_hop(old)) if turn else known_models.one_hop(old)
    found = insert_subjects(model, old, new)
    assert found.accuracy.values.tolist() == [1.0]
    assert found.random.values.max() < 0.4
    assert found.facts + found.left_out == new.n_facts
    assert found.subjects == 32
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["chance"] == 1 / attributes


def test_relations_are_found_by_name_and_attributes_without_an_old_answer_are_left_out():
    old = FactTable.from_facts(
        [(f"s{n}", relation, f"{relation}{n % 3}") for n in range(60) for relation in ("a", "b")]
    )
    new = FactTable.from_facts(
        [("t", "b", "b2"), ("t", "a", "b1"), ("u", "b", "elsewhere"), ("u", "a", "a0")]
    )
    found = insert_subjects(known_models.one_hop(old), old, new)
    assert (found.facts, found.left_out, found.accuracy.values.tolist()) == (2, 2, [1.0])
    assert found.majority == 0.5


def test_answers_about_a_new_subject_do_not_depend_on_the_others_inserted():
    table = random_functions(128, 3, 40, rng=np.random.default_rng(3))
    old, new = part(table, slice(96)), part(table, slice(96, 128))
    model = known_models.untrained(table=old, members=1)
    shares = []
    for row in range(96, 128):
        one = insert_subjects(model, old, part(table, slice(row, row + 1)), method="selector")
        shares.append(one.accuracy.mean * one.facts)
    together = insert_subjects(model, old, new, method="selector")
    assert sum(shares) == pytest.approx(together.accuracy.mean * together.facts)
    assert sum(shares) > 0


def test_inserted_rows_leave_the_scores_of_old_subjects_bit_equal():
    model = known_models.untrained(members=1)
    (member,) = HeldOutSplit.of(model, known_models.TABLE, seed=0).members("", no_progress)
    rows = member.tensor(embedding_solver("ridge", member).solve(known_models.TABLE.answers[[5, 9]]))
    larger = copy.deepcopy(model)
    larger.embedding[0] = torch.nn.Parameter(torch.cat([model.embedding[0], rows[None]], dim=1))
    old = torch.cartesian_prod(torch.arange(3), torch.arange(known_models.SUBJECTS))
    before = model(old + torch.tensor([known_models.SUBJECTS, 0]))
    assert torch.equal(before, larger(old + torch.tensor([known_models.SUBJECTS + 2, 0])))


def test_a_model_that_is_not_finite_is_refused():
    model = known_models.untrained()
    model.layers[0].w2.data[1, 0, 0] = torch.nan
    with pytest.raises(AnalysisError, match=r"NaN or infinity in layers\.0\.w2 of member 1"):
        swap_worlds(model, known_models.TABLE)


def test_a_world_that_is_no_bijection_is_not_swapped():
    fewer = random_functions(16, 2, 9, rng=np.random.default_rng(0))
    with pytest.raises(AnalysisError, match="as many attributes as its 16 subjects, got 9"):
        swap_worlds(known_models.one_hop(fewer), fewer)
    for missing in (0.0, 0.1):
        other = random_functions(16, 2, 16, rng=np.random.default_rng(0), missing=missing)
        with pytest.raises(AnalysisError, match="relation 'r0' does not give every attribute to one subject"):
            swap_worlds(known_models.one_hop(other), other)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "lasso"}, "among ridge, selector, got 'lasso'"),
        ({"worlds": 0}, "worlds must be 1 or more, got 0"),
    ],
)
def test_what_cannot_be_swapped_is_refused(options, says):
    with pytest.raises(AnalysisError, match=says):
        swap_worlds(known_models.untrained(), known_models.TABLE, **options)


@pytest.mark.parametrize(
    ("facts", "error", "says"),
    [
        (
            [("x3", "r0", "x1"), ("new", "r0", "x1")],
            AnalysisError,
            "new subjects, got 1 that the model has: 'x3'",
        ),
        (
            [("new", "r0", "x1"), ("new", "father", "x1"), ("new", "son", "x1")],
            UnknownNameError,
            "got 'father', 'son'",
        ),
        ([("new", "r0", "nowhere")], AnalysisError, "has for the same relation, got none"),
    ],
)
def test_new_subjects_that_cannot_be_inserted_are_refused(facts, error, says):
    with pytest.raises(error, match=says):
        insert_subjects(known_models.untrained(), known_models.TABLE, FactTable.from_facts(facts))


def test_an_unknown_method_of_insertion_is_refused():
    new = FactTable.from_facts([("new", "r0", "x1")])
    with pytest.raises(AnalysisError, match="among ridge, selector"):
        insert_subjects(known_models.untrained(), known_models.TABLE, new, method="lasso")
