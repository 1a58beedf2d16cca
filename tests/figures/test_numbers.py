"""Numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.figures.numbers import PREFIXES, bits_text, bytes_text, count_text

counts = st.integers(0, 10**40)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (65536, "65,536"),
        (9_999_999_999, "9,999,999,999"),
        (10**10, "1.00e+10"),
        (3125 * 10**597, "3.12e+600"),
    ],
)
def test_counts_have_commas_until_an_exponent_is_easier_to_read(count, text):
    assert count_text(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (4_572_678, "4.57 MB"),
        (99_950, "100 kB"),
        (999_499, "999 kB"),
        (999_999, "1.00 MB"),
        (12 * 10**12, "12.0 TB"),
        (999 * 10**18, "999 EB"),
        (10**21, "1.00e+21 B"),
        (31 * 10**28, "3.10e+29 B"),
    ],
)
def test_bytes_have_three_digits_and_a_decimal_prefix(count, text):
    assert bytes_text(count) == text


@given(counts)
def test_what_is_read_is_within_half_a_percent(count):
    assert math.isclose(float(count_text(count).replace(",", "")), count, rel_tol=0.005)
    number, unit = bytes_text(count).split()
    scale = 1000 ** PREFIXES.index(unit.removesuffix("B"))
    assert math.isclose(float(number) * scale, count, rel_tol=0.005)


def test_one_bit_is_singular():
    assert [bits_text(bits) for bits in (1, 1.0, 1.5, 16)] == ["1 bit", "1 bit", "1.5 bits", "16 bits"]
