"""Training examples are the table: every question that it answers, and nothing else."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cases import tables
from georecall.errors import GeorecallError, TrainingError
from georecall.facts.table import FactTable
from georecall.training.examples import Examples

FACTS = [("a", "r", "b"), ("b", "r", "c"), ("b", "q", "a"), ("c", "r", "end")]
TABLE = FactTable.from_facts(FACTS)


def walk(table, subject, relations):
    """Attributes on the way, by look-up of names; None from a fact that is missing on."""
    path, at = [], table.subjects[subject]
    for relation in relations:
        row = table.subject_index.get(at)
        answer = -1 if row is None else table.answers[row, relation]
        at = None if answer < 0 else table.attributes[answer]
        path.append(at)
    return path


def questions(table, hops):
    n_relations = len(table.relations)
    for subject in range(len(table.subjects)):
        for chain in np.ndindex(*[n_relations] * hops):
            yield subject, chain, walk(table, subject, chain)


@given(table=tables(), hops=st.integers(1, 3))
def test_the_questions_are_those_that_a_walk_through_the_names_answers(table, hops):
    rows = [row for row in questions(table, hops) if row[2][-1] is not None]
    if not rows:
        with pytest.raises(TrainingError, match=f"questions of {hops} hops"):
            Examples.of(table, hops, "direct")
        return
    first_relation = len(table.subjects)
    prompts = [[*(first_relation + relation for relation in chain), subject] for subject, chain, _ in rows]
    direct, cot = Examples.of(table, hops, "direct"), Examples.of(table, hops, "cot")
    assert direct.tokens.tolist() == prompts
    assert direct.targets.tolist() == [[table.attributes.index(path[-1])] for _, _, path in rows]
    assert cot.targets.tolist() == [[table.attributes.index(name) for name in path] for _, _, path in rows]
    assert cot.tokens.tolist() == [
        prompt + [table.subjects.index(name) for name in path[:-1]]
        for prompt, (_, _, path) in zip(prompts, rows, strict=True)
    ]


def test_missing_facts_and_ends_that_are_no_subjects_have_no_questions():
    assert len(Examples.of(TABLE, 1, "direct")) == len(FACTS)
    found = Examples.of(TABLE, 2, "cot")
    a, b, c = (TABLE.subjects.index(name) for name in "abc")
    r, q = (len(TABLE.subjects) + TABLE.relations.index(name) for name in "rq")
    assert sorted(found.tokens.tolist()) == sorted([[r, r, a, b], [r, q, a, b], [r, r, b, c], [q, r, b, a]])


@given(share=st.floats(0, 1, exclude_max=True), count=st.integers(1, 40), seed=st.integers(0, 9))
def test_a_split_is_disjoint_complete_and_seeded(share, count, seed):
    numbers = torch.arange(count)[:, None]
    examples = Examples(tokens=numbers, targets=2 * numbers)
    kept, held = examples.split(share, seed=seed)
    assert len(held) == int(share * count)
    assert sorted(torch.cat([kept.tokens, held.tokens])[:, 0].tolist()) == list(range(count))
    again = examples.split(share, seed=seed)
    for part, other in zip((kept, held), again, strict=True):
        assert torch.equal(part.targets, 2 * part.tokens)
        assert torch.equal(part.tokens, other.tokens)


def test_another_seed_splits_in_another_way():
    examples = Examples(tokens=torch.arange(50)[:, None], targets=torch.arange(50)[:, None])
    (_, one), (_, other) = (examples.split(0.5, seed=seed) for seed in (0, 1))
    assert not torch.equal(one.tokens, other.tokens)


def test_more_questions_than_can_be_asked_are_refused():
    with pytest.raises(GeorecallError, match="at most 10\\^8 queries"):
        Examples.of(TABLE, 60, "direct")
