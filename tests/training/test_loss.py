"""The loss of an ensemble is torch's cross-entropy of every member, however it is cut into pieces."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from georecall.training import loss as module
from georecall.training.loss import cross_entropy

EXACT = {"rtol": 1e-10, "atol": 1e-10}
sizes = st.integers(1, 7)


def inputs(*, members, batch, outputs, out, seed=0):
    generator = torch.Generator().manual_seed(seed)
    states = 3 * torch.randn(members, batch, out, generator=generator, dtype=torch.float64)
    unembedding = torch.randn(members, outputs, out, generator=generator, dtype=torch.float64)
    targets = torch.randint(outputs, (batch,), generator=generator)
    return states.requires_grad_(), unembedding.requires_grad_(), targets


def expected(states, unembedding, targets, smoothing):
    return torch.stack(
        [
            functional.cross_entropy(y @ table.T, targets, label_smoothing=smoothing)
            for y, table in zip(states, unembedding, strict=True)
        ]
    )


@given(
    shape=st.fixed_dictionaries({"members": sizes, "batch": sizes, "outputs": sizes}),
    held=st.integers(1, 60),
    smoothing=st.sampled_from([0.0, 0.1, 0.9]),
    seed=st.integers(0, 99),
)
def test_values_and_gradients_are_those_of_torch(shape, held, smoothing, seed):
    states, unembedding, targets = inputs(**shape, out=3, seed=seed)
    weights = torch.arange(1, shape["members"] + 1, dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SCORES_AT_ONCE", {"cpu": held})
        found = cross_entropy(states, unembedding, targets, label_smoothing=smoothing)
    wanted = expected(states, unembedding, targets, smoothing)
    torch.testing.assert_close(found, wanted, **EXACT)
    gradients = torch.autograd.grad((found * weights).sum(), (states, unembedding))
    right = torch.autograd.grad((wanted * weights).sum(), (states, unembedding))
    for gradient, other in zip(gradients, right, strict=True):
        torch.testing.assert_close(gradient, other, **EXACT)


@pytest.mark.parametrize("smoothing", [0.0, 0.25])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_very_unlikely_target_has_a_finite_loss(dtype, smoothing):
    states, targets = torch.tensor([[[1e4]]], dtype=dtype), torch.tensor([1])
    unembedding = torch.tensor([[[1.0], [0.0]]], dtype=dtype)
    found = cross_entropy(states, unembedding, targets, label_smoothing=smoothing)
    assert found.item() == pytest.approx(1e4 * (1 - smoothing / 2), rel=1e-6)


def test_a_very_likely_target_has_the_loss_of_torch_and_no_gradient():
    states, targets = torch.tensor([[[1e4]]], requires_grad=True), torch.tensor([0])
    unembedding = torch.tensor([[[1.0], [0.0]]])
    found = cross_entropy(states, unembedding, targets)
    found.sum().backward()
    assert (found.item(), states.grad.item()) == (0.0, 0.0)


@pytest.mark.parametrize("held", [1, 20, 1000])
def test_a_member_that_is_nan_does_not_touch_the_others(held, monkeypatch):
    monkeypatch.setattr(module, "SCORES_AT_ONCE", {"cpu": held})
    states, unembedding, targets = inputs(members=3, batch=4, outputs=5, out=2)
    spoilt = states.detach().clone()
    spoilt[1, 0, 0] = math.nan
    spoilt.requires_grad_()
    found = {}
    for y in (states, spoilt):
        losses = cross_entropy(y, unembedding, targets)
        found[y] = (losses, *torch.autograd.grad(losses.sum(), (y, unembedding)))
    for sound, other in zip(found[states], found[spoilt], strict=True):
        assert other[1].isnan().any()
        assert torch.equal(sound[[0, 2]], other[[0, 2]])


def test_a_second_derivative_is_refused_instead_of_being_wrong():
    states, unembedding, targets = inputs(members=1, batch=2, outputs=3, out=2)
    losses = cross_entropy(states, unembedding, targets)
    (gradient,) = torch.autograd.grad(losses.square().sum(), states, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
