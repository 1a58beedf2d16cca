"""Averaged selectors are averaged Jacobians, and what is written depends on the asked facts alone."""

import numpy as np
import pytest
import torch

import known_models
from georecall.dissection import HeldOutSplit
from georecall.errors import AnalysisError
from georecall.facts.worlds import random_functions
from georecall.models.recall import RecallTransformer
from georecall.progress import no_progress
from georecall.transfer.embedding_solvers import (
    METHODS,
    attribute_vectors,
    averaged_selectors,
    embedding_solver,
)

SOME = random_functions(12, 2, 7, rng=np.random.default_rng(3), missing=0.1)


def only_member(model: RecallTransformer, table=known_models.TABLE):
    (member,) = HeldOutSplit.of(model, table, seed=0).members("", no_progress)
    return member


def fixed(layer, x: torch.Tensor):
    """The output of a layer as a function of the embedding of x's subject, attention held as it is for x."""
    shares = torch.full((1, 2), 0.5, dtype=x.dtype)
    heads = [(torch.eye(x.shape[1], dtype=x.dtype),) * 2]
    if parameters := dict(layer.attention.named_parameters()):
        query, key, value, output = (parameters[name][0] for name in ("query", "key", "value", "output"))
        shares = torch.stack(
            [torch.softmax((q @ x[1]) @ (k @ x.T), 0) for q, k in zip(query, key, strict=True)]
        )
        heads = list(zip(output, value, strict=True))

    def output_of(subject: torch.Tensor) -> torch.Tensor:
        tokens = torch.stack([x[0], subject])
        z = sum(o @ v @ (share @ tokens) for (o, v), share in zip(heads, shares, strict=True))
        z = z + layer.residual * subject
        y = layer.w2[0] @ torch.relu(layer.w1[0] @ z + layer.b1[0]) + layer.b2[0]
        return y + z if layer.residual else y

    return output_of


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", [{"attention": "uniform"}, {"attention": "learned", "heads": 2}])
def test_an_averaged_selector_is_the_mean_jacobian_over_the_facts_of_its_relation(attention, residual):
    sizes = {"dim": 5, "width": 9, "attribute_dim": 5}
    model = known_models.untrained(table=SOME, members=1, residual=residual, **attention, **sizes).double()
    found = averaged_selectors(only_member(model, SOME))
    for relation in range(2):
        jacobians = []
        for subject in np.flatnonzero(SOME.answers[:, relation] >= 0):
            x = model.embed(torch.tensor([[12 + relation, subject]]))[0, 0].detach()
            jacobians.append(torch.autograd.functional.jacobian(fixed(model.layers[0], x), x[1]))
        expected = torch.stack(jacobians).mean(dim=0).detach()
        np.testing.assert_allclose(found[relation], expected, atol=1e-12)


def test_the_gates_of_the_construction_are_open_for_a_part_of_the_subjects():
    member = only_member(known_models.one_hop())
    symbols = member.attributes.shape[1]
    for relation, found in enumerate(averaged_selectors(member)):
        block = found[:, relation * symbols : (relation + 1) * symbols]
        levels = member.attributes[known_models.TABLE.answers[:, relation]]
        np.testing.assert_allclose(block, np.diag(levels.mean(axis=0)))
        assert np.count_nonzero(found) == np.count_nonzero(block)


def test_the_ridge_solver_gives_a_construction_back_its_own_embeddings():
    member = only_member(known_models.one_hop())
    written = embedding_solver("ridge", member).solve(known_models.TABLE.answers)
    np.testing.assert_allclose(written, member.subjects, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_written_for_old_facts_has_the_mean_of_the_old_embeddings(method):
    member = only_member(known_models.untrained(table=SOME, members=1), SOME)
    written = embedding_solver(method, member).solve(SOME.answers)
    np.testing.assert_allclose(written.mean(axis=0), member.subjects.mean(axis=0), atol=1e-6)


def test_the_selector_solver_gives_old_facts_the_spread_of_the_old_embeddings():
    member = only_member(known_models.untrained(members=1))
    spreads = [
        rows.var(axis=0).sum()
        for rows in (member.subjects, embedding_solver("selector", member).solve(known_models.TABLE.answers))
    ]
    assert spreads[0] == pytest.approx(spreads[1])


@pytest.mark.parametrize("method", METHODS)
def test_a_row_does_not_depend_on_the_rows_written_with_it(method):
    member = only_member(known_models.one_hop())
    new = np.random.default_rng(4).integers(-1, known_models.SUBJECTS, size=(20, 3))
    solve = embedding_solver(method, member).solve
    together, alone = solve(new), np.concatenate([solve(row[None]) for row in new])
    np.testing.assert_allclose(together, alone, atol=1e-12)
    answers = [member.ask_all(member.tensor(rows)) for rows in (together, alone)]
    np.testing.assert_array_equal(*answers)


def test_a_fact_that_is_not_known_counts_as_the_mean_of_the_relation():
    member = only_member(known_models.untrained(table=SOME, members=1), SOME)
    known = SOME.answers[SOME.answers[:, 1] >= 0, 1]
    vectors = attribute_vectors(member, np.array([[3, -1]]))
    np.testing.assert_allclose(vectors[0], [member.attributes[3], member.attributes[known].mean(axis=0)])


def test_where_all_gates_are_closed_the_selector_solver_writes_the_mean():
    model = known_models.untrained(members=1)
    model.layers[0].b1.data.fill_(-1e4)
    member = only_member(model)
    written = embedding_solver("selector", member).solve(known_models.TABLE.answers[:5])
    np.testing.assert_allclose(written, np.tile(member.subjects.mean(axis=0), (5, 1)))


def test_an_unknown_method_is_refused():
    with pytest.raises(AnalysisError, match="a method among ridge, selector, got 'lasso'"):
        embedding_solver("lasso", only_member(known_models.one_hop()))
