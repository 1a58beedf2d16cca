"""One owner of the small models' prompts: token ids, positions, lengths."""

import numpy as np
import pytest

from georecall.constructions.prompts import (
    RELATION,
    SUBJECT,
    chain_tokens,
    context,
    one_hop_tokens,
    question_tokens,
    subject_position,
)
from georecall.facts.queries import Queries

QUERIES = Queries(np.array([4, 0]), np.array([[1, 2, 0], [0, 0, 2]]))


def test_a_question_is_its_relations_and_then_its_subject():
    assert question_tokens(QUERIES, 5).tolist() == [[6, 7, 5, 4], [5, 5, 7, 0]]
    assert question_tokens(QUERIES, 5)[:, subject_position(3)].tolist() == [4, 0]


def test_the_entities_on_the_way_follow_the_question():
    tokens = chain_tokens(question_tokens(QUERIES, 5), np.array([[1, 2], [3, 3]]))
    assert tokens.tolist() == [[6, 7, 5, 4, 1, 2], [5, 5, 7, 0, 3, 3]]
    assert tokens.shape[1] == context(3, chain_of_thought=True)


@pytest.mark.parametrize("hops", [1, 3])
def test_a_question_at_once_has_a_token_for_each_relation_and_one_for_the_subject(hops):
    assert context(hops) == hops + 1


def test_all_relations_are_asked_subject_by_subject():
    tokens = one_hop_tokens(np.array([3, 1]), n_subjects=5, n_relations=2)
    assert tokens[:, RELATION].tolist() == [5, 6, 5, 6]
    assert tokens[:, SUBJECT].tolist() == [3, 3, 1, 1]
