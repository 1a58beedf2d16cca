"""The two best scores of a row, found by groups."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from georecall.models.top_two import GROUP, top_two

scores = st.integers(1, 4).flatmap(
    lambda groups: arrays(
        np.float32,
        st.tuples(st.integers(1, 3), st.just(groups * GROUP)),
        elements=st.integers(-3, 3).map(float),
        fill=st.integers(-3, 3).map(float),
    )
)


@settings(max_examples=30)
@given(scores)
def test_the_best_and_its_lead_are_those_of_sorting(found):
    best, margin = top_two(torch.from_numpy(found.copy()))
    first, second = np.sort(found, axis=1)[:, :-3:-1].T
    np.testing.assert_array_equal(found[np.arange(len(found)), best], first)
    np.testing.assert_array_equal(margin, first - second)


@settings(max_examples=30)
@given(scores, st.data())
def test_the_lead_is_not_a_number_where_a_score_is_not(found, data):
    place = data.draw(st.integers(0, found.shape[1] - 1))
    found[0, place] = np.nan
    _, margin = top_two(torch.from_numpy(found))
    assert torch.isnan(margin[0])
    assert not torch.isnan(margin[1:]).any()


@pytest.mark.parametrize("place", [0, GROUP - 1, GROUP, 2 * GROUP - 1])
def test_padding_with_minus_infinity_never_wins(place):
    found = torch.full((1, 2 * GROUP), -torch.inf)
    found[0, place], found[0, 5] = 1, -2
    best, margin = top_two(found)
    assert (best.item(), margin.item()) == (place, 3)
