"""The certificate measures the real model where every hidden unit takes every value, and notices what is wrong."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from cases import WORLDS, chains
from georecall.constructions.certificate import (
    Certificate,
    Errors,
    certified_margin,
    measured_errors,
    witnesses,
)
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.models.architectures.opt import OPT
from georecall.models.certifying import certify
from georecall.models.dtypes import DTYPES
from georecall.storage.tensors import TensorSource

CHAIN = ChainOfThought(WORLDS["bijections"].table, 3)
OUT = "model.decoder.layers.0.fc2.bias"


def layer_of(chain: ChainOfThought) -> dict[str, torch.Tensor]:
    sources: dict[str, TensorSource] = OPT.layer(OPT.tensors(chain))
    return {name: source.tensor(torch.float64) for name, source in sources.items()}


def prove(chain: ChainOfThought, layer: dict[str, torch.Tensor], dtype: str = "float32") -> Certificate:
    sources = {name: TensorSource.of(tensor) for name, tensor in layer.items()}
    return certify(OPT, chain, OPT.tensors(chain) | sources, DTYPES[dtype])


@settings(max_examples=25)
@given(chains())
def test_the_witnesses_bring_every_unit_to_every_level_and_are_asked_two_relations_and_the_end_at_every_step(
    chain,
):
    known = witnesses(chain)
    held = known.embedding[chain.vocabulary.entities.start :, chain.layout["blocks"]]
    for unit in held.T:
        assert set(unit) == set(range(chain.levels)[: max(chain.codewords[0]) + 1])
    subjects = known.tokens[:, chain.relation_positions :]
    for step in range(chain.relation_positions):
        asked = set(zip(known.tokens[:, step].tolist(), subjects[:, step].tolist(), strict=True))
        ids = range(len(known.embedding))[chain.vocabulary.relations]
        relations = {chain.vocabulary.end, ids[0], ids[-1]}
        entities = range(chain.vocabulary.entities.start, len(known.embedding))
        assert asked == {(relation, entity) for relation in relations for entity in entities}


@pytest.mark.parametrize("name", ["family", "seven levels", "one fact", "six hops"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_construction_is_proved_exact_with_nearly_the_margin_of_exact_arithmetic(name, dtype):
    world = WORLDS[name]
    chain = ChainOfThought(world.table, world.hops, levels=world.levels)
    proof = prove(chain, layer_of(chain), dtype)
    assert proof.exact
    assert proof.units == chain.width
    # Scores below 256 are rounded, and places with a few units of rounding; sums of d terms in float32.
    spacing = torch.finfo(DTYPES[dtype]).eps * 128
    assert 2 - 2 * spacing - 1e-3 < proof.margin <= 2


def test_attention_one_place_off_is_not_exact():
    layer = layer_of(CHAIN)
    name = "model.decoder.layers.0.self_attn.q_proj.weight"
    proof = prove(CHAIN, layer | {name: layer[name].roll(1, dims=1)})
    assert not proof.exact


@pytest.mark.parametrize("name", [name for name, tensor in layer_of(CHAIN).items() if tensor.any()])
def test_a_layer_without_one_of_its_tensors_is_not_exact(name):
    layer = layer_of(CHAIN)
    assert not prove(CHAIN, layer | {name: torch.zeros_like(layer[name])}).exact


@pytest.mark.parametrize("name", layer_of(CHAIN))
def test_a_layer_tensor_that_is_not_a_number_is_not_exact(name):
    layer = layer_of(CHAIN)
    proof = prove(CHAIN, layer | {name: torch.full_like(layer[name], torch.nan)})
    assert proof.margin == -np.inf
    assert not proof.exact


@pytest.mark.parametrize("part", ["output", "positions"])
def test_one_coordinate_that_is_not_a_number_is_not_exact(part):
    layer = layer_of(CHAIN)
    bias = layer[OUT].clone()
    bias[CHAIN.layout[part].start] = torch.nan
    assert not prove(CHAIN, layer | {OUT: bias}).exact


def test_states_that_are_not_numbers_where_the_end_is_read_are_not_exact():
    known = witnesses(CHAIN)
    found = np.zeros((*known.tokens.shape, CHAIN.layout.dim))
    found[..., CHAIN.layout["positions"].start] = 1
    steps = found[:, CHAIN.relation_positions :]
    steps[..., CHAIN.layout["output"]] = known.expected

    def margin() -> float:
        return certified_margin(CHAIN, measured_errors(CHAIN, known, found), epsilon=0.0)

    assert margin() == pytest.approx(2, abs=1e-4)
    steps[known.silent] = np.nan
    assert margin() == -np.inf


def test_the_worst_of_errors_is_the_worst_of_each_and_not_a_number_if_any_is_none():
    one = Errors(deviation=0.1, leak=0.0, constant_read=1.0, constant_end=0.9)
    other = Errors(deviation=0.0, leak=0.2, constant_read=1.1, constant_end=1.0)
    assert one.worst(other) == Errors(deviation=0.1, leak=0.2, constant_read=1.1, constant_end=0.9)
    assert np.isnan(one.worst(replace(other, deviation=np.nan)).deviation)


def test_a_certificate_is_itself_again_from_its_dictionary():
    proof = prove(CHAIN, layer_of(CHAIN), "float16")
    assert Certificate.from_dict(proof.to_dict()) == proof
    assert proof.to_dict()["exact"] is True
    assert not replace(proof, margin=0.0).exact


def test_a_sample_that_holds_is_not_exact():
    sampled = replace(prove(CHAIN, layer_of(CHAIN)), basis="sampled")
    assert sampled.holds
    assert not sampled.exact
