"""Ranges hold whatever a kernel can make of numbers, in any order of adding up."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.llama.modeling_llama import LlamaRMSNorm

from georecall.models.arithmetic import Arithmetic, Range, State
from georecall.models.dtypes import DTYPES

ENTRIES = st.lists(st.integers(-20, 20), min_size=2, max_size=60).filter(any)


def state_of(entries: list[int]) -> State:
    values, counts = np.unique(np.array(entries, dtype=np.float64), return_counts=True)
    return State(values=Range.exactly(values), counts=counts.astype(np.float64), dim=len(entries))


def assert_within(found: torch.Tensor, expected: Range) -> None:
    numbers = found.double().numpy()
    assert (expected.low <= numbers).all()
    assert (numbers <= expected.high).all()


@settings(max_examples=60)
@given(ENTRIES, st.sampled_from(list(DTYPES.values())), st.floats(0.1, 9), st.integers(0, 2**31))
def test_a_normalisation_in_any_order_of_its_entries_stays_within_the_range(entries, dtype, gain, seed):
    order = np.random.default_rng(seed).permutation(len(entries))
    x = torch.tensor(entries, dtype=dtype)[order]
    weight = torch.full((len(x),), gain, dtype=dtype)
    arithmetic, state, places = Arithmetic(dtype=dtype), state_of(entries), Range.exactly(x.double().numpy())
    stored = float(weight[0])

    rms = LlamaRMSNorm(len(x), eps=1e-6)
    rms.weight.data = weight
    assert_within(rms(x).detach(), arithmetic.rms_norm(places, state, gain=stored, epsilon=1e-6))

    bias = torch.full((len(x),), 0.3, dtype=dtype)
    found = torch.nn.functional.layer_norm(x, x.shape, weight, bias, 1e-5)
    expected = arithmetic.layer_norm(places, state, gain=stored, bias=float(bias[0]), epsilon=1e-5)
    assert_within(found, expected)


@pytest.mark.parametrize("dtype", DTYPES.values())
def test_ranges_are_narrow_in_sixteen_bits_as_wide_as_one_rounding_at_most(dtype):
    state = state_of([0, 1, 2, 3] * 20)
    found = Arithmetic(dtype=dtype).rms_norm(state.values, state, gain=1.5, epsilon=1e-6)
    spacing = max(float(torch.finfo(dtype).eps), 80 * 2.0**-22)
    assert (found.high - found.low <= 4 * spacing * np.maximum(found.high, 1e-9)).all()


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-9, 9, width=16), st.floats(-9, 9, width=16)), min_size=1, max_size=30),
    st.sampled_from(list(DTYPES.values())),
)
def test_a_sum_of_products_in_any_order_stays_within_the_range(terms, dtype):
    x, weights = torch.tensor(terms, dtype=dtype).T
    expected = Arithmetic(dtype=dtype).dot(
        Range.exactly(x.double().numpy()), weights.double().numpy(), terms=len(terms)
    )
    for order in (slice(None), torch.arange(len(terms) - 1, -1, -1)):
        assert_within((x[order].float() @ weights[order].float()).to(dtype), expected)


def test_the_square_of_a_range_through_zero_begins_at_zero():
    found = Range(np.array([-2.0, 1.0]), np.array([1.0, 3.0])).squared()
    np.testing.assert_array_equal(found.low, [0, 1])
    np.testing.assert_array_equal(found.high, [4, 9])
