"""Sizes by formula, against the weights that are built and against the lower bounds."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georecall.constructions.associative import Associative
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.constructions.direct import Direct
from georecall.constructions.disjoint import DisjointOneHop
from georecall.constructions.one_hop import OneHop
from georecall.constructions.reembedding import Reembedding
from georecall.errors import CodeError, GeorecallError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections, random_functions
from georecall.memory import FactMemory
from georecall.models.recall import RecallTransformer
from georecall.theory.bounds import no_cot_dimension, no_cot_parameters, one_hop_bits, one_hop_dimension
from georecall.theory.codes import CompositionCode
from georecall.theory.sizes import (
    associative_size,
    chain_of_thought_size,
    direct_size,
    disjoint_one_hop_size,
    one_hop_size,
    reembedding_size,
)

subjects = st.integers(2, 10**12)
relations = st.integers(1, 64)
few_hops = st.integers(1, 8)
alphabets = st.integers(2, 127)
few_levels = st.sampled_from([2, 3, 5])

SEVERAL_HOPS = {Direct: direct_size, Associative: associative_size, Reembedding: reembedding_size}


worlds = st.tuples(st.integers(1, 7), st.integers(1, 3), st.none() | st.integers(1, 11), st.integers(0, 99))


def table_of(world):
    """Bijections, or functions with missing facts to fewer or to more attributes than subjects."""
    n_subjects, n_relations, n_attributes, seed = world
    rng = np.random.default_rng(seed)
    if n_attributes is None:
        return random_bijections(n_subjects, n_relations, rng=rng)
    return random_functions(n_subjects, n_relations, n_attributes, rng=rng, missing=0.3)


def assert_built_as_predicted(construction):
    weights = construction.weights()
    model = RecallTransformer.from_weights(weights)
    size = construction.size
    assert size.code_length == construction.code.length
    assert size.dimension == construction.layout.dim == weights.embedding.shape[1]
    assert size.width == max(len(layer.mlp.b1) for layer in weights.layers)
    assert size.layers == len(weights.layers)
    assert size.parameters == sum(parameter.numel() for parameter in model.parameters())


@settings(max_examples=60)
@given(st.sampled_from([*SEVERAL_HOPS]), worlds, st.integers(1, 3), few_levels)
def test_models_of_several_hops_are_as_large_as_predicted(kind, world, hops, levels):
    assert_built_as_predicted(kind(table_of(world), hops=hops, levels=levels))


@settings(max_examples=30)
@given(worlds, few_levels)
def test_one_hop_models_are_as_large_as_predicted(world, levels):
    assert_built_as_predicted(OneHop(table_of(world), levels=levels))


@settings(max_examples=30)
@given(st.integers(1, 7), st.integers(1, 3), few_levels, st.floats(0, 1))
def test_one_hop_models_of_disjoint_attributes_are_as_large_as_predicted(
    n_subjects, n_relations, levels, missing
):
    rng = np.random.default_rng(0)
    full = random_bijections(n_subjects, n_relations, rng=rng, disjoint=True)
    answers = np.where(rng.random(full.answers.shape) < missing, -1, full.answers)
    table = FactTable(full.subjects, full.relations, full.attributes, answers)
    assert_built_as_predicted(DisjointOneHop(table, levels=levels))


@settings(max_examples=30)
@given(worlds, st.integers(1, 3), few_levels)
def test_chains_of_thought_are_as_large_as_predicted(world, hops, levels):
    assert_built_as_predicted(ChainOfThought(table_of(world), hops, levels=levels))


@pytest.mark.parametrize("kind", SEVERAL_HOPS)
@pytest.mark.parametrize("hops", [1, 3])
def test_models_of_one_subject_one_relation_and_one_attribute_are_as_large_as_predicted(kind, hops):
    assert_built_as_predicted(kind(random_bijections(1, 1, rng=np.random.default_rng(0)), hops=hops))


@pytest.mark.parametrize("arch", ["opt", "llama"])
@pytest.mark.parametrize(
    ("n_subjects", "n_relations", "hops", "levels"), [(1, 1, 1, 2), (6, 3, 1, 3), (9, 2, 3, 2)]
)
def test_a_memory_counts_the_parameters_of_its_stock_model(arch, n_subjects, n_relations, hops, levels):
    table = random_functions(n_subjects, n_relations, 7, rng=np.random.default_rng(0), missing=0.3)
    memory = FactMemory.compile(table, hops=hops, levels=levels, arch=arch)
    assert memory.info().parameters == sum(parameter.numel() for parameter in memory.model().parameters())


@pytest.mark.parametrize(
    ("size", "dimension", "width", "layers"),
    [
        (one_hop_size(4096, 16), 16 * 15, 16 * 15, 1),
        (one_hop_size(3431, 3), 3 * 14, 3 * 14, 1),
        (one_hop_size(4096, 2, n_attributes=19), 2 * 6, 2 * 6, 1),
        (one_hop_size(4096, 2, n_attributes=20), 2 * 7, 2 * 7, 1),
        (disjoint_one_hop_size(4096, 2, n_attributes=19), 2 * 6, 2 * 6, 1),
        (direct_size(4096, 16, 2), 257 * 15 + 3, 256 * 15, 1),
        (associative_size(4096, 16, 2), 3 * (15 + 16 + 1), 4096 * 16, 2),
        (reembedding_size(4096, 16, 2), 2 * 17 * 15 + 16 + 3, 4096, 3),
        (reembedding_size(100, 16, 1), 17 * 9 + 16 + 2, 16 * 9, 1),
        (chain_of_thought_size(4096, 16, 3), 17 * 15 + 8, 16 * 15, 1),
        (chain_of_thought_size(3432, 1, 1), 2 * 15 + 4, 15, 1),
        (chain_of_thought_size(4096, 2, 5, levels=3), 3 * 10 + 12, 2 * 10, 1),
    ],
)
def test_sizes_are_those_of_the_formulas(size, dimension, width, layers):
    assert (size.dimension, size.width, size.layers) == (dimension, width, layers)
    assert size.to_dict()["dimension"] == dimension
    assert set(size.to_dict()) == {"code_length", "dimension", "width", "layers", "parameters"}


@given(subjects, relations, alphabets)
def test_one_hop_embeddings_have_the_bits_to_tell_all_tables_apart(n_subjects, n_relations, levels):
    size = one_hop_size(n_subjects, n_relations, levels=levels)
    bits = n_relations * size.code_length * math.log2(levels) * n_subjects
    assert bits >= one_hop_bits(n_subjects, n_relations)
    assert size.dimension >= one_hop_dimension(n_subjects, n_relations, bits=math.log2(levels)).least


@given(subjects, relations, alphabets)
def test_disjoint_one_hop_models_are_never_below_the_bound(n_subjects, n_relations, levels):
    size = disjoint_one_hop_size(n_subjects, n_relations, levels=levels)
    assert size.dimension >= one_hop_dimension(n_subjects, n_relations, bits=math.log2(levels)).least


@given(subjects, relations, few_hops, alphabets)
def test_direct_models_are_never_below_the_bound(n_subjects, n_relations, hops, levels):
    """P = 0: codewords belong to attributes by number, so only the subjects' embeddings depend on the table."""
    size = direct_size(n_subjects, n_relations, hops, levels=levels)
    assert no_cot_dimension(n_subjects, n_relations, hops, bits=math.log2(levels)).least <= size.width
    assert size.width < size.dimension


@given(subjects, relations, few_hops, alphabets)
def test_associative_models_have_the_parameters_for_their_facts(n_subjects, n_relations, hops, levels):
    """Embeddings hold fixed codewords, so 0 of their entries depend on the table; one layer's values must do.

    A value is the codeword of an answer less a fixed one: p entries of log2 L bits each.
    """
    size = associative_size(n_subjects, n_relations, hops, levels=levels)
    least = no_cot_parameters(n_subjects, n_relations, hops, bits=math.log2(levels), dimension=0).least
    assert least <= n_subjects * n_relations * size.code_length < size.parameters


@given(subjects, relations, few_hops, alphabets)
def test_reembedding_models_have_the_parameters_for_their_facts(n_subjects, n_relations, hops, levels):
    """R·p entries of an embedding depend on the table, and for k ≥ 2 so do the N·R·p values of one layer."""
    size = reembedding_size(n_subjects, n_relations, hops, levels=levels)
    held = n_relations * size.code_length
    least = no_cot_parameters(n_subjects, n_relations, hops, bits=math.log2(levels), dimension=held).least
    assert least <= (n_subjects * held if hops > 1 else 0)


def test_a_chain_of_thought_is_smaller_than_anything_without_one_can_be():
    bound = no_cot_dimension(10**6, 8, 4, bits=1).least
    assert chain_of_thought_size(10**6, 8, 4).dimension < bound <= direct_size(10**6, 8, 4).dimension


def test_sizes_of_huge_models_are_exact_and_quick():
    started = time.perf_counter()
    n_subjects, n_relations, hops = 10**12, 1000, 1000
    code_length = CompositionCode.shortest(n_subjects + 1).length
    assert direct_size(n_subjects, n_relations, hops).width == 1000**1000 * code_length
    assert direct_size(n_subjects, n_relations, hops).parameters > 10**6000
    assert associative_size(n_subjects, n_relations, hops).width == 10**15
    assert reembedding_size(n_subjects, n_relations, hops).width == 10**12
    assert one_hop_size(n_subjects, n_relations).dimension == 1000 * code_length
    assert disjoint_one_hop_size(n_subjects, n_relations).parameters > 10**18
    assert chain_of_thought_size(n_subjects, n_relations, hops).dimension == 1001 * code_length + 2002
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: one_hop_size(0, 1), "1 or more subjects, got 0"),
        (lambda: one_hop_size(4, 0), "1 or more relations, got 0"),
        (lambda: one_hop_size(4, 1, n_attributes=-2), "0 or more attributes, got -2"),
        (lambda: disjoint_one_hop_size(4, 1, n_attributes=-1), "0 or more attributes, got -1"),
        (lambda: direct_size(4, 1, 0), "1 or more hops, got 0"),
        (lambda: associative_size(4, -2, 1), "1 or more relations, got -2"),
        (lambda: reembedding_size(0, 1, 1), "1 or more subjects, got 0"),
        (lambda: chain_of_thought_size(4, 1, 0), "1 or more hops, got 0"),
    ],
)
def test_sizes_of_nothing_are_refused_in_one_line(call, message):
    with pytest.raises(GeorecallError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_sizes_refuse_an_alphabet_that_no_code_has():
    with pytest.raises(CodeError, match="got 1"):
        one_hop_size(4, 1, levels=1)


def test_a_table_without_any_answer_still_has_the_unknown_to_give():
    table = FactTable(("a", "b"), ("r",), (), np.full((2, 1), -1))
    for kind in (OneHop, Direct):
        construction = kind(table)
        model = RecallTransformer.from_weights(construction.weights())
        assert sum(tensor.numel() for tensor in model.parameters()) == construction.size.parameters
