import numpy as np
import pytest

from georecall.errors import GeorecallError
from georecall.facts.worlds import random_bijections, random_functions


@pytest.mark.parametrize(("n", "r"), [(1, 1), (1, 3), (7, 1), (20, 4)])
def test_every_shared_relation_is_a_bijection_of_the_subjects(n, r):
    table = random_bijections(n, r, rng=np.random.default_rng(3))
    assert table.attributes is table.subjects
    assert table.subjects[0] == "x0"
    assert (np.sort(table.answers, axis=0) == np.arange(n)[:, None]).all()


def test_disjoint_relations_have_attributes_of_their_own():
    table = random_bijections(5, 3, rng=np.random.default_rng(3), disjoint=True)
    assert len(table.entities) == 5 + 15
    for r in range(3):
        assert {table.attributes[a] for a in table.answers[:, r]} == {f"r{r}:a{a}" for a in range(5)}


def test_all_bijections_of_three_subjects_are_about_equally_frequent():
    rng = np.random.default_rng(5)
    drawn = [tuple(random_bijections(3, 1, rng=rng).answers[:, 0]) for _ in range(1200)]
    counts = [drawn.count(bijection) for bijection in set(drawn)]
    assert len(counts) == 6
    assert min(counts) > 140


@pytest.mark.parametrize(("n", "a"), [(1, 1), (4, 4), (10, 3), (3, 10)])
def test_the_first_attributes_of_random_functions_are_the_first_subjects(n, a):
    table = random_functions(n, 2, a, rng=np.random.default_rng(0))
    assert len(table.attributes) == a
    assert table.attributes[: min(n, a)] == table.subjects[: min(n, a)]
    assert len(table.entities) == max(n, a)
    assert table.n_facts == 2 * n


@pytest.mark.parametrize(("missing", "least", "most"), [(0.0, 4000, 4000), (0.25, 2850, 3150), (1.0, 0, 0)])
def test_facts_are_missing_with_the_given_probability(missing, least, most):
    table = random_functions(1000, 4, 50, rng=np.random.default_rng(0), missing=missing)
    assert least <= table.n_facts <= most


def test_answers_of_random_functions_reach_every_attribute():
    table = random_functions(500, 2, 10, rng=np.random.default_rng(0))
    assert set(table.answers.ravel()) == set(range(10))


@pytest.mark.parametrize("disjoint", [False, True])
def test_the_seed_decides_the_table(disjoint):
    tables = [
        random_bijections(30, 3, rng=np.random.default_rng(seed), disjoint=disjoint) for seed in (1, 1, 2)
    ]
    assert tables[0] == tables[1] != tables[2]
    functions = [
        random_functions(30, 3, 9, rng=np.random.default_rng(seed), missing=0.3) for seed in (1, 1, 2)
    ]
    assert functions[0] == functions[1] != functions[2]


def test_impossible_sizes_and_probabilities_are_refused():
    rng = np.random.default_rng(0)
    for sizes in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(GeorecallError, match="at least 1"):
            random_bijections(*sizes, rng=rng)
    with pytest.raises(GeorecallError, match="n_attributes of at least 1, got 0"):
        random_functions(1, 1, 0, rng=rng)
    for missing in (-0.1, 1.5, float("nan")):
        with pytest.raises(GeorecallError, match="probability"):
            random_functions(1, 1, 1, rng=rng, missing=missing)
