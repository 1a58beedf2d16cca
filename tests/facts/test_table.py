import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import TableError, UnknownNameError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections, random_functions


def family():
    return FactTable.from_facts(
        [
            ("Alice", "wife", "Sarah"),
            ("Alice", "born", "London"),
            ("Sarah", "born", "Paris"),
            ("Bob", "wife", "Bob"),
        ]
    )


# Worlds are drawn as arguments and made in the test: run-time type checks use `random`, strategies must not.
worlds = st.tuples(*[st.integers(1, 5)] * 3, st.integers(0, 99), st.sampled_from([0.0, 0.5, 1.0]))
small_worlds = st.tuples(*[st.integers(1, 2)] * 3, st.integers(0, 3), st.just(0.5))


def elsewhere(code):
    """What a Python program without run-time type checks prints."""
    program = f"from georecall.facts.table import FactTable; import numpy as np\n{code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip()


def made(world):
    *sizes, seed, missing = world
    return random_functions(*sizes, rng=np.random.default_rng(seed), missing=missing)


def test_names_come_in_order_of_first_appearance():
    table = family()
    assert table.subjects == ("Alice", "Sarah", "Bob")
    assert table.relations == ("wife", "born")
    assert table.attributes == ("Sarah", "London", "Paris", "Bob")
    assert table.answers.tolist() == [[0, 1], [-1, 2], [3, -1]]


def test_entities_are_the_subjects_and_then_the_other_attributes():
    table = family()
    assert table.entities == ("Alice", "Sarah", "Bob", "London", "Paris")
    assert table.entity_of_attribute.tolist() == [1, 3, 4, 2]
    assert table.attribute_of_entity.tolist() == [-1, 0, 3, 1, 2]
    assert table.subject_of_attribute.tolist() == [1, -1, -1, 2]


@given(worlds)
def test_the_look_ups_agree_with_the_names(world):
    table = made(world)
    for name, entity in table.entity_index.items():
        assert table.entities[entity] == name
        assert table.attribute_of_entity[entity] == table.attribute_index.get(name, -1)
    for attribute, name in enumerate(table.attributes):
        assert table.entities[table.entity_of_attribute[attribute]] == name
        assert table.subject_of_attribute[attribute] == table.subject_index.get(name, -1)
    assert set(table.entities) == set(table.subjects) | set(table.attributes)


@given(worlds)
def test_the_facts_make_up_the_answers(world):
    table = made(world)
    facts = list(table.facts())
    assert len(facts) == table.n_facts
    answers = np.full_like(table.answers, -1)
    for s, r, a in facts:
        answers[table.subject_index[s], table.relation_index[r]] = table.attribute_index[a]
    np.testing.assert_array_equal(answers, table.answers)


def test_exact_duplicates_are_dropped_and_forms_of_one_name_merged():
    table = FactTable.from_facts(
        [("Café", "city", "Paris"), (" Cafe\u0301", "city", "Paris "), ("Café", "x", "y")]
    )
    assert table.subjects == ("Café",)
    assert table.n_facts == 2


def test_two_answers_to_one_question_are_refused():
    with pytest.raises(TableError, match=r"facts 1 and 2.*'Alice', relation 'wife': 'Sarah' and 'Mary'"):
        FactTable.from_facts([("Alice", "wife", "Sarah"), ("Alice", "wife", "Mary")])


@pytest.mark.parametrize(
    "fact", [("", "r", "o"), ("s", " ", "o"), ("s", "r", ""), ("s␞", "r", "o"), ("s", "r", "\ud800")]
)
def test_facts_with_unusable_names_are_refused(fact):
    with pytest.raises(TableError, match="fact 2, column"):
        FactTable.from_facts([("a", "b", "c"), fact])


def test_a_table_needs_a_fact():
    with pytest.raises(TableError, match="no facts"):
        FactTable.from_facts([])


@pytest.mark.parametrize(
    ("subjects", "relations", "attributes", "answers", "message"),
    [
        ((), ("r",), ("a",), np.zeros((0, 1)), "subjects and relations, got 0 and 1"),
        (("s",), (), ("a",), np.zeros((1, 0)), "subjects and relations, got 1 and 0"),
        (("s", "s"), ("r",), ("a",), np.zeros((2, 1)), "distinct subjects, got 's'"),
        (("s",), ("r",), ("a", "b", "a"), np.zeros((1, 1)), "distinct attributes, got 'a'"),
        (("s ",), ("r",), ("a",), np.zeros((1, 1)), "not in normal form"),
        (("s",), ("r",), ("a␃",), np.zeros((1, 1)), "reserved"),
        (("s",), ("r",), ("a",), np.ones((1, 1)), "answers from -1 to 0, got 1 to 1"),
        (("s",), ("r",), ("a",), np.full((1, 1), -2), "answers from -1 to 0, got -2"),
        (("s",), ("r",), ("a",), np.zeros((2, 1)), r"shape \(1, 1\), got int64 of \(2, 1\)"),
    ],
)
def test_impossible_tables_are_refused(subjects, relations, attributes, answers, message):
    with pytest.raises(TableError, match=message):
        FactTable(subjects, relations, attributes, answers.astype(np.int64))


def test_all_answers_may_be_missing_even_without_attributes():
    table = FactTable(("s",), ("r",), (), np.full((1, 1), -1))
    assert table.n_facts == 0
    assert table.entities == ("s",)
    assert table.attribute_of_entity.tolist() == [-1]


def test_the_answers_cannot_be_changed_from_outside():
    answers = np.zeros((1, 1), dtype=np.int64)
    table = FactTable(("s",), ("r",), ("a",), answers)
    answers[0, 0] = -1
    assert table.n_facts == 1
    with pytest.raises(ValueError, match="read-only"):
        table.answers[0, 0] = -1
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(table)).answers[0, 0] = -1  # noqa: S301


def test_names_are_asked_for_as_they_are_read():
    table = FactTable.from_facts([("Café", "first owner", "Zoe")])
    assert table.resolve_subject("\u00a0Cafe\u0301 ") == 0
    assert table.resolve_relation("first owner\n") == 0
    assert table.entities[table.resolve_entity("Zoe")] == "Zoe"
    with pytest.raises(UnknownNameError, match=r"1 relations.*got 'first  owner'; nearest: 'first owner'"):
        table.resolve_relation("first  owner")


@given(worlds, st.data())
def test_an_edit_changes_one_answer_and_nothing_else(world, data):
    table = made(world)
    s = data.draw(st.integers(0, len(table.subjects) - 1))
    r = data.draw(st.integers(0, len(table.relations) - 1))
    new = data.draw(st.sampled_from([*table.entities, None]))
    before = pickle.dumps((table.attributes, table.answers))
    edited = table.with_answer(table.subjects[s], table.relations[r], new)
    assert pickle.dumps((table.attributes, table.answers)) == before
    same = np.ones_like(table.answers, dtype=bool)
    same[s, r] = False
    assert edited.attributes[: len(table.attributes)] == table.attributes
    np.testing.assert_array_equal(edited.answers[same], table.answers[same])
    answer = edited.answers[s, r]
    assert (edited.attributes[answer] if answer >= 0 else None) == new


@given(worlds, st.data())
def test_an_edited_table_equals_one_made_from_its_fields(world, data):
    table = made(world)
    asked_before = table.digest(), table.n_facts, table.entity_index, table.attribute_of_entity
    assert all(answer is not None for answer in asked_before)
    new = data.draw(st.sampled_from([*table.entities, None]))
    edited = table.with_answer(table.subjects[0], table.relations[0], new)
    anew = FactTable(edited.subjects, edited.relations, edited.attributes, edited.answers)
    assert edited == anew
    assert edited.digest() == anew.digest()
    assert edited.n_facts == anew.n_facts
    assert edited.entities == anew.entities
    for look_up in ("attribute_index", "entity_index", "relation_index", "subject_index"):
        assert getattr(edited, look_up) == getattr(anew, look_up)
    for look_up in ("entity_of_attribute", "attribute_of_entity", "subject_of_attribute"):
        np.testing.assert_array_equal(getattr(edited, look_up), getattr(anew, look_up))


def test_an_edit_accepts_a_name_that_was_a_subject_only():
    edited = family().with_answer("Bob", "born", "Alice")
    assert edited.attributes == (*family().attributes, "Alice")
    assert list(edited.facts())[-1] == ("Bob", "born", "Alice")


def test_an_edit_refuses_names_that_the_table_does_not_have():
    for edit in (("Zed", "born", "Paris"), ("Bob", "age", "Paris"), ("Bob", "born", "Rome")):
        with pytest.raises(UnknownNameError):
            family().with_answer(*edit)


def test_an_edit_of_a_large_table_takes_less_than_five_milliseconds():
    table = random_bijections(4096, 16, rng=np.random.default_rng(0)).with_answer("x0", "r0", "x1")
    times = []
    for _ in range(20):
        start = time.perf_counter()
        table = table.with_answer("x7", "r3", "x9")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.005


@given(small_worlds, small_worlds)
def test_tables_are_equal_exactly_when_their_digests_are(one, other):
    one, other = made(one), made(other)
    assert (one == other) == (one.digest() == other.digest())
    assert (one == other) <= (hash(one) == hash(other))


def test_the_digest_tells_names_apart_that_join_to_the_same_text():
    answers = np.zeros((2, 1), dtype=np.int64)
    tables = [
        FactTable(("ab", "c"), ("r",), ("d",), answers),
        FactTable(("a", "bc"), ("r",), ("d",), answers),
        FactTable(("a", "b"), ("cr",), ("d",), answers),
        FactTable(("c", "ab"), ("r",), ("d",), answers),
        FactTable(("ab", "c"), ("rd",), (), answers - 1),
        FactTable(("ab", "c"), ("r",), ("d", "e"), answers),
    ]
    assert len({table.digest() for table in tables}) == len(tables)


def test_the_digest_is_the_same_in_another_process():
    code = "print(FactTable(('é', 'b'), ('r',), ('a',), np.array([[0], [-1]])).digest())"
    assert elsewhere(code) == FactTable(("é", "b"), ("r",), ("a",), np.array([[0], [-1]])).digest()


@pytest.mark.parametrize("value", ["None", "7"])
def test_values_that_are_no_text_are_refused_without_type_checks_too(value):
    code = f"""
try:
    FactTable.from_facts([('a', 'r', 'b'), ('b', 'r', {value})])
except ValueError as error:
    print(error)
"""
    assert elsewhere(code).endswith(f"fact 2, column 'object': {value} is no text")


def test_the_representation_is_short_for_any_size():
    assert repr(random_bijections(1000, 2, rng=np.random.default_rng(0))) == (
        "FactTable(1000 subjects, 2 relations, 1000 attributes, 2000 facts)"
    )


def test_subjects_that_are_the_attributes_share_their_look_ups():
    table = random_bijections(100, 2, rng=np.random.default_rng(0))
    assert table.entities is table.subjects
    assert table.entity_index is table.attribute_index is table.subject_index
    assert table.entity_of_attribute.tolist() == table.attribute_of_entity.tolist() == list(range(100))
