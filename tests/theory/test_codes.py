import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import CodeError
from georecall.theory.codes import CompositionCode

sizes = st.integers(1, 10**9)
alphabets = st.integers(2, 16)
compositions = st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(
    lambda counts: sum(count > 0 for count in counts) >= 2 and sum(counts) <= 6
)


def arrangements(composition):
    """Every arrangement in lexicographic order, by listing permutations."""
    multiset = [level for level, count in enumerate(composition) for _ in range(count)]
    return np.array(sorted(set(itertools.permutations(multiset))), dtype=np.int8)


def all_codewords(code):
    return code.unrank(np.arange(code.capacity))


@pytest.mark.parametrize(
    ("size", "length"),
    [
        (1, 2),
        (2, 2),
        (3, 3),
        (6, 4),
        (7, 5),
        (20, 6),
        (21, 7),
        (3432, 14),
        (3433, 15),
        (4096, 15),
        (10**6, 23),
    ],
)
def test_two_levels_take_the_least_length_with_enough_central_binomials(size, length):
    code = CompositionCode.shortest(size)
    assert code.length == length
    assert code.capacity == math.comb(length, length // 2) >= size


@pytest.mark.parametrize("levels", [2, 3, 4, 7])
@pytest.mark.parametrize("length", range(2, 9))
def test_no_composition_has_more_arrangements_than_the_balanced_one(levels, length):
    most = max(
        CompositionCode(counts).capacity
        for counts in itertools.product(range(length), repeat=levels)
        if sum(counts) == length
    )
    assert CompositionCode.shortest(most, levels).length == length
    assert CompositionCode.shortest(most, levels).capacity == most
    assert CompositionCode.shortest(most + 1, levels).length == length + 1


@given(st.integers(1, 10**12), st.integers(2, 127))
def test_the_shortest_code_is_balanced_with_the_surplus_on_the_lowest_levels(size, levels):
    code = CompositionCode.shortest(size, levels)
    assert code.levels == levels
    assert code.capacity >= size
    assert min(code.composition[:2]) >= 1
    assert sorted(code.composition, reverse=True) == list(code.composition)
    assert code.composition[0] - code.composition[-1] <= 1


@given(compositions)
def test_codewords_are_the_arrangements_in_lexicographic_order(counts):
    code = CompositionCode(tuple(counts))
    expected = arrangements(counts)
    assert code.capacity == len(expected)
    np.testing.assert_array_equal(all_codewords(code), expected)
    np.testing.assert_array_equal(code.rank(expected), np.arange(len(expected)))


@given(sizes, alphabets, st.data())
def test_rank_inverts_unrank_and_numbers_follow_lexicographic_order(size, levels, data):
    code = CompositionCode.shortest(size, levels)
    numbers = st.lists(st.integers(0, code.capacity - 1), min_size=1, max_size=20, unique=True)
    indices = np.array(sorted(data.draw(numbers)))
    codewords = code.unrank(indices)
    np.testing.assert_array_equal(code.rank(codewords), indices)
    rows = [tuple(row) for row in codewords.tolist()]
    assert all(lower < higher for lower, higher in itertools.pairwise(rows))


@given(sizes, alphabets)
def test_the_first_and_last_codewords_are_the_sorted_multisets(size, levels):
    code = CompositionCode.shortest(size, levels)
    first, last = code.unrank(np.array([0, code.capacity - 1])).tolist()
    assert first == sorted(first)
    assert last == first[::-1]


@given(sizes, alphabets, st.data())
def test_all_codewords_share_sum_and_norm_and_no_other_comes_within_the_margin(size, levels, data):
    code = CompositionCode.shortest(size, levels)
    number = st.integers(0, code.capacity - 1)
    a, b = code.unrank(np.array([data.draw(number), data.draw(number)])).astype(np.int64)
    assert a.sum() == b.sum() == code.level_sum
    assert a @ a == b @ b == code.squared_norm
    assert np.array_equal(a, b) or a @ b <= code.squared_norm - code.margin()


@given(compositions)
def test_the_margin_is_the_least_over_all_pairs(counts):
    code = CompositionCode(tuple(counts))
    products = np.unique(all_codewords(code).astype(np.int64) @ arrangements(counts).T.astype(np.int64))
    assert code.margin() == code.squared_norm - products[-2]


@given(sizes, alphabets)
def test_the_first_two_codewords_of_a_shortest_code_attain_margin_one(size, levels):
    code = CompositionCode.shortest(size, levels)
    first, second = code.unrank(np.arange(2)).astype(np.int64)
    assert code.margin() == code.squared_norm - first @ second == 1


def test_a_gap_between_occurring_levels_is_squared_in_the_margin():
    assert CompositionCode((2, 0, 0, 1)).margin() == 9


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (2, 0, 3)])
def test_any_batch_shape_is_kept(shape):
    code = CompositionCode.shortest(100, levels=3)
    indices = np.arange(math.prod(shape)).reshape(shape)
    codewords = code.unrank(indices)
    assert codewords.shape == (*shape, code.length)
    assert codewords.dtype == np.int8
    np.testing.assert_array_equal(code.rank(codewords), indices)


@pytest.mark.parametrize(
    "composition", [(30, 30), (126, 1), (127, 1), (1, 127), (300, 2), (4,) * 5, (1,) * 19]
)
def test_ranking_is_exact_at_the_ends_of_long_and_of_large_codes(composition):
    code = CompositionCode(composition)
    indices = np.array([0, 1, code.capacity // 2, code.capacity - 2, code.capacity - 1])
    np.testing.assert_array_equal(code.rank(code.unrank(indices)), indices)


def test_all_127_levels_can_be_used():
    code = CompositionCode((1,) + (0,) * 125 + (1,))
    np.testing.assert_array_equal(all_codewords(code), [[0, 126], [126, 0]])
    np.testing.assert_array_equal(code.rank(all_codewords(code)), [0, 1])


def test_more_codewords_than_one_chunk_are_all_different():
    code = CompositionCode.shortest(100_000)
    codewords = code.unrank(np.arange(100_000))
    assert len(np.unique(codewords, axis=0)) == 100_000
    np.testing.assert_array_equal(code.rank(codewords), np.arange(100_000))


def test_a_million_codewords_take_seconds_at_most():
    code = CompositionCode.shortest(10**6)
    started = time.perf_counter()
    code.unrank(np.arange(10**6))
    assert time.perf_counter() - started < 5


def test_bits_are_those_of_independent_symbols():
    code = CompositionCode.shortest(4096, levels=4)
    assert code.bits_per_symbol == 2
    assert code.bits_per_codeword == 2 * code.length >= math.log2(code.capacity)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: CompositionCode.shortest(0), "size of a code must be at least 1, got 0"),
        (lambda: CompositionCode.shortest(-5, 4), "got -5"),
        (lambda: CompositionCode.shortest(8, 1), "2 to 127 levels, got 1"),
        (lambda: CompositionCode.shortest(8, 128), "2 to 127 levels, got 128"),
        (lambda: CompositionCode((1,) * 128), "2 to 127 levels, got 128"),
        (lambda: CompositionCode((3,)), "2 to 127 levels, got 1"),
        (lambda: CompositionCode((2, -1, 1)), "at least 0, got"),
        (lambda: CompositionCode((0, 4)), "at least two levels"),
        (lambda: CompositionCode((0, 0)), "at least two levels"),
    ],
)
def test_a_code_that_cannot_be_is_refused(build, message):
    with pytest.raises(CodeError, match=message) as refusal:
        build()
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("index", [-1, 6, 2**62])
def test_a_number_outside_the_code_is_refused(index):
    with pytest.raises(CodeError, match=rf"\[0, 6\), got {index}"):
        CompositionCode((2, 2)).unrank(np.array([0, index]))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0, 0, 0, 1], "must hold its levels"),
        ([1, 1, 1, 0], "must hold its levels"),
        ([0, 0, 1, 2], r"must be in \[0, 2\), got 2"),
        ([0, 1, 1, -1], r"must be in \[0, 2\), got -1"),
        ([256, 0, 1, 1], r"must be in \[0, 2\), got 256"),
        ([0, 1, 1], "must have 4 symbols, got 3"),
    ],
)
def test_a_row_that_is_no_codeword_is_refused(row, message):
    with pytest.raises(CodeError, match=message):
        CompositionCode((2, 2)).rank(np.array([row]))


@given(compositions, st.data())
def test_exactly_the_arrangements_can_be_ranked(counts, data):
    row = data.draw(st.lists(st.integers(0, len(counts) - 1), min_size=sum(counts), max_size=sum(counts)))
    code = CompositionCode(tuple(counts))
    if np.bincount(row, minlength=len(counts)).tolist() == counts:
        assert 0 <= code.rank(np.array(row)) < code.capacity
    else:
        with pytest.raises(CodeError):
            code.rank(np.array(row))


def test_codes_beyond_exact_int64_arithmetic_are_measured_but_not_ranked():
    code = CompositionCode.shortest(10**18)
    assert code.capacity >= 10**18
    with pytest.raises(CodeError, match="2\\^63"):
        code.unrank(np.array([0]))
    with pytest.raises(CodeError, match="2\\^63"):
        code.rank(np.array([0] * code.length))
