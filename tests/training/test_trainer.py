"""Training is plain AdamW on every member, a function of config, table and step only, and it does learn."""

import copy
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from recipes import MIXED, TABLE, recipe, same_weights, trained
from torch.nn import functional

from georecall.errors import TrainingError
from georecall.facts.worlds import random_bijections
from georecall.training.examples import Examples
from georecall.training.optimiser import SLOW, SLOWLY
from georecall.training.trainer import Trainer, fresh_model, schedule

NEVER = None


def plain_scores(weights, tokens, attention, residual):
    """Scores after the last token of one model, in plain torch."""
    table = torch.cat([weights["embedding.0"], weights["embedding.1"]])
    x = functional.embedding(tokens, table) + weights["positions"]
    if attention == "uniform":
        z = x.mean(dim=1)
    else:
        query, key, value = (
            x @ weights[f"layers.0.attention.{name}"][0].T for name in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query[:, -1:], key, value, scale=1.0)
        z = mixed[:, 0] @ weights["layers.0.attention.output"][0].T
    z = z + residual * x[:, -1]
    hidden = functional.relu(functional.linear(z, weights["layers.0.w1"], weights["layers.0.b1"]))
    y = functional.linear(hidden, weights["layers.0.w2"], weights["layers.0.b2"]) + residual * z
    return y @ weights["unembedding"].T


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_losses_are_those_of_a_plain_loop_of_torch(attention, residual):
    steps = 20
    config = recipe(
        attention=attention, residual=residual, weight_decay=0.1, label_smoothing=0.1,
        seeds=1, steps=steps, check_every=1, margin=NEVER,
    )  # fmt: skip
    model, examples = fresh_model(TABLE, config), Examples.of(TABLE, 1, "direct")
    weights = {name: torch.nn.Parameter(value[0].clone()) for name, value in model.state_dict().items()}
    slow = [value for name, value in weights.items() if name.endswith(SLOW)]
    quick = [value for name, value in weights.items() if not name.endswith(SLOW)]
    adamw = torch.optim.AdamW([{"params": quick}, {"params": slow}], weight_decay=0.1)
    losses = []
    for step in range(steps):  # warm-up over 5 % of 20 steps, which is one step; then half a cosine
        factor = 1 if step == 0 else (1 + math.cos(math.pi * (step - 1) / 19)) / 2
        for group, share in zip(adamw.param_groups, (1, SLOWLY), strict=True):
            group["lr"] = 0.01 * factor * share
        scores = plain_scores(weights, examples.tokens, attention, residual)
        loss = functional.cross_entropy(scores, examples.targets[:, 0], label_smoothing=0.1)
        losses.append(loss.item())
        adamw.zero_grad()
        loss.backward()
        adamw.step()
    found = [checked.loss[0] for checked in trained(config).history]
    np.testing.assert_allclose(found, losses, rtol=1e-4)


@pytest.mark.parametrize(
    "fields", [{}, {"hops": 2, "mode": "cot", "attention": "learned"}], ids=["one", "cot"]
)
def test_a_member_trains_as_it_does_alone(fields):
    common = fields | {"margin": NEVER}
    together = trained(recipe(seeds=3, learning_rates=(0.01, 0.02), **common))
    alone = trained(recipe(seeds=1, first_seed=1, learning_rates=(0.02,), **common))
    member = together.config.members.index((0.02, 1))
    for one, many in zip(alone.model.parameters(), together.model.parameters(), strict=True):
        torch.testing.assert_close(one[0], many[member], rtol=1e-3, atol=1e-4)
    assert alone.history[-1].loss[0] == pytest.approx(together.history[-1].loss[member], rel=1e-4)


@pytest.mark.usefixtures("one_thread")
def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    one, again = trained(recipe(**MIXED)), trained(recipe(**MIXED))
    assert same_weights(one.model, again.model)
    assert one.history == again.history
    other = trained(recipe(**MIXED, first_seed=20_240_101)).model.state_dict()
    assert not any(torch.equal(value, other[name]) for name, value in one.model.state_dict().items())


def test_the_global_random_state_is_neither_read_nor_changed():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = trained(recipe(**MIXED), until=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    assert same_weights(first.model, trained(recipe(**MIXED), until=3).model)


@pytest.mark.parametrize(
    "field", [{"embedding_noise": 0.0}, {"label_smoothing": 0.0}, {"batch": 6}, {"weight_decay": 0.0}]
)
def test_every_part_of_the_recipe_matters(field):
    assert not same_weights(trained(recipe(**MIXED)).model, trained(recipe(**MIXED | field)).model)


@pytest.mark.usefixtures("one_thread")
def test_training_that_pauses_is_training_that_does_not():
    paused, straight = trained(recipe(**MIXED), until=6), trained(recipe(**MIXED))
    assert (paused.step, paused.finished) == (6, False)
    paused.run()
    assert same_weights(paused.model, straight.model)
    assert paused.history == straight.history


def test_no_steps_are_no_training():
    assert same_weights(trained(recipe(), until=0).model, fresh_model(TABLE, recipe()))


def test_an_epoch_goes_through_every_question_once():
    trainer = Trainer(TABLE, recipe(batch=4))
    seen = []
    for trainer.step in range(6):
        seen.append([tuple(tokens) for tokens in trainer._batch().tokens.tolist()])
    everything = sorted(map(tuple, trainer.examples.tokens.tolist()))
    assert sorted(seen[0] + seen[1] + seen[2]) == sorted(seen[3] + seen[4] + seen[5]) == everything
    assert seen[:3] != seen[3:]


def test_noise_is_on_entities_only_and_has_the_size_asked_for():
    table = random_bijections(200, 2, rng=np.random.default_rng(1))
    config = recipe(hops=2, mode="cot", attention="learned", dim=16, embedding_noise=0.5)
    trainer = Trainer(table, config)
    with torch.no_grad():
        trainer.model.embedding[0] *= 3
        tokens = trainer.examples.tokens
        x = trainer.model.embed(tokens)
        added = trainer._noisy(x, tokens) - x
    assert not added[:, :, :2].any()
    assert added[:, :, 2:].std().item() == pytest.approx(1.5, rel=0.02)


def test_warm_up_ends_at_the_full_rate_and_the_schedule_at_none():
    factors = [schedule(step, 100) for step in range(101)]
    assert factors[:6] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0])
    assert all(one > other for one, other in pairwise(factors[5:]))
    assert factors[100] == pytest.approx(0)


EASY = {"dim": 8, "width": 32, "learning_rates": (0.02,), "steps": 400, "check_every": 10}


@pytest.mark.parametrize("margin", [0.0, 2.0])
def test_training_stops_at_the_first_look_at_which_every_lead_is_above_the_margin(margin):
    trainer = trained(recipe(**EASY, margin=margin))
    *before, last = trainer.history
    assert trainer.finished
    assert trainer.step == last.step < 400
    assert min(last.margin) > margin
    assert before
    assert all(min(checked.margin) <= margin for checked in before)


def test_without_a_margin_training_never_stops():
    trainer = trained(recipe(**EASY | {"steps": 100}, margin=NEVER))
    assert trainer.step == 100
    assert min(trainer.history[-1].margin) > 0


LEARNED = {"attention": "learned", "residual": True, "learning_rates": (0.002,), "steps": 500}
COMPOSED = LEARNED | {"hops": 2, "dim": 16, "width": 256, "check_every": 20}


@pytest.mark.parametrize(
    ("subjects", "fields"),
    [
        (32, EASY),
        (32, LEARNED | {"dim": 8, "width": 64, "learning_rates": (0.003,)}),
        (16, COMPOSED | {"learning_rates": (0.005,)}),
        (16, COMPOSED | {"mode": "cot"}),
    ],
    ids=["uniform", "learned", "two hops at once", "two hops by a chain of thought"],
)
def test_a_small_world_is_learned(subjects, fields):
    table = random_bijections(subjects, 2, rng=np.random.default_rng(0))
    trainer = trained(recipe(**{"seeds": 1} | fields), table)
    assert len(trainer.examples) == subjects * 2**trainer.config.hops
    assert trainer.history[-1].recall == [1.0]


def test_questions_that_are_held_out_are_asked_apart_and_never_trained_on():
    trainer = Trainer(TABLE, recipe(hops=2, attention="learned", held_out=0.25, dim=8, width=32, steps=100))
    asked = {tuple(tokens) for tokens in trainer.examples.tokens.tolist()}
    held = {tuple(tokens) for tokens in trainer.held_out.tokens.tolist()}
    assert (len(asked), len(held), len(asked | held)) == (18, 6, 24)
    trainer.run()
    last = trainer.history[-1]
    assert all(share * 6 == pytest.approx(round(share * 6)) for share in last.held_out_recall)
    assert min(last.recall) > max(last.held_out_recall)
    assert trained(recipe()).history[-1].held_out_recall is None


def test_a_run_that_diverges_is_an_error_that_names_the_step():
    with pytest.raises(
        TrainingError, match="every member has diverged by step 4; try a smaller learning rate"
    ):
        trained(recipe(learning_rates=(1e15,)))


def test_a_member_that_diverges_leaves_the_others_to_go_on():
    together = trained(recipe(learning_rates=(0.01, 1e15), seeds=1, margin=NEVER))
    alone = trained(recipe(seeds=1, margin=NEVER))
    assert math.isnan(together.history[-1].loss[1])
    assert (together.history[-1].recall[1], together.history[-1].margin[1]) == (0, -math.inf)
    for one, many in zip(alone.model.parameters(), together.model.parameters(), strict=True):
        torch.testing.assert_close(one[0], many[0], rtol=1e-3, atol=1e-4)


def test_progress_counts_the_steps_and_says_how_it_stands():
    calls = []
    trainer = Trainer(TABLE, recipe(margin=NEVER))
    trainer.run(progress=lambda *call: calls.append(call))
    assert [call[:3] for call in calls] == [("training", step, 12) for step in range(1, 13)]
    assert calls[0][3] == ""
    assert calls[-1][3].startswith("loss ")
    assert "recall of 12: " in calls[-1][3]


def test_the_table_and_the_config_are_not_changed():
    table, config = copy.deepcopy(TABLE), recipe(**MIXED)
    trained(config, table)
    assert (table.digest(), config) == (TABLE.digest(), recipe(**MIXED))
