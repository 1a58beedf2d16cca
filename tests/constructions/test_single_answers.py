"""Constructions that answer in one step give what table look-up gives, with a margin of at least 1."""

from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract, isclass
from pkgutil import iter_modules

import numpy as np
import pytest
import torch

from cases import SINGLE_ANSWER, STEP_BY_STEP, WORLDS
from georecall import constructions
from georecall.constructions.disjoint import DisjointOneHop
from georecall.constructions.one_hop import OneHop
from georecall.constructions.single_answer import SingleAnswer
from georecall.facts.queries import Queries, margins
from georecall.facts.table import FactTable
from georecall.models.dtypes import DTYPES
from georecall.models.recall import RecallTransformer

FEW_WEIGHTS = 60_000


def attributes_are_disjoint(table: FactTable) -> bool:
    answered = {
        (relation, answer) for row in table.answers for relation, answer in enumerate(row) if answer >= 0
    }
    return len({answer for _, answer in answered}) == len(answered)


def cases() -> Iterator[tuple[type[SingleAnswer], str, int]]:
    """Every construction and world, but for those that do not fit together and those that take long."""
    for kind, most in SINGLE_ANSWER.items():
        for name, world in WORLDS.items():
            if not world.table.attributes or (
                kind is DisjointOneHop and not attributes_are_disjoint(world.table)
            ):
                continue
            for hops in range(1, min(most, world.hops) + 1):
                if kind is OneHop or build(kind, name, hops).size.parameters <= FEW_WEIGHTS:
                    yield kind, name, hops


def build(kind: type[SingleAnswer], name: str, hops: int) -> SingleAnswer:
    return kind(WORLDS[name].table, hops=hops, levels=WORLDS[name].levels)


@pytest.mark.parametrize(("kind", "name", "hops"), list(cases()))
def test_every_back_end_answers_as_the_table_does_with_a_margin_of_at_least_one(kind, name, hops):
    construction = build(kind, name, hops)
    queries = WORLDS[name].queries(hops)
    prompts, gold = construction.prompts(queries), construction.gold(queries)
    weights = construction.weights()
    assert margins(weights.scores(prompts), gold).min() >= 1
    for dtype in DTYPES.values():
        model = RecallTransformer.from_weights(weights, dtype=dtype)
        with torch.inference_mode():
            scores = model(torch.from_numpy(prompts))[0].double().numpy()
        assert margins(scores, gold).min() >= 1


@pytest.mark.parametrize("name", ["missing facts", "one fact", "seven levels"])
def test_one_hop_scores_are_the_inner_products_of_codewords(name):
    one_hop = OneHop(WORLDS[name].table, levels=WORLDS[name].levels)
    queries = WORLDS[name].queries(1)
    codewords = one_hop.code.unrank(np.arange(one_hop.unknown + 1)).astype(float)
    expected = codewords[one_hop.gold(queries)] @ codewords.T
    np.testing.assert_array_equal(one_hop.weights().scores(one_hop.prompts(queries)), expected)
    assert abs(one_hop.weights().embedding).max() <= one_hop.levels - 1


def test_a_missing_fact_answers_the_unknown_and_never_the_first_attribute():
    table = WORLDS["missing facts"].table
    one_hop = OneHop(table)
    missing = np.argwhere(table.answers < 0)
    prompts = one_hop.prompts(Queries(missing[:, 0], missing[:, 1:]))
    assert len(missing) > 5
    assert set(one_hop.weights().scores(prompts).argmax(axis=1)) == {len(table.attributes)}


def test_every_construction_with_weights_runs_through_the_back_ends():
    """A construction that is written down must occur in `cases.py`, whose tables the back-end tests run."""
    found = set()
    for module in iter_modules(constructions.__path__, f"{constructions.__name__}."):
        members = vars(import_module(module.name)).values()
        found |= {
            member for member in members if isclass(member) and callable(getattr(member, "weights", None))
        }
    assert {kind for kind in found if not isabstract(kind)} == {*SINGLE_ANSWER, *STEP_BY_STEP}
