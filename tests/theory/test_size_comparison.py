"""Every construction at its size, next to the lower bounds."""

import dataclasses
import json
import math
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import CodeError, GeorecallError
from georecall.theory.bounds import no_cot_dimension, no_cot_parameters, one_hop_dimension
from georecall.theory.size_comparison import along_hops, along_subjects, smallest_models
from georecall.theory.sizes import (
    associative_size,
    chain_of_thought_size,
    direct_size,
    one_hop_size,
    reembedding_size,
)

SEVERAL = ["direct", "associative", "re-embedding", "chain of thought"]


def test_one_hop_models_are_listed_for_one_hop_only():
    assert [model.kind for model in smallest_models(64, 4, 1, bits=8).models] == ["one hop", *SEVERAL]
    assert [model.kind for model in smallest_models(64, 4, 2, bits=8).models] == SEVERAL


@given(st.integers(2, 10**9), st.integers(1, 20), st.integers(1, 5), st.integers(2, 16), st.integers(4, 64))
def test_models_have_the_sizes_of_their_constructions(n_subjects, n_relations, hops, levels, bits):
    found = smallest_models(n_subjects, n_relations, hops, bits=bits, levels=levels)
    world = (n_subjects, n_relations, hops)
    expected = {
        "one hop": one_hop_size(n_subjects, n_relations, levels=levels),
        "direct": direct_size(*world, levels=levels),
        "associative": associative_size(*world, levels=levels),
        "re-embedding": reembedding_size(*world, levels=levels),
        "chain of thought": chain_of_thought_size(*world, levels=levels),
    }
    for model in found.models:
        assert model.size == expected[model.kind]
        assert model.stored_bytes - 1 < Fraction(bits) * model.size.parameters / 8 <= model.stored_bytes
        assert model.other_parameters == model.size.parameters - n_subjects * model.size.dimension
        assert found.dimension(model.kind) == model.size.dimension


@given(
    st.tuples(st.integers(2, 10**9), st.integers(1, 20), st.integers(1, 5)),
    st.integers(2, 16),
    st.floats(0, 60),
    st.integers(0, 10**9),
)
def test_no_model_is_below_a_bound(world, levels, spare_bits, other):
    bits = math.log2(levels) + spare_bits
    found = smallest_models(*world, bits=bits, levels=levels, other_parameters=other)
    assert found.bits_per_fact >= found.bits_per_fact_bound
    assert found.dimension("direct") >= found.no_cot.least
    for model in found.models:
        if model.kind == "one hop":
            assert model.size.dimension >= max(found.one_hop.least, found.no_cot.least)
        if model.kind != "chain of thought":
            assert model.other_parameters >= model.least_other_parameters


def test_the_bounds_are_those_of_the_arguments():
    found = smallest_models(4096, 16, 3, bits=16, other_parameters=1000)
    assert found.one_hop == one_hop_dimension(4096, 16, bits=16, other_parameters=1000)
    assert found.no_cot == no_cot_dimension(4096, 16, 3, bits=16, other_parameters=1000)
    associative = next(model for model in found.models if model.kind == "associative")
    bound = no_cot_parameters(4096, 16, 3, bits=16, dimension=associative.size.dimension)
    assert associative.least_other_parameters == bound.least > 0
    assert found.models[-1].least_other_parameters is None


def test_results_are_frozen_and_print_as_json():
    found = smallest_models(4096, 16, 3, bits=1.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.bits = 2
    read = json.loads(json.dumps(found.to_dict()))
    assert read["no_cot"] == found.no_cot.to_dict()
    assert [model["size"]["dimension"] for model in read["models"]] == [61459, 128, 785, 263]


def test_a_trillion_subjects_and_an_astronomic_dimension_are_no_work():
    started = time.perf_counter()
    found = smallest_models(10**12, 1000, 90, bits=16)
    assert found.dimension("direct") > 10**270
    assert json.loads(json.dumps(found.to_dict()))["models"][0]["stored_bytes"] > 10**540
    assert time.perf_counter() - started < 1


def test_hops_run_from_one_to_the_hops_asked_and_subjects_around_those_asked():
    asked = smallest_models(100, 3, 2, bits=4, levels=3, other_parameters=7)
    assert [known.hops for known in along_hops(asked)] == [1, 2, 3, 4, 5, 6]
    assert along_hops(asked)[1] == asked
    assert [known.hops for known in along_hops(smallest_models(100, 3, 9, bits=4))][-1] == 9
    powers = along_subjects(smallest_models(64, 3, 2, bits=4))
    assert [known.subjects for known in powers] == [2**power for power in range(6, 34)]
    assert powers[0] == smallest_models(64, 3, 2, bits=4)
    few, many = (
        along_subjects(smallest_models(2, 3, 2, bits=4)),
        along_subjects(smallest_models(10**12, 3, 2, bits=4)),
    )
    assert (few[0].subjects, few[-1].subjects) == (2, 2**33)
    assert (many[0].subjects, many[-1].subjects) == (2**6, 2**40)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, 4, 2), {}, "n_subjects must be at least 2, got 1"),
        ((0, 4, 2), {}, "1 or more subjects, got 0"),
        ((64, 0, 2), {}, "1 or more relations, got 0"),
        ((64, 4, 0), {}, "1 or more hops, got 0"),
        ((64, 4, 2), {"bits": 0}, "bits must be positive and finite, got 0"),
        ((64, 4, 2), {"bits": -1.0}, "bits must be positive and finite, got -1.0"),
        ((64, 4, 2), {"bits": math.nan}, "bits must be positive and finite, got nan"),
        ((64, 4, 2), {"bits": math.inf}, "bits must be positive and finite, got inf"),
        ((64, 4, 2), {"bits": 0.5}, "bits must be at least log2 2 = 1, .* got 0.5"),
        ((64, 4, 2), {"bits": 1.58, "levels": 3}, r"bits must be at least log2 3 = 1\.585, .* got 1.58"),
        ((64, 4, 2), {"other_parameters": -1}, "other_parameters must be at least 0, got -1"),
        ((64, 16, 300), {}, "N·k·R\\^k of at most 300 digits, got 366 or more"),
        ((64, 16, 10**30), {}, "N·k·R\\^k of at most 300 digits"),
        ((64, 1, 10**400), {}, "N·k·R\\^k of at most 300 digits"),
        ((10**301, 1, 1), {}, "N·k·R\\^k of at most 300 digits"),
        ((64, 4, 2), {"other_parameters": 10**301}, "P of at most 300 digits"),
    ],
)
def test_impossible_questions_are_refused_in_one_line(arguments, options, message):
    with pytest.raises(GeorecallError, match=message) as refusal:
        smallest_models(*arguments, **{"bits": 16} | options)
    assert "\n" not in str(refusal.value)


def test_one_level_is_refused():
    with pytest.raises(CodeError, match="2 to 127 levels, got 1"):
        smallest_models(64, 4, 2, bits=16, levels=1)
