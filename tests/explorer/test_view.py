"""What a page asks for one by one: subjects, attributes, the best outputs."""

import numpy as np
import pytest

from georecall.errors import AnalysisError, GeorecallError
from georecall.explorer import run_view
from georecall.explorer.view import NO_FACT
from georecall.facts.names import UNKNOWN


def test_a_subject_comes_with_its_row_and_its_answers(family, family_view):
    (alice,) = family_view.search("subjects", "alice")
    subject = family_view.subject(alice["id"])
    assert subject["name"] == "Alice"
    assert [answer["name"] for answer in subject["answers"]] == ["Sarah", "Helen", "doctor", UNKNOWN, UNKNOWN]
    stored = family.tensors[family.architecture.embedding][alice["id"]]
    assert subject["row"] == stored.tolist()


def test_the_unknown_answers_everything_by_the_unknown(family_view):
    answers = family_view.subject(family_view.about.unknown)["answers"]
    assert {answer["name"] for answer in answers} == {UNKNOWN}


def test_the_best_outputs_come_in_order_and_ties_by_id(family_view):
    width = family_view.outputs.shape[1]
    state = family_view.outputs[-1] / 4
    scores = family_view.outputs @ state
    best = family_view.top(state, 8)
    wanted = np.lexsort((np.arange(len(scores)), -scores))[:8]
    assert [output["id"] for output in best] == wanted.tolist()
    assert [output["score"] for output in best] == scores[wanted].tolist()
    nothing = np.zeros(width, np.float32)
    assert [output["id"] for output in family_view.top(nothing, 10**6)] == [*range(len(scores))]


@pytest.mark.parametrize(("length", "count"), [(1, 3), (10**3, 3), (None, 0)])
def test_a_state_of_another_length_and_an_empty_list_are_refused(family_view, length, count):
    state = np.zeros(length or family_view.outputs.shape[1], np.float32)
    with pytest.raises(GeorecallError, match="expected a state of"):
        family_view.top(state, count)


@pytest.mark.parametrize("ask", ["subject", "attribute"])
@pytest.mark.parametrize("number", [-1, 10**9])
def test_a_number_that_is_no_row_is_refused(family_view, ask, number):
    with pytest.raises(GeorecallError, match=f"expected one of .* got {number}"):
        getattr(family_view, ask)(number)


def test_a_missing_fact_of_a_run_is_no_answer(run):
    view = run_view(run, title="")
    assert NO_FACT not in view.answers(slice(0, 3))
    assert all(answer is not None for answer in view.subject(0)["answers"])


def test_a_member_that_a_run_has_not_is_refused(run):
    with pytest.raises(AnalysisError, match="expected a member from 0 to 1 of this run, got 2"):
        run_view(run, title="", member=2)
