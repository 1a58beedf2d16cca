"""The chain of thought as it is written down: sizes, embeddings, and what an edit shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import WORLDS, chains
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.errors import ConstructionError


@settings(max_examples=30)
@given(chains())
def test_every_embedding_row_has_the_same_sum_and_the_same_norm(chain):
    rows = np.concatenate(list(chain.embedding_chunks()))
    assert len(rows) == chain.vocabulary.size
    np.testing.assert_array_equal(rows.sum(axis=1), chain.n_relations * chain.code.level_sum)
    np.testing.assert_array_equal((rows**2).sum(axis=1), chain.n_relations * chain.code.squared_norm)


@settings(max_examples=30)
@given(chains())
def test_the_sizes_are_those_of_the_formulas(chain):
    n_relations, symbols = len(chain.table.relations), chain.code.length
    assert chain.code.capacity >= len(chain.table.entities) + 1
    assert chain.layout.dim == (n_relations + 1) * symbols + 2 * (chain.hops + 1)
    assert chain.width == n_relations * symbols == chain.layer().mlp.w1.shape[0]
    assert chain.context == 2 * (chain.hops + 1) == len(chain.positions())


@settings(max_examples=30)
@given(chains(), st.integers(1, 9))
def test_tables_are_the_same_however_many_rows_are_made_at_a_time(chain, rows):
    weights = chain.weights()
    np.testing.assert_array_equal(np.concatenate(list(chain.embedding_chunks(rows))), weights.embedding)
    np.testing.assert_array_equal(np.concatenate(list(chain.unembedding_chunks(rows))), weights.unembedding)


@settings(max_examples=30)
@given(chains())
def test_the_embedding_of_an_entity_holds_the_codewords_of_its_answers(chain):
    table, symbols = chain.table, chain.code.length
    rows = chain.entity_rows(slice(None))
    for entity, name in enumerate(table.entities):
        blocks = rows[entity, chain.layout["blocks"]].reshape(-1, symbols)
        answers = table.answers[entity] if entity < len(table.subjects) else [-1] * len(table.relations)
        held = [
            table.entities.index(table.attributes[answer]) + 1 if answer >= 0 else 0 for answer in answers
        ]
        np.testing.assert_array_equal(chain.code.rank(blocks.astype(np.int64)), held, err_msg=name)


@settings(max_examples=20)
@given(chains(), st.data())
def test_a_changed_answer_changes_one_embedding_row_and_shares_the_code(chain, data):
    before = chain.weights()
    row = data.draw(st.integers(0, len(chain.table.subjects) - 1))
    attribute = data.draw(st.sampled_from([*chain.table.entities, None]))
    relation = data.draw(st.sampled_from(chain.table.relations))
    changed = chain.with_answer(chain.table.subjects[row], relation, attribute)
    after = ChainOfThought(changed.table, chain.hops, levels=chain.levels).weights()
    assert changed.codewords is chain.codewords
    np.testing.assert_array_equal(changed.weights().embedding, after.embedding)
    differing = np.flatnonzero((after.embedding != before.embedding).any(axis=1))
    assert set(differing) <= {chain.vocabulary.entities.start + row}
    np.testing.assert_array_equal(after.unembedding, before.unembedding)


@pytest.mark.parametrize("hops", [0, -1])
def test_a_hop_limit_below_one_is_refused(hops):
    with pytest.raises(ConstructionError, match=f"must be 1 or more, got {hops}"):
        ChainOfThought(WORLDS["one fact"].table, hops)


@pytest.mark.parametrize("asked", [0, 4])
def test_more_relations_than_the_limit_or_none_are_refused(asked):
    chain = ChainOfThought(WORLDS["one fact"].table, 3)
    chain.check_hops(1)
    chain.check_hops(3)
    with pytest.raises(ConstructionError, match=f"1 to 3 relations .* got {asked}"):
        chain.check_hops(asked)
