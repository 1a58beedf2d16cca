import itertools
import math
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import GeorecallError
from georecall.theory.bounds import (
    bits_per_fact_bound,
    log2_factorial,
    no_cot_dimension,
    no_cot_parameters,
    one_hop_bits,
    one_hop_dimension,
)
from georecall.theory.codes import CompositionCode

subjects = st.integers(2, 10**12)
relations = st.integers(1, 64)
few_hops = st.integers(1, 5)
precisions = st.sampled_from([1, 2, 8, 16, 32])
parameters = st.integers(0, 10**12)


def stirling_log2_factorial(n):
    """log2 n! to some 40 digits for n ≥ 10^5, by the first terms of Stirling's series."""
    with localcontext(prec=60):
        n = Decimal(n)
        two_pi = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494")
        series = 1 / (12 * n) - 1 / (360 * n**3) + 1 / (1260 * n**5)
        return ((n + Decimal("0.5")) * n.ln() - n + two_pi.ln() / 2 + series) / Decimal(2).ln()


def brute_force_trees(n_subjects, n_relations, hops):
    """Every (T, A, B): T trees that branch B ways, node by node, on at most half of the subjects."""
    for branching in range(1, n_relations + 1):
        nodes = sum(branching**depth for depth in range(hops))
        for trees in range(1, n_subjects // 2 // nodes + 1):
            yield trees, branching ** (hops - 1) * n_relations, branching


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 100, 1000, 10_000])
def test_log2_factorial_agrees_with_the_exact_integer(n):
    assert log2_factorial(n) == pytest.approx(math.log2(math.factorial(n)), rel=1e-14, abs=0)


@pytest.mark.parametrize("n", [10**5, 10**6 + 7, 10**9, 10**12, 10**12 + 1, 10**15])
def test_log2_factorial_of_large_numbers_agrees_with_forty_digits(n):
    exact = stirling_log2_factorial(n)
    assert abs(Decimal(log2_factorial(n)) - exact) / exact < Decimal("1e-14")


def test_one_hop_bits_count_the_tables():
    assert one_hop_bits(3, 2) == pytest.approx(math.log2(6**2))
    assert one_hop_bits(1, 5) == 0


@given(st.integers(2, 10**6), relations, precisions, parameters)
def test_one_hop_dimension_is_the_least_that_fits_the_tables(n_subjects, n_relations, bits, other_parameters):
    bound = one_hop_dimension(n_subjects, n_relations, bits=bits, other_parameters=other_parameters)
    needed = Fraction(one_hop_bits(n_subjects, n_relations))

    def room(dimension):
        return bits * (n_subjects * dimension + other_parameters)

    assert room(bound.least) >= needed * (1 - Fraction(1, 10**13))
    assert bound.least == 0 or room(bound.least - 1) < needed
    assert bound.least - 1 < bound.value <= bound.least or bound.least == bound.value == 0


def test_a_table_that_fits_exactly_needs_no_dimension_more():
    assert one_hop_dimension(2, 2, bits=1).least == 1
    assert one_hop_dimension(2, 2, bits=1, other_parameters=2).least == 0
    assert no_cot_dimension(2 * 3**5, 1, 1, bits=math.log2(3)).least == 5


@pytest.mark.parametrize(("n_subjects", "bits"), [(4096, 10.559), (10**6, 18.489), (10**12, 38.420)])
def test_the_bits_of_a_random_fact_approach_log2_n_less_log2_e(n_subjects, bits):
    assert bits_per_fact_bound(n_subjects) == pytest.approx(bits, abs=5e-4)
    assert bits_per_fact_bound(n_subjects) > math.log2(n_subjects) - math.log2(math.e)


@given(st.integers(1, 10**12), st.integers(2, 127))
def test_no_code_stores_a_fact_in_fewer_bits_than_counting_allows(n_subjects, levels):
    code = CompositionCode.shortest(n_subjects, levels)
    assert code.bits_per_codeword >= math.log2(n_subjects) >= bits_per_fact_bound(n_subjects)


@pytest.mark.parametrize(
    ("n_subjects", "factor"), [(1024, 1.519), (4096, 1.421), (10**6, 1.245), (10**9, 1.160), (10**12, 1.120)]
)
def test_two_level_codes_come_ever_nearer_to_the_bound(n_subjects, factor):
    ratio = CompositionCode.shortest(n_subjects).bits_per_codeword / bits_per_fact_bound(n_subjects)
    assert factor - 0.002 < ratio < factor


@pytest.mark.parametrize(
    ("n_subjects", "n_relations", "hops", "trees"),
    [(6, 2, 1, 3), (6, 2, 2, 1), (7, 1, 2, 1), (8, 1, 2, 2), (8, 1, 4, 1), (6, 1, 3, 1)],
)
def test_some_roots_already_tell_as_many_worlds_apart_as_is_claimed(n_subjects, n_relations, hops, trees):
    permutations = np.array(list(itertools.permutations(range(n_subjects))))
    answers = []
    for root, path in itertools.product(range(trees), itertools.product(range(n_relations), repeat=hops)):
        reached = np.full((len(permutations),) * n_relations, root)
        for relation in path:
            world = np.arange(len(permutations)).reshape(
                [-1 if axis == relation else 1 for axis in range(n_relations)]
            )
            reached = permutations[world, reached]
        answers.append(reached.ravel())
    told_apart = len(np.unique(np.ravel_multi_index(answers, (n_subjects,) * len(answers))))
    bound = no_cot_dimension(n_subjects, n_relations, hops, bits=1)
    assert bound.answers == n_relations**hops
    assert bound.subjects == trees
    assert math.log2(told_apart) >= trees * n_relations**hops * math.log2(n_subjects / 2)


@given(st.integers(2, 300), st.integers(1, 5), few_hops, precisions, st.integers(0, 3000))
def test_the_best_trees_are_found(n_subjects, n_relations, hops, bits, other):
    per_answer = math.log2(n_subjects / 2) / bits
    trees = list(brute_force_trees(n_subjects, n_relations, hops))
    dimension = max((answers * per_answer - other / count for count, answers, _ in trees), default=0)
    least_parameters = max((count * (answers * per_answer - other) for count, answers, _ in trees), default=0)
    bound = no_cot_dimension(n_subjects, n_relations, hops, bits=bits, other_parameters=other)
    assert bound.value == pytest.approx(max(dimension, 0), rel=1e-12, abs=1e-9)
    assert (bound.subjects, bound.answers, bound.branching) in trees or bound.subjects == len(trees) == 0
    bound = no_cot_parameters(n_subjects, n_relations, hops, bits=bits, dimension=other)
    assert bound.value == pytest.approx(max(least_parameters, 0), rel=1e-12, abs=1e-9)


@given(subjects, relations, few_hops, precisions, st.integers(0, 10**6))
def test_the_two_forms_of_the_hop_bound_agree(n_subjects, n_relations, hops, bits, dimension):
    other = no_cot_parameters(n_subjects, n_relations, hops, bits=bits, dimension=dimension).least
    needed = no_cot_dimension(n_subjects, n_relations, hops, bits=bits, other_parameters=other)
    assert needed.least <= dimension
    if other > 0:
        fewer = no_cot_dimension(n_subjects, n_relations, hops, bits=bits, other_parameters=other * 99 // 100)
        assert fewer.value > dimension * (1 - 1e-12)


@given(st.tuples(subjects, subjects).map(sorted), relations, few_hops, precisions, parameters)
def test_bounds_never_fall_with_more_subjects(pair, n_relations, hops, bits, other):
    few, many = pair
    for bound in (one_hop_dimension, lambda n, r, **rest: no_cot_dimension(n, r, hops, **rest)):
        lower = bound(few, n_relations, bits=bits, other_parameters=other)
        higher = bound(many, n_relations, bits=bits, other_parameters=other)
        assert lower.value <= higher.value * (1 + 1e-12)


@given(subjects, st.tuples(relations, relations).map(sorted), few_hops, precisions, parameters)
def test_bounds_never_fall_with_more_relations(n_subjects, pair, hops, bits, other):
    few, many = pair
    for bound in (one_hop_dimension, lambda n, r, **rest: no_cot_dimension(n, r, hops, **rest)):
        lower = bound(n_subjects, few, bits=bits, other_parameters=other)
        higher = bound(n_subjects, many, bits=bits, other_parameters=other)
        assert lower.value <= higher.value * (1 + 1e-12)


@given(st.integers(2, 16), st.integers(1, 4), precisions)
def test_each_hop_multiplies_the_bound_while_whole_trees_fit(n_relations, hops, bits):
    bound = no_cot_dimension(10**12, n_relations, hops, bits=bits)
    deeper = no_cot_dimension(10**12, n_relations, hops + 1, bits=bits)
    assert bound.answers == n_relations**hops
    assert deeper.value == pytest.approx(n_relations * bound.value)


def test_the_hop_bound_speaks_where_a_whole_tree_exceeds_the_subjects():
    bound = no_cot_dimension(4096, 16, 4, bits=1)
    assert (bound.subjects, bound.answers, bound.branching) == (1, 12**3 * 16, 12)
    assert bound.value == 12**3 * 16 * 11


def test_nothing_is_proved_where_no_tree_fits():
    bound = no_cot_dimension(10, 4, 6, bits=1)
    assert bound.to_dict() == {"value": 0.0, "least": 0, "subjects": 0, "answers": 0, "branching": 0}


@pytest.mark.parametrize(("n_relations", "hops"), [(10**7, 1), (1, 10**6), (2, 10**6), (10**7, 10**6)])
def test_a_single_hop_and_a_million_hops_are_no_work(n_relations, hops):
    started = time.perf_counter()
    bound = no_cot_dimension(10**12, n_relations, hops, bits=1)
    assert (bound.subjects, bound.answers, bound.branching) == (10**12 // (2 * hops), n_relations, 1)
    assert time.perf_counter() - started < 1


def test_of_one_hop_every_root_is_a_tree_of_its_own():
    bound = no_cot_dimension(4096, 16, 1, bits=1)
    assert (bound.subjects, bound.answers, bound.branching) == (2048, 16, 1)
    assert one_hop_dimension(4096, 16, bits=1).branching == 1


def test_parameters_elsewhere_can_hold_all_facts():
    assert no_cot_dimension(4096, 16, 2, bits=16, other_parameters=10**9).value == 0


def test_a_trillion_subjects_do_not_overflow():
    assert one_hop_dimension(10**12, 16, bits=1).least == math.ceil(16 * 38.42035)
    assert no_cot_dimension(10**12, 1000, 4, bits=1).answers == 1000**4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log2_factorial(-1), "n must be at least 0, got -1"),
        (lambda: bits_per_fact_bound(0), "n_subjects must be at least 1, got 0"),
        (lambda: one_hop_bits(0, 1), "n_subjects must be at least 1, got 0"),
        (lambda: one_hop_bits(4, 0), "n_relations must be at least 1, got 0"),
        (lambda: one_hop_dimension(4, 1, bits=0), "bits must be positive and finite, got 0"),
        (lambda: one_hop_dimension(4, 1, bits=math.inf), "bits must be positive and finite, got inf"),
        (lambda: one_hop_dimension(4, 1, bits=math.nan), "bits must be positive and finite, got nan"),
        (lambda: one_hop_dimension(4, 1, bits=1, other_parameters=-1), "other_parameters must be at least 0"),
        (lambda: no_cot_dimension(1, 1, 1, bits=1), "n_subjects must be at least 2, got 1"),
        (lambda: no_cot_dimension(4, 0, 1, bits=1), "n_relations must be at least 1, got 0"),
        (lambda: no_cot_dimension(4, 1, 0, bits=1), "hops must be at least 1, got 0"),
        (lambda: no_cot_dimension(4, 1, 1, bits=-2.0), "bits must be positive and finite, got -2.0"),
        (lambda: no_cot_dimension(4, 1, 1, bits=1, other_parameters=-9), "got -9"),
        (lambda: no_cot_parameters(4, 1, 1, bits=1, dimension=-1), "dimension must be at least 0, got -1"),
        (lambda: no_cot_parameters(4, 1, 1, bits=0.0, dimension=1), "bits must be positive"),
    ],
)
def test_bad_arguments_are_named_in_one_line(call, message):
    with pytest.raises(GeorecallError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)
