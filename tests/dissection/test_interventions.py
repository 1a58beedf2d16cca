"""Activations are those of the forward pass, and an intervention leaves no trace."""

import numpy as np
import pytest
import torch
from torch import nn

import specimens
from georecall.dissection import dissect, intervened, record
from georecall.errors import AnalysisError
from georecall.models.recall import RecallTransformer

TOKENS = torch.tensor([[specimens.SUBJECTS, 4], [specimens.SUBJECTS + 2, 0]])


@pytest.fixture(params=["uniform", "learned"])
def model(request) -> RecallTransformer:
    return specimens.untrained(attention=request.param, attribute_dim=20, residual=True)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_recorded_activations_lead_to_the_scores_of_the_model(attention, residual):
    model = specimens.untrained(attention=attention, attribute_dim=20, residual=residual)
    (layer,), found = model.layers, record(model, TOKENS)
    assert torch.equal(found.output @ model.unembedding.mT, model(TOKENS))
    torch.testing.assert_close(found.pre_activation, found.attended @ layer.w1.mT + layer.b1[:, None])
    assert torch.equal(found.hidden, found.pre_activation.relu())
    assert found.hidden.shape == (3, 2, 40)


def test_recorded_activations_are_copies(model):
    before = model(TOKENS)
    for activation in vars(record(model, TOKENS)).values():
        activation.zero_()
    assert torch.equal(model(TOKENS), before)


def test_new_embeddings_answer_as_a_model_that_has_them(model):
    other = specimens.untrained(attention="uniform", attribute_dim=20, residual=True, dim=20, members=3)
    swapped = [part.detach() + 1 for part in other.embedding]
    with intervened(model, subjects=swapped[0], relations=swapped[1]):
        inside = model(TOKENS)
    for part, new in zip(model.embedding, swapped, strict=True):
        part.data.copy_(new)
    assert torch.equal(inside, model(TOKENS))


def test_a_silenced_unit_writes_nothing(model):
    silenced = torch.rand(3, 40, generator=torch.Generator().manual_seed(1)) < 0.5
    found, (layer,) = record(model, TOKENS), model.layers
    written = (found.hidden * ~silenced[:, None]) @ layer.w2.mT + layer.b2[:, None]
    with intervened(model, silenced=silenced):
        inside = model(TOKENS)
    torch.testing.assert_close(inside, (found.attended + written) @ model.unembedding.mT)


def spoil(model: RecallTransformer) -> None:
    """Everything that a careless body may do to the tensors."""
    with torch.no_grad():
        model.unembedding.zero_()
        model.layers[0].w1.data.add_(1)
        model.embedding[0][0, 3] = 5
    model.positions.data = torch.ones_like(model.positions)
    model.layers[0].b1 = nn.Parameter(torch.ones_like(model.layers[0].b1))
    model.embedding[1] = nn.Parameter(torch.ones_like(model.embedding[1]))


@pytest.mark.parametrize("raises", [False, True])
def test_afterwards_the_model_is_bit_equal_whatever_the_body_did(model, raises):
    before, parameters = model(TOKENS), dict(model.named_parameters())
    addresses = {name: parameter.data_ptr() for name, parameter in parameters.items()}
    bits = {name: parameter.detach().clone() for name, parameter in parameters.items()}
    silenced = torch.ones(3, 40, dtype=torch.bool)
    try:
        with intervened(model, subjects=model.embedding[0] * 2, silenced=silenced):
            spoil(model)
            if raises:
                raise KeyError
    except KeyError:
        assert raises
    assert torch.equal(model(TOKENS), before)
    for name, parameter in model.named_parameters():
        assert parameter is parameters[name]
        assert parameter.data_ptr() == addresses[name]
        assert torch.equal(parameter, bits[name])


def test_memory_held_from_before_the_block_is_restored_too(model):
    before, memory = model(TOKENS), model.layers[0].w2.data
    with intervened(model):
        memory.zero_()
    assert torch.equal(model(TOKENS), before)


def test_blocks_nest(model):
    before = model(TOKENS)
    with intervened(model, subjects=model.embedding[0] * 2):
        outer = model(TOKENS)
        with intervened(model, relations=model.embedding[1] * 2):
            spoil(model)
        assert torch.equal(model(TOKENS), outer)
    assert not torch.equal(outer, before)
    assert torch.equal(model(TOKENS), before)


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        ({"subjects": torch.zeros(3, 127, 20)}, r"subjects of shape \(3, 128, 20\), got \(3, 127, 20\)"),
        ({"relations": torch.zeros(1, 3, 20)}, r"relations of shape \(3, 3, 20\), got \(1, 3, 20\)"),
        ({"silenced": torch.zeros(3, 7, dtype=torch.bool)}, r"units of shape \(3, 40\), got \(3, 7\)"),
    ],
)
def test_a_replacement_of_another_shape_is_refused_before_anything_changes(model, change, shape):
    before = model(TOKENS)
    with pytest.raises(AnalysisError, match=shape), intervened(model, **change):
        pass
    assert torch.equal(model(TOKENS), before)


def test_a_dissection_leaves_no_trace(model):
    bits = [parameter.detach().clone() for parameter in model.parameters()]
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    dissect(model, specimens.TABLE)
    assert all(torch.equal(old, new) for old, new in zip(bits, model.parameters(), strict=True))
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
