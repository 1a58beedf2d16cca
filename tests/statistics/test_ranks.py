"""A rank of one is a right answer; ties and what is not a number are none."""

import numpy as np
import pytest

from georecall.facts.queries import correct
from georecall.statistics.readout import nearness, reciprocal_ranks


def test_first_places_are_the_answers_that_are_correct():
    closeness = np.random.default_rng(0).integers(0, 3, size=(200, 4)).astype(np.float64)
    right = np.random.default_rng(1).integers(0, 4, size=200)
    np.testing.assert_array_equal(reciprocal_ranks(closeness, right) == 1, correct(closeness, right))


@pytest.mark.parametrize("place", [0, 1])
def test_where_a_closeness_is_not_a_number_nothing_is_right(place):
    closeness = np.array([[1.0, 0.5]])
    closeness[0, place] = np.nan
    assert reciprocal_ranks(closeness, np.array([0])).tolist() == [0.5]


def test_what_cannot_be_named_has_no_rank_and_takes_no_place():
    closeness, nameable = np.array([[3.0, 2, 1], [3, 2, 1]]), np.array([False, True, True])
    assert reciprocal_ranks(closeness, np.array([0, 2]), nameable).tolist() == [0, 0.5]


def test_the_nearest_code_is_that_of_the_least_distance():
    rng = np.random.default_rng(2)
    estimates, codes = rng.normal(size=(30, 5)), rng.normal(size=(9, 5)) * np.arange(1, 10)[:, None]
    distances = np.linalg.norm(estimates[:, None] - codes, axis=2)
    np.testing.assert_array_equal(nearness(estimates, codes).argmax(axis=1), distances.argmin(axis=1))
