"""C7 is judged by the method chosen on other worlds: it holds for the construction, not without selectors."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from planted import measured

from georecall.claims.claim import PRESETS
from georecall.claims.recipes import coded
from georecall.claims.registry import CLAIMS
from georecall.claims.transfer import C7
from georecall.constructions.associative import Associative
from georecall.constructions.one_hop import OneHop
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallTransformer
from georecall.progress import no_progress
from georecall.training.trainer import fresh_model
from georecall.transfer.freeze_and_swap import swap_worlds
from georecall.transfer.transfer_cell import TransferCell, TransferResult

TINY = {"dim": 8, "width": 12, "attribute_dim": 5, "steps": 4, "check_every": 4, "batch": 32}


def cell(relations, recipe="coded", **fields):
    training = coded(relations, preset="quick", seeds=2).model_copy(update=TINY)
    return TransferCell(
        n_subjects=64, n_relations=relations, recipe=recipe, training=training, worlds=2, **fields
    )


@cache
def result(model_of, relations, recipe="coded", methods=("ridge", "selector")):
    """What a cell would give if training ended with this model."""
    table = random_bijections(64, relations, rng=np.random.default_rng(0))
    asked = cell(relations, recipe)
    model, untrained = model_of(table), fresh_model(table, asked.training)
    parts = {"choosing": (model, 1), "transfer": (model, 2), "untrained": (untrained, 2)}
    swaps = {
        part: {m: swap_worlds(given, table, method=m, worlds=2, seed=seed) for m in methods}
        for part, (given, seed) in parts.items()
    }
    return measured(asked, TransferResult(recall=(1.0,), **swaps))


def constructed(table):
    return RecallTransformer.from_weights(OneHop(table).weights(), subjects=64)


def key_value(table):
    return RecallTransformer.from_weights(Associative(table).weights(), subjects=64)


def shuffled(table):
    model = constructed(table)
    model.embedding[0].data = model.embedding[0].data.roll(1, dims=1)
    return model


def untrained(table):
    return fresh_model(table, cell(len(table.relations)).training)


def test_it_holds_for_the_construction_and_says_what_was_measured():
    judgement = C7.judge([result(constructed, relations) for relations in (2, 4)])
    assert judgement.verdict == "holds"
    for part in ("N = 64", "R = 2", "R = 4", "d = 8", "a = 5", "2 seeds", "2 new worlds", "4 steps", "chance 0.0156",
                 "by ridge 1.000", "random embeddings", "untrained model"):  # fmt: skip
        assert part in judgement.measured


@pytest.mark.parametrize("model_of", [key_value, untrained])
def test_it_fails_for_models_without_selectors(model_of):
    assert C7.judge([result(model_of, relations) for relations in (2, 4)]).verdict == "fails"


def test_it_fails_for_shuffled_subjects_if_embeddings_are_fitted():
    assert (
        C7.judge([result(shuffled, relations, methods=("ridge",)) for relations in (2, 4)]).verdict == "fails"
    )


def test_one_of_two_relation_counts_that_fails_is_enough():
    assert C7.judge([result(constructed, 2), result(untrained, 4)]).verdict == "fails"


def test_the_plain_recipe_and_other_relation_counts_are_stated_and_not_judged():
    judged = [result(constructed, relations) for relations in (2, 4)]
    beside = [result(untrained, 2, "plain"), result(untrained, 3)]
    judgement = C7.judge([*judged, *beside])
    assert judgement.verdict == "holds"
    assert "[plain, N = 64, R = 2" in judgement.measured
    assert C7.judge(beside).verdict == "fails"


def with_numbers(found, part, method, **numbers):
    swaps = getattr(found.result, part)
    changed = {
        name: getattr(swaps[method], name).model_copy(update={"values": np.full(2, value)})
        for name, value in numbers.items()
    }
    swaps = swaps | {method: swaps[method].model_copy(update=changed)}
    return replace(found, result=found.result.model_copy(update={part: swaps}))


def test_the_method_is_chosen_on_worlds_that_are_not_reported():
    found = with_numbers(result(constructed, 2), "choosing", "ridge", accuracy=0.1)
    found = with_numbers(found, "transfer", "selector", accuracy=0.2)
    assert found.result.method == "selector"
    assert "0.200" in C7.judge([found]).measured
    assert C7.judge([found]).verdict == "fails"


def test_random_embeddings_that_recall_more_than_five_times_chance_are_a_failure():
    found = result(constructed, 2)
    assert C7.judge([with_numbers(found, "transfer", "ridge", random=4.9 / 64)]).verdict == "holds"
    assert C7.judge([with_numbers(found, "transfer", "ridge", random=5.1 / 64)]).verdict == "fails"


def test_a_cell_reports_every_method_on_both_sets_of_worlds_and_before_training():
    found = cell(2).measure(no_progress)
    parts = [found.choosing, found.transfer, found.untrained]
    assert all(list(part) == ["ridge", "selector"] for part in parts)
    assert parts[0]["ridge"].random.to_dict() != parts[1]["ridge"].random.to_dict()
    assert parts[1]["selector"].ranks.to_dict() != parts[2]["selector"].ranks.to_dict()
    assert len(found.recall) == 2


@pytest.mark.parametrize("preset", PRESETS)
def test_the_cells_of_a_preset_have_both_recipes_and_every_judged_relation_count(preset):
    cells = C7.cells(preset)
    assert {(c.recipe, c.n_relations) for c in cells} >= {(r, n) for r in ("plain", "coded") for n in (2, 4)}
    assert len({c.key for c in cells}) == len(cells)
    assert all(c.training.seeds == 3 and c.choosing_seed != c.worlds_seed for c in cells)


def test_it_stands_between_what_is_inside_and_depth():
    ids = [claim.id for claim in CLAIMS]
    assert ids.index("C6") < ids.index("C7") < ids.index("C8")
