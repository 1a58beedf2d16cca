"""Recall counts every question, and what is not clearly right is wrong."""

import math

import numpy as np
import pytest
import torch
from recipes import TABLE, recipe, trained

from cases import WORLDS
from georecall.constructions.one_hop import OneHop
from georecall.models.recall import RecallTransformer
from georecall.training import evaluation
from georecall.training.evaluation import Recall, recall
from georecall.training.examples import Examples
from georecall.training.trainer import fresh_model

ALL = Examples.of(TABLE, 1, "direct")


def changed(change):
    model = fresh_model(TABLE, recipe())
    with torch.no_grad():
        change(model)
    return model


def collapse(model):
    model.unembedding.zero_()


def make_nan(model):
    model.unembedding.fill_(math.nan)


def tie(model):
    model.unembedding.copy_(model.unembedding[:, :1].expand_as(model.unembedding))


@pytest.mark.parametrize(("change", "margin"), [(collapse, 0), (make_nan, -math.inf), (tie, 0)])
def test_a_model_that_does_not_prefer_the_right_answer_recalls_nothing(change, margin):
    found = recall(changed(change), ALL)
    assert (found.questions, found.right.tolist()) == (12, [0, 0])
    assert found.margin.tolist() == [margin, margin]


def test_a_member_that_is_nan_does_not_touch_the_others():
    def spoil(model):
        model.unembedding[0, 0] = math.nan

    found, sound = recall(changed(spoil), ALL), recall(changed(lambda _: None), ALL)
    assert (found.right[0], found.margin[0]) == (0, -math.inf)
    assert (found.right[1], found.margin[1]) == (sound.right[1], sound.margin[1])


@pytest.mark.parametrize("world", ["family", "one fact"])
def test_a_model_that_is_right_on_all_has_recall_1(world):
    table = WORLDS[world].table
    model = RecallTransformer.from_weights(OneHop(table).weights(), dtype=torch.float64)
    examples = Examples.of(table, 1, "direct")
    found = recall(model, examples)
    assert (found.questions, found.share.tolist()) == (int((table.answers >= 0).sum()), [1.0])
    assert found.margin[0] > 0


@pytest.mark.parametrize("at_once", [1, 30, 1 << 22])
@pytest.mark.parametrize("mode", ["direct", "cot"])
def test_recall_and_lead_are_those_of_the_scores_however_they_are_cut(mode, at_once, monkeypatch):
    monkeypatch.setattr(evaluation, "SCORES_AT_ONCE", at_once)
    model = fresh_model(TABLE, recipe(hops=2, mode=mode, attention="learned"))
    examples = Examples.of(TABLE, 2, mode)
    found = recall(model, examples)
    steps = examples.targets.shape[1]
    margins = np.empty((2, len(examples), steps))
    for place in range(steps):
        ends = examples.tokens[:, : examples.tokens.shape[1] - steps + place + 1]
        scores = model(ends).detach()
        index = examples.targets[None, :, place, None].expand(2, -1, -1)
        gold = scores.gather(2, index)
        margins[:, :, place] = (gold - scores.scatter(2, index, -torch.inf).amax(2, keepdim=True))[..., 0]
    assert found.right.tolist() == (margins > 0).all(axis=2).sum(axis=1).tolist()
    np.testing.assert_allclose(found.margin, margins.min(axis=(1, 2)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("steps", [0, 15, 60])
def test_recall_of_a_chain_of_thought_is_that_of_the_model_left_to_itself(steps):
    config = recipe(hops=2, mode="cot", attention="learned", residual=True, dim=8, width=24, steps=60)
    trainer = trained(config, until=steps)
    prompts, targets = trainer.examples.tokens[:, :3], trainer.examples.targets
    right = []
    for member in range(2):
        tokens = prompts
        for _ in range(2):
            best = trainer.model(tokens)[member].argmax(dim=1)
            tokens = torch.cat([tokens, best[:, None]], dim=1)
        right.append(int((tokens[:, 3:] == targets).all(dim=1).sum()))
    assert recall(trainer.model, trainer.examples).right.tolist() == right


def test_the_share_of_no_questions_is_not_a_number():
    nothing = Recall(questions=0, right=np.array([0]), margin=np.array([np.inf]))
    assert np.isnan(nothing.share).all()
