"""The small transformer in torch agrees with NumPy and with plain torch, and its members do not mix."""

import copy
from dataclasses import asdict
from typing import get_args

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from cases import WORLDS, random_weights
from georecall.constructions.one_hop import OneHop
from georecall.errors import AnalysisError, ConstructionError
from georecall.models.activations import Place
from georecall.models.recall import RecallConfig, RecallTransformer

CONFIG = RecallConfig(subjects=6, relations=3, outputs=6, context=5, dim=4, width=7, attribute_dim=4)
MEMBERS = 3
TOKENS = torch.tensor([[0, 3, 8], [5, 5, 1]])


def model_of(config: RecallConfig, seed: int = 0, members: int = MEMBERS) -> RecallTransformer:
    generators = [torch.Generator().manual_seed(seed + member) for member in range(members)]
    return RecallTransformer.random(config, generators=generators)


def changed(**fields: object) -> RecallConfig:
    return RecallConfig(**asdict(CONFIG) | fields)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("heads", [0, 1, 2])
def test_the_same_weights_give_the_scores_of_numpy(heads, layers, residual):
    rng = np.random.default_rng(1)
    weights = random_weights(rng, heads=heads, layers=layers, residual=residual)
    tokens = rng.integers(6, size=(4, 7))
    model = RecallTransformer.from_weights(weights, dtype=torch.float64)
    np.testing.assert_allclose(
        model(torch.from_numpy(tokens))[0].detach().numpy(), weights.scores(tokens), rtol=1e-10
    )


@pytest.mark.parametrize("heads", [0, 2])
def test_a_token_does_not_see_what_comes_after_it(heads):
    weights = random_weights(np.random.default_rng(2), heads=heads, layers=2, residual=True)
    model = RecallTransformer.from_weights(weights, dtype=torch.float64)
    states = []
    model.layers[0].register_forward_hook(lambda _module, _inputs, output: states.append(output))
    for tokens in ([[1, 2, 3, 4]], [[1, 2, 5, 0]]):
        model(torch.tensor(tokens))
    torch.testing.assert_close(states[0][:, :, :2], states[1][:, :, :2])
    assert not torch.allclose(states[0][:, :, -1], states[1][:, :, -1])


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_every_member_gives_what_it_gives_alone(attention, residual):
    ensemble = model_of(changed(attention=attention, residual=residual))
    together = ensemble(TOKENS)
    for member in range(MEMBERS):
        alone = copy.deepcopy(ensemble)
        for parameter in alone.parameters():
            parameter.data = parameter.data[member : member + 1]
        torch.testing.assert_close(alone(TOKENS)[0], together[member])


def test_the_gradient_of_one_member_does_not_reach_another():
    ensemble = model_of(changed(attention="learned"))
    ensemble(TOKENS)[1].square().sum().backward()
    for parameter in ensemble.parameters():
        touched = parameter.grad.flatten(1).abs().sum(dim=1)
        assert touched[[0, 2]].tolist() == [0, 0]


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_a_random_model_computes_what_torch_computes(attention, residual):
    model = model_of(changed(attention=attention, residual=residual), members=1)
    (layer,) = model.layers
    x = torch.cat(tuple(model.embedding), dim=1)[0][TOKENS] + model.positions[0, : TOKENS.shape[1]]
    if attention == "uniform":
        z = x.mean(dim=1)
    else:
        heads = {name: getattr(layer.attention, name)[0, 0] for name in ("query", "key", "value", "output")}
        query, key, value = (functional.linear(x, heads[name]) for name in ("query", "key", "value"))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=1.0)
        z = functional.linear(mixed[:, -1], heads["output"])
    z = z + residual * x[:, -1]
    hidden = functional.relu(functional.linear(z, layer.w1[0], layer.b1[0]))
    y = functional.linear(hidden, layer.w2[0], layer.b2[0]) + residual * z
    torch.testing.assert_close(model(TOKENS)[0], functional.linear(y, model.unembedding[0]))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("attention", [{"attention": "uniform"}, {"attention": "learned", "heads": 2}])
def test_a_trace_is_the_forward_pass_step_by_step(attention, residual):
    model = model_of(changed(**attention, residual=residual))
    (layer,), found = model.layers, model.trace(TOKENS)
    assert torch.equal(found.embedded, model.embed(TOKENS))
    assert torch.equal(found.carried, found.embedded)
    torch.testing.assert_close(found.attention.sum(dim=-1), torch.ones(MEMBERS, 2, attention.get("heads", 1)))
    mixed = found.attention @ found.carried
    if parameters := dict(layer.attention.named_parameters()):
        mixed = torch.einsum("mhde,mhef,mbhf->mbd", parameters["output"], parameters["value"], mixed)
    else:
        mixed = mixed[:, :, 0]
    torch.testing.assert_close(found.attended, mixed + residual * found.embedded[:, :, -1])
    torch.testing.assert_close(found.pre_activation, found.attended @ layer.w1.mT + layer.b1[:, None])
    assert torch.equal(found.hidden, found.pre_activation.relu())
    torch.testing.assert_close(found.written, found.hidden @ layer.w2.mT + layer.b2[:, None])
    assert torch.equal(found.state, found.written + residual * found.attended if residual else found.written)
    assert torch.equal(found.state @ model.unembedding.mT, model(TOKENS))


PLACES = get_args(Place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_an_edit_changes_what_comes_after_it_and_nothing_before(attention, place):
    model = model_of(changed(attention=attention))
    before, after = model.trace(TOKENS), model.trace(TOKENS, edits={place: lambda value: value + 1})
    changes = [not torch.equal(getattr(before, name), getattr(after, name)) for name in PLACES]
    assert changes == [name in PLACES[PLACES.index(place) :] for name in PLACES]
    assert torch.equal(getattr(after, place), getattr(before, place) + 1)


@pytest.mark.parametrize("place", PLACES)
def test_neither_an_edit_nor_what_is_done_to_a_trace_reaches_the_model(place):
    model, constant = model_of(changed(attention="learned")), torch.ones(1)

    def spoil(value: torch.Tensor) -> torch.Tensor:
        value.zero_()
        return constant.expand_as(value) if place == "pre_activation" else value

    before = model(TOKENS)
    for activation in vars(model.trace(TOKENS, edits={place: spoil})).values():
        activation.zero_()
    assert constant.item() == 1
    assert torch.equal(model(TOKENS), before)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_an_edit_in_place_of_the_values_leaves_queries_and_residual_stream_alone():
    model = model_of(changed(attention="learned", residual=True))
    before, after = model.trace(TOKENS), model.trace(TOKENS, edits={"carried": lambda x: x.zero_()})
    assert torch.equal(after.attention, before.attention)
    assert torch.equal(after.attended, before.embedded[:, :, -1])


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ({"gates": lambda value: value}, "expected edits at embedded, .*, state, got 'gates'"),
        (
            {"hidden": lambda value: value[:, :1]},
            r"an edit of hidden to give shape \(3, 2, 7\), got \(3, 1, 7\)",
        ),
    ],
)
def test_an_edit_of_no_place_or_of_another_shape_is_refused(edits, says):
    with pytest.raises(AnalysisError, match=says):
        model_of(CONFIG).trace(TOKENS, edits=edits)


def test_a_model_of_two_layers_is_not_traced():
    weights = random_weights(np.random.default_rng(2), heads=1, layers=2, residual=True)
    with pytest.raises(AnalysisError, match="a model of one layer, got 2"):
        RecallTransformer.from_weights(weights).trace(TOKENS)


def test_a_member_is_the_same_in_every_ensemble():
    alone = model_of(CONFIG, seed=1, members=1)
    together = model_of(CONFIG)
    for one, many in zip(alone.parameters(), together.parameters(), strict=True):
        assert torch.equal(one[0], many[1])


def test_scores_are_states_through_the_unembedding_and_asked_counts_from_the_end():
    model = model_of(changed(attention="learned"))
    x = model.embed(TOKENS)
    assert torch.equal(x[1, 0, 2], torch.cat(tuple(model.embedding), dim=1)[1, 8] + model.positions[1, 2])
    for asked in (1, 2, 3):
        ends = [model(TOKENS[:, : 3 - back]) for back in reversed(range(asked))]
        scores = torch.einsum("mbto,mao->mbta", model.states(x, asked=asked), model.unembedding)
        torch.testing.assert_close(scores, torch.stack(ends, dim=2))


def test_the_subjects_of_a_construction_are_a_part_of_their_own():
    table = WORLDS["family"].table
    weights = OneHop(table).weights()
    split = RecallTransformer.from_weights(weights, subjects=len(table.subjects))
    assert [len(part[0]) for part in split.embedding] == [len(table.subjects), len(table.relations)]
    tokens = torch.tensor([[len(table.subjects), 0]])
    assert torch.equal(split(tokens), RecallTransformer.from_weights(weights)(tokens))


@pytest.mark.parametrize("attention", ["uniform", "learned"])
def test_a_random_model_is_a_function_of_its_generator_only(attention):
    config = changed(attention=attention)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = model_of(config).state_dict()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    again, other = model_of(config).state_dict(), model_of(config, seed=9).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["embedding.0"], other["embedding.0"])


def test_random_members_differ_and_all_has_the_shape_asked_for():
    model = model_of(changed(attention="learned", attribute_dim=2))
    shapes = {
        name.removeprefix("layers.0.").removeprefix("attention."): tuple(parameter.shape)
        for name, parameter in model.named_parameters()
    }
    assert shapes == {
        "embedding.0": (3, 6, 4),
        "embedding.1": (3, 3, 4),
        "positions": (3, 5, 4),
        "query": (3, 1, 4, 4),
        "key": (3, 1, 4, 4),
        "value": (3, 1, 4, 4),
        "output": (3, 1, 4, 4),
        "w1": (3, 7, 4),
        "b1": (3, 7),
        "w2": (3, 2, 7),
        "b2": (3, 2),
        "unembedding": (3, 6, 2),
    }
    assert not torch.equal(model.embedding[0][0], model.embedding[0][1])


def test_random_weights_have_the_variance_of_their_fan_in():
    model = model_of(changed(subjects=500, relations=300, dim=64, width=300, attribute_dim=16, outputs=400))
    spreads = {
        name: parameter.std().item() for name, parameter in model.named_parameters() if parameter.any()
    }
    expected = {"embedding.0": 1, "embedding.1": 1, "positions": 1, "unembedding": 16**-0.5}
    expected |= {"layers.0.w1": 64**-0.5, "layers.0.w2": 300**-0.5}
    assert spreads == pytest.approx(expected, rel=0.1)


def test_a_model_does_not_share_the_memory_of_the_weights_it_is_made_from():
    weights = random_weights(np.random.default_rng(3), heads=1, layers=1, residual=True)
    before = weights.embedding.copy()
    model = RecallTransformer.from_weights(weights, dtype=torch.float64)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(weights.embedding, before)
    assert weights.layers[0].mlp.w1.any()


def test_every_parameter_of_a_constructed_model_can_be_trained():
    model = RecallTransformer.from_weights(OneHop(WORLDS["family"].table).weights())
    assert isinstance(model, nn.Module)
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    "name", ["subjects", "relations", "outputs", "context", "dim", "width", "attribute_dim"]
)
def test_a_size_below_one_is_refused_by_name(name):
    with pytest.raises(ConstructionError, match=f"{name} must be 1 or more, got 0"):
        changed(**{name: 0})


def test_a_residual_stream_that_cannot_take_what_the_mlp_writes_is_refused():
    with pytest.raises(ConstructionError, match="attribute_dim must be dim = 4, got 3"):
        changed(residual=True, attribute_dim=3)
