"""Intervals are those of the textbooks."""

import numpy as np

from georecall.statistics.intervals import percentiles, wilson_interval


def test_the_wilson_interval_is_the_textbook_one():
    low, high = wilson_interval(np.array([0, 8, 10]), 10)
    np.testing.assert_allclose(low, [0, 0.490162, 0.722467], atol=1e-6)
    np.testing.assert_allclose(high, [0.277533, 0.943318, 1], atol=1e-6)


def test_an_interval_keeps_the_shape_of_the_rates():
    low, high = wilson_interval(np.array([[1, 2, 3], [4, 5, 6]]), 10)
    assert low.shape == high.shape == (2, 3)
    assert (np.diff(low.ravel()) > 0).all()


def test_of_what_was_drawn_the_middle_95_percent_lies_inside():
    low, high = percentiles(np.stack([np.arange(1001.0), -np.arange(1001.0)], axis=1))
    np.testing.assert_allclose(low, [25, -975])
    np.testing.assert_allclose(high, [975, -25])
