"""The turn from no to yes is found exactly where there is one, and searched around where success wavers."""

import json
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.training.threshold import Threshold, find_threshold

HIGHEST = 200


def search(
    succeeds: Callable[[int], list[bool]], *, guess: int = 20, highest: int = HIGHEST, recheck: int = 1
) -> Threshold:
    return find_threshold(succeeds, guess=guess, lowest=1, highest=highest, recheck=recheck)


def monotone(*turns: int) -> Callable[[int], list[bool]]:
    return lambda value: [value >= turn for turn in turns]


@given(
    lowest=st.integers(1, 30),
    size=st.integers(0, 100),
    turns=st.lists(st.integers(0, 100), min_size=1, max_size=4),
    guess=st.integers(-5, 400),
    recheck=st.integers(1, 3),
)
def test_monotone_turns_are_found_exactly_whatever_the_guess(lowest, size, turns, guess, recheck):
    highest = lowest + size
    turns = [lowest + turn for turn in turns]
    found = find_threshold(monotone(*turns), guess=guess, lowest=lowest, highest=highest, recheck=recheck)
    assert found.least == tuple(turn if turn <= highest else None for turn in turns)
    assert found.censored == (max(turns) > highest)
    assert found.monotone
    assert lowest <= found.tried[0] <= found.tried[-1] <= highest


@given(turns=st.lists(st.integers(1, 2000), min_size=1, max_size=3), guess=st.integers(1, 1000))
def test_few_values_are_tried_and_none_twice(turns, guess):
    asked = []

    def succeeds(value):
        asked.append(value)
        return monotone(*turns)(value)

    found = search(succeeds, guess=guess, highest=1000)
    steps = math.log(1000, 1.3) + math.log2(1000)
    assert len(asked) == len(set(asked)) <= len(turns) * steps
    assert found.tried == tuple(sorted(asked))


def test_a_repetition_that_never_succeeds_does_not_make_the_search_long():
    found = search(monotone(10, 11, HIGHEST + 1))
    assert found.least == (10, 11, None)
    assert len(found.tried) < 20


def test_no_value_succeeds():
    found = search(lambda _: [False, False])
    assert (found.least, found.censored, found.monotone) == ((None, None), True, True)
    assert found.tried[-1] == HIGHEST


def test_every_value_succeeds():
    found = search(lambda _: [True, True])
    assert (found.least, found.censored, found.monotone) == ((1, 1), False, True)
    assert found.tried[0] == 1


def test_the_only_value_allowed_is_tried_once():
    found = find_threshold(lambda _: [True, False], guess=50, lowest=7, highest=7, recheck=3)
    assert (found.least, found.tried, found.censored) == ((7, None), (7,), True)


def settled(right: set[int], least: int, recheck: int, highest: int) -> int:
    """The end of the first `recheck` successes in a row from `least` on, at most `highest`."""
    for end in range(least + recheck - 1, highest):
        if set(range(end - recheck + 1, end + 1)) <= right:
            return end
    return highest


@given(
    answers=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60),
    guess=st.integers(1, 60),
    recheck=st.integers(1, 3),
)
def test_a_success_that_wavers_is_searched_around(answers, guess, recheck):
    highest = len(answers)
    found = find_threshold(
        lambda value: answers[value - 1], guess=guess, lowest=1, highest=highest, recheck=recheck
    )
    for one, least in enumerate(found.least):
        right = {value for value in found.tried if answers[value - 1][one]}
        assert least == min(right, default=None)
        if least is None:
            assert highest in found.tried
            continue
        below = range(max(1, least - recheck), least)
        assert set(below) <= set(found.tried) - right
        right = {value for value in range(1, highest + 1) if answers[value - 1][one]}
        above = range(least, settled(right, least, recheck, highest) + 1)
        assert set(above) <= set(found.tried)


@given(answers=st.lists(st.booleans(), min_size=1, max_size=40))
def test_monotone_says_whether_any_value_tried_failed_above_a_success(answers):
    found = search(lambda value: [answers[value - 1]], highest=len(answers), recheck=len(answers))
    shown = [answers[value - 1] for value in found.tried]
    assert found.monotone == (shown == sorted(shown))


def test_a_gap_below_the_turn_is_found_within_the_recheck():
    right = {14, *range(17, HIGHEST + 1)}
    least = [search(lambda v: [v in right], guess=30, recheck=recheck).least for recheck in (1, 2, 3)]
    assert least == [(17,), (17,), (14,)]


def test_what_is_tried_for_one_repetition_moves_the_turn_of_another_that_wavers():
    found = search(lambda v: [v >= 20 or v in {9, 10}, v >= 10], recheck=2)
    assert found.least == (9, 10)
    assert {7, 8} <= set(found.tried)
    assert not found.monotone


def test_it_becomes_json():
    found = search(monotone(3, HIGHEST + 1), guess=3)
    assert json.loads(json.dumps(found.to_dict())) == {
        "least": [3, None],
        "tried": list(found.tried),
        "censored": True,
        "monotone": True,
    }


@pytest.mark.parametrize("recheck", [1, 2, 5])
def test_around_a_sharp_turn_exactly_the_values_to_recheck_are_tried(recheck):
    tried = search(monotone(50), guess=50, recheck=recheck).tried
    assert set(range(50 - recheck, 50 + recheck)) <= set(tried)
    assert 50 + recheck not in tried
