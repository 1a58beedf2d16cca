import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from georecall.errors import GeorecallError
from georecall.facts.queries import (
    Queries,
    all_queries,
    correct,
    gold_entities,
    gold_paths,
    margins,
    sample_queries,
)
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections, random_functions


@st.composite
def scored(draw):
    shape = draw(st.tuples(st.integers(0, 4), st.integers(1, 4)))
    kind = draw(st.sampled_from([np.float16, np.float32, np.float64]))
    few = st.sampled_from([0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 6e-8, 6e4, -6e4])
    scores = draw(hnp.arrays(kind, shape, elements=few.map(kind)))
    return scores, draw(hnp.arrays(np.int64, shape[0], elements=st.integers(-1, shape[1] - 1)))


def answers_by_names(table, query_subject, query_relations):
    """Follow a chain name by name, the plainest way there is."""
    facts = {(s, r): a for s, r, a in table.facts()}
    at = table.subjects[query_subject]
    for r in query_relations:
        at = facts.get((at, table.relations[r]))
        yield -1 if at is None else table.attribute_index[at]


@pytest.mark.parametrize(("n", "r", "hops"), [(1, 1, 1), (1, 1, 30), (3, 2, 1), (2, 3, 3), (5, 1, 4)])
def test_all_queries_are_all_and_in_order(n, r, hops):
    queries = all_queries(random_bijections(n, r, rng=np.random.default_rng(0)), hops)
    expected = [(s, *chain) for s in range(n) for chain in itertools.product(range(r), repeat=hops)]
    assert np.column_stack([queries.subjects, queries.relations]).tolist() == [list(q) for q in expected]


@pytest.mark.parametrize("hops", [8, 27, 1000, 10**9])
def test_too_many_queries_are_refused_before_they_are_made(hops):
    table = random_bijections(10, 10, rng=np.random.default_rng(0))
    with pytest.raises(GeorecallError, match=rf"10·10\^{hops}, about 10\^{hops + 1}"):
        all_queries(table, hops)


def test_at_least_one_hop_is_needed():
    table = random_bijections(2, 2, rng=np.random.default_rng(0))
    with pytest.raises(GeorecallError, match="at least 1 hop, got 0"):
        all_queries(table, 0)
    with pytest.raises(GeorecallError, match="at least 1 hop, got -1"):
        sample_queries(table, -1, 5, np.random.default_rng(0))
    with pytest.raises(GeorecallError, match="count of at least 0"):
        sample_queries(table, 1, -5, np.random.default_rng(0))


def test_samples_reach_every_query_and_depend_on_the_seed_alone():
    table = random_bijections(3, 2, rng=np.random.default_rng(0))
    one, two = (sample_queries(table, 2, 400, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one.relations, two.relations)
    assert len({(s, *r) for s, r in zip(one.subjects.tolist(), one.relations.tolist(), strict=True)}) == 12
    assert sample_queries(table, 2, 0, np.random.default_rng(7)).relations.shape == (0, 2)


@given(
    st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 7)),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.integers(0, 2**32),
    st.integers(1, 4),
)
def test_gold_paths_follow_the_facts_name_by_name(sizes, missing, seed, hops):
    table = random_functions(*sizes, rng=np.random.default_rng(seed), missing=missing)
    queries = sample_queries(table, hops, 20, np.random.default_rng(seed))
    expected = [
        list(answers_by_names(table, s, chain))
        for s, chain in zip(queries.subjects.tolist(), queries.relations.tolist(), strict=True)
    ]
    assert gold_paths(table, queries).tolist() == expected


def test_a_longer_chain_begins_like_a_shorter_one():
    table = random_functions(20, 3, 30, rng=np.random.default_rng(0), missing=0.2)
    long = sample_queries(table, 4, 200, np.random.default_rng(1))
    short = Queries(long.subjects, long.relations[:, :2])
    np.testing.assert_array_equal(gold_paths(table, long)[:, :2], gold_paths(table, short))


def test_cycles_and_self_loops_can_be_followed_to_any_depth():
    table = FactTable.from_facts(
        [("a", "next", "b"), ("b", "next", "c"), ("c", "next", "a"), ("a", "self", "a")]
    )
    queries = Queries(np.array([0, 0]), np.array([[0] * 99, [1] * 99]))
    assert [table.attributes[a] for a in gold_paths(table, queries)[:, -1]] == ["a", "a"]


def test_a_chain_through_an_entity_without_facts_is_unknown_from_there_on():
    table = FactTable.from_facts(
        [("Alice", "born", "London"), ("Alice", "wife", "Sarah"), ("Sarah", "born", "Paris")]
    )
    queries = Queries(np.array([0, 0, 1]), np.array([[0, 0, 0], [1, 0, 1], [1, 0, 0]]))
    london, sarah, paris = (table.attribute_index[name] for name in ("London", "Sarah", "Paris"))
    assert gold_paths(table, queries).tolist() == [[london, -1, -1], [sarah, paris, -1], [-1, -1, -1]]


def test_gold_entities_are_the_gold_attributes_among_the_entities():
    table = random_functions(5, 2, 9, rng=np.random.default_rng(0), missing=0.3)
    queries = all_queries(table, 2)
    for entity, attribute in zip(
        gold_entities(table, queries).flat, gold_paths(table, queries).flat, strict=True
    ):
        assert (entity < 0) == (attribute < 0)
        assert entity < 0 or table.entities[entity] == table.attributes[attribute]


@pytest.mark.parametrize("size", [1, 5, 18, 100])
def test_split_queries_are_the_same_queries_in_order(size):
    queries = all_queries(random_bijections(2, 3, rng=np.random.default_rng(0)), 2)
    parts = list(queries.split(size))
    assert all(len(part.subjects) <= size for part in parts)
    np.testing.assert_array_equal(np.concatenate([part.subjects for part in parts]), queries.subjects)
    np.testing.assert_array_equal(np.concatenate([part.relations for part in parts]), queries.relations)


def test_a_table_without_attributes_knows_nothing():
    table = FactTable(("s",), ("r",), (), np.array([[-1]]))
    assert gold_paths(table, all_queries(table, 3)).tolist() == [[-1, -1, -1]]
    assert not correct(np.zeros((1, 0)), np.array([-1])).any()


@pytest.mark.parametrize(("subject", "relation"), [(-1, 0), (2, 0), (0, -1), (0, 1)])
def test_queries_from_outside_the_table_are_refused(subject, relation):
    table = random_bijections(2, 1, rng=np.random.default_rng(0))
    with pytest.raises(GeorecallError, match="indices from 0 to"):
        gold_paths(table, Queries(np.array([subject]), np.array([[relation]])))


@given(scored())
def test_right_means_strictly_above_every_other_and_no_nan(case):
    scores, gold = case
    expected = [
        g >= 0 and not np.isnan(row).any() and all(row[g] > other for i, other in enumerate(row) if i != g)
        for row, g in zip(scores, gold, strict=True)
    ]
    assert correct(scores, gold).tolist() == expected


@given(scored())
def test_a_margin_is_positive_exactly_where_the_answer_is_right(case):
    scores, gold = case
    gaps = margins(scores, gold)
    assert gaps.dtype == scores.dtype
    assert (gaps > 0).tolist() == correct(scores, gold).tolist()
    assert np.isneginf(gaps[gold < 0]).all()


def test_margins_are_the_gold_score_minus_the_best_other():
    scores = np.array(
        [[3.0, 1.0, 2.5], [3.0, 1.0, 2.5], [1.0, 1.0, 0.0], [np.nan, 5.0, 0.0], [np.inf, np.inf, 0.0]]
    )
    np.testing.assert_array_equal(margins(scores, np.array([0, 2, 1, 1, 0])), [0.5, -0.5, 0.0, np.nan, 0.0])


def test_a_constant_scorer_is_never_right():
    assert not correct(np.ones((5, 3)), np.array([0, 1, 2, 0, 1])).any()


def test_the_margin_of_an_only_attribute_is_infinite():
    assert margins(np.array([[0.0], [-np.inf]]), np.array([0, 0])).tolist() == [np.inf, np.inf]


def test_a_gold_answer_outside_the_scores_is_refused():
    for judge in (correct, margins):
        with pytest.raises(GeorecallError, match="gold indices from -1 to 2, got 3"):
            judge(np.zeros((1, 3)), np.array([3]))
