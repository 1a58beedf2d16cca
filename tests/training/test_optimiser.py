"""AdamW on an ensemble is AdamW on every member, and leaves alone what is frozen."""

import copy

import pytest
import torch
from recipes import TABLE, recipe, trained

from georecall.training.optimiser import FROZEN, EnsembleAdamW, freeze
from georecall.training.trainer import Trainer, fresh_model

RATES = (0.1, 0.1, 0.02)
FACTORS = (0.5, 1.0, 0.25)


def ensemble(what="none"):
    model = fresh_model(TABLE, recipe(seeds=len(RATES)))
    freeze(model, what)
    return model


def gradients(model):
    generator = torch.Generator().manual_seed(1)
    return [
        [torch.randn(parameter.shape, generator=generator) for parameter in model.parameters()]
        for _ in FACTORS
    ]


def step(optimiser, model, drawn, factor):
    for parameter, gradient in zip(model.parameters(), drawn, strict=True):
        if parameter.requires_grad:
            parameter.grad += gradient
    optimiser.step(factor)


def test_an_ensemble_steps_as_an_adamw_for_each_member():
    model = ensemble()
    start, drawn = copy.deepcopy(model), gradients(model)
    optimiser = EnsembleAdamW(model, RATES, weight_decay=0.1)
    for given, factor in zip(drawn, FACTORS, strict=True):
        step(optimiser, model, given, factor)
    for member, rate in enumerate(RATES):
        alone = [torch.nn.Parameter(parameter.data[member].clone()) for parameter in start.parameters()]
        plain = torch.optim.AdamW(alone, weight_decay=0.1)
        for given, factor in zip(drawn, FACTORS, strict=True):
            plain.param_groups[0]["lr"] = rate * factor
            for parameter, gradient in zip(alone, given, strict=True):
                parameter.grad = gradient[member].clone()
            plain.step()
        for parameter, other in zip(model.parameters(), alone, strict=True):
            torch.testing.assert_close(parameter[member], other, rtol=1e-5, atol=1e-6)


def test_gradients_are_zero_after_a_step():
    model = ensemble()
    step(EnsembleAdamW(model, RATES, weight_decay=0.0), model, gradients(model)[0], 1.0)
    assert not any(parameter.grad.any() for parameter in model.parameters())


def test_a_state_that_is_loaded_goes_on_bit_for_bit():
    model = ensemble("subjects")
    optimiser = EnsembleAdamW(model, RATES, weight_decay=0.1)
    first, *rest = gradients(model)
    step(optimiser, model, first, 1.0)
    copied = copy.deepcopy(model)
    other = EnsembleAdamW(copied, RATES, weight_decay=0.1)
    other.load_state({name: value.clone() for name, value in optimiser.state().items()})
    assert all(torch.equal(value, other.state()[name]) for name, value in optimiser.state().items())
    for given in rest:
        step(optimiser, model, given, 0.5)
        step(other, copied, given, 0.5)
    for one, many in zip(model.parameters(), copied.parameters(), strict=True):
        assert torch.equal(one, many)
    assert optimiser.state().keys() == other.state().keys()


@pytest.mark.parametrize("what", FROZEN)
def test_what_is_frozen_stays_bit_for_bit_and_all_else_moves(what):
    config = recipe(freeze=what, attention="learned", weight_decay=0.1, margin=None)
    before = fresh_model(TABLE, config).state_dict()
    after = trained(config).model.state_dict()
    stayed = {name for name in before if torch.equal(before[name], after[name])}
    assert stayed == set(FROZEN[what])


@pytest.mark.parametrize("what", FROZEN)
def test_the_optimiser_holds_moments_of_what_is_trained_only(what):
    trainer = Trainer(TABLE, recipe(freeze=what))
    trainer.run(until=1)
    shapes = [tuple(value.shape) for value in trainer.optimiser.state().values() if value.ndim]
    free = [tuple(p.shape) for name, p in trainer.model.named_parameters() if name not in FROZEN[what]]
    assert shapes == [shape for shape in free for _ in range(2)]
    assert all(trainer.model.get_parameter(name).grad is None for name in FROZEN[what])
