"""The errors that are worked out for a format are never exceeded by a stock model, whatever the table."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import tables
from georecall.constructions.certificate import KERNELS, Errors, Witnesses, measured_errors
from georecall.constructions.chain import Chain
from georecall.facts.worlds import random_bijections
from georecall.models.architecture import Architecture
from georecall.models.architectures import ARCHITECTURES
from georecall.models.arithmetic import Arithmetic
from georecall.models.dtypes import DTYPES
from georecall.models.stock_model import stock_model


def everyone(chain: Chain) -> Witnesses:
    """All entities and the unknown, asked every relation and the end at every step, in place of the witnesses."""
    subjects, relations = np.arange(-1, chain.n_entities), np.arange(-1, chain.n_relations)
    entity, relation = (grid.ravel() for grid in np.meshgrid(subjects, relations))
    places = chain.relation_positions
    asked = np.repeat(relation[:, None], places, axis=1)
    held = np.concatenate([np.zeros((1, chain.n_relations), dtype=np.int64), chain.names_of(slice(None))])
    expected = chain.codewords[held[entity + 1, relation]].astype(np.float64)
    expected[relation < 0] = 0
    tokens = [
        chain.vocabulary.relation_ids(asked),
        chain.vocabulary.entity_ids(entity)[:, None].repeat(places, 1),
    ]
    return Witnesses(
        embedding=np.concatenate(list(chain.embedding_chunks())),
        tokens=np.concatenate(tokens, axis=1),
        expected=expected[:, None].repeat(places, 1),
        silent=asked < 0,
    )


def largest_errors(architecture: Architecture, chain: Chain, dtype: torch.dtype, kernel: str) -> Errors:
    tensors = {name: source.tensor(dtype) for name, source in architecture.tensors(chain).items()}
    model, known = stock_model(architecture, chain, tensors), everyone(chain)
    model.set_attn_implementation(kernel)
    with torch.inference_mode():
        states = model.base_model(torch.from_numpy(known.tokens)).last_hidden_state
    return measured_errors(chain, known, states.double().numpy())


@settings(max_examples=25)
@given(
    tables(),
    st.integers(1, 3),
    st.integers(2, 9),
    st.sampled_from(list(ARCHITECTURES.values())),
    st.sampled_from(list(DTYPES.values())),
)
def test_no_output_place_of_any_entity_leaves_the_range_that_is_worked_out(
    table, hops, levels, architecture, dtype
):
    chain = architecture.chain_class(table, hops, levels=levels)
    layer = {
        name: part.tensor(dtype) for name, part in architecture.layer(architecture.tensors(chain)).items()
    }
    allowed = architecture.errors(chain, layer, Arithmetic(dtype=dtype))
    for kernel in KERNELS:
        found = largest_errors(architecture, chain, dtype, kernel)
        assert found.worst(allowed) == allowed, kernel


@pytest.mark.parametrize("architecture", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_levels_that_do_not_occur_change_nothing(architecture):
    table = random_bijections(100, 3, rng=np.random.default_rng(0))
    five, many = (architecture.chain_class(table, 3, levels=levels) for levels in (5, 127))
    assert five.code.composition == tuple(count for count in many.code.composition if count)
    for name, source in architecture.tensors(five).items():
        assert source.tensor(torch.float64).equal(architecture.tensors(many)[name].tensor(torch.float64))
