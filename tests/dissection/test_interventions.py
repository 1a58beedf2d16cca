"""Interventions are edits of the forward pass: they do what they say, and the model stays as it is."""

import numpy as np
import pytest
import torch

import known_models
from georecall.constructions.prompts import RELATION
from georecall.dissection import ablate_units, bring_relation, dissect
from georecall.models.recall import RecallTransformer

TOKENS = torch.tensor([[known_models.SUBJECTS, 4], [known_models.SUBJECTS + 2, 0]])


@pytest.fixture(params=["uniform", "learned"])
def model(request) -> RecallTransformer:
    return known_models.untrained(attention=request.param, attribute_dim=20, residual=True)


def test_other_embeddings_answer_as_a_model_that_has_them(model):
    other = known_models.untrained(attention="uniform", attribute_dim=20, residual=True, members=3)
    subjects, relations = (part.detach() + 1 for part in other.embedding)
    rows = torch.cat([subjects, relations], dim=1)[:, TOKENS] + model.positions[:, None]
    found = model.trace(TOKENS, edits={"embedded": lambda _: rows})
    for part, new in zip(model.embedding, (subjects, relations), strict=True):
        part.data.copy_(new)
    assert torch.equal(found.state @ model.unembedding.mT, model(TOKENS))


def test_an_ablated_unit_writes_nothing(model):
    units = torch.rand(3, 40, generator=torch.Generator().manual_seed(1)) < 0.5
    found, (layer,) = model.trace(TOKENS), model.layers
    ablated = model.trace(TOKENS, edits=ablate_units(units))
    written = (found.hidden * ~units[:, None]) @ layer.w2.mT + layer.b2[:, None]
    torch.testing.assert_close(ablated.written, written)
    torch.testing.assert_close(ablated.state, found.attended + written)


def test_ablation_is_taking_away_what_reads_the_units(model):
    units = torch.rand(3, 40, generator=torch.Generator().manual_seed(1)) < 0.5
    ablated = model.trace(TOKENS, edits=ablate_units(units)).state
    model.layers[0].w2.data.masked_fill_(units[:, None], 0)
    assert torch.equal(ablated, model.trace(TOKENS).state)


def test_another_relation_is_brought_with_the_attention_of_the_one_asked(model):
    found = model.trace(TOKENS)
    other = torch.randn(3, 2, 20, generator=torch.Generator().manual_seed(2))
    brought = model.trace(TOKENS, edits=bring_relation(other))
    assert torch.equal(brought.attention, found.attention)
    change = other - found.embedded[:, :, RELATION]
    expected = found.attention[:, :, 0, RELATION, None] * change
    if parameters := dict(model.layers[0].attention.named_parameters()):
        heads = parameters["output"][:, 0] @ parameters["value"][:, 0]
        expected = torch.einsum("mde,mbe->mbd", heads, expected)
    torch.testing.assert_close(brought.attended - found.attended, expected, rtol=1e-4, atol=1e-5)


def test_a_dissection_leaves_no_trace(model):
    bits = [parameter.detach().clone() for parameter in model.parameters()]
    state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    dissect(model, known_models.TABLE)
    assert all(torch.equal(old, new) for old, new in zip(bits, model.parameters(), strict=True))
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
