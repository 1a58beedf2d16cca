import pytest

from georecall.errors import TableError
from georecall.facts.columns import ColumnNames, is_long, long_columns, wide_columns

LONG = ("subject", "relation", "object")


@pytest.mark.parametrize(
    ("header", "names", "long"),
    [
        (LONG, {}, True),
        (("x", "object", "relation", "subject"), {}, True),
        (("country", "capital"), {}, False),
        (("country", "capital"), {"subject": "country"}, False),
        (("subject", "capital"), {"subject": "subject"}, False),
        (("head", "rel", "tail"), {"subject": "head", "relation": "rel", "object": "tail"}, True),
        (("head", "relation", "object"), {"subject": "head"}, True),
    ],
)
def test_a_table_is_long_with_all_three_columns_and_wide_with_none(header, names, long):
    assert is_long(header, "auto", ColumnNames(**names), source="f.csv") is long


@pytest.mark.parametrize(
    ("header", "names", "missing"),
    [
        (("subject", "relation"), {}, "'object'"),
        (("subject", "object"), {}, "'relation'"),
        (("subject", "predicate", "value"), {}, "'relation', 'object'"),
        (("head", "relation", "tail"), {"subject": "head"}, "'object'"),
        (("Subject", "Relation", "Object"), {}, "'subject', 'relation', 'object'"),
        (("a", "b", "c"), {"relation": "b"}, "'subject', 'object'"),
        (("a", "b", "c"), {"object": "d"}, "'subject', 'relation', 'd'"),
    ],
)
def test_a_table_with_some_of_the_long_columns_is_neither(header, names, missing):
    with pytest.raises(TableError, match=f"^f.csv: no column {missing}; the columns are '{header[0]}', "):
        is_long(header, "auto", ColumnNames(**names), source="f.csv")


def test_the_form_asked_for_decides():
    assert is_long(("a", "b"), "long", ColumnNames(), source="f.csv")
    assert not is_long(LONG, "wide", ColumnNames(), source="f.csv")


def test_long_columns_are_found_wherever_they_stand():
    assert long_columns(("object", "x", "subject", "relation"), ColumnNames(), source="f.csv") == [2, 3, 0]
    with pytest.raises(TableError, match="no column 'rel'"):
        long_columns(LONG, ColumnNames(relation="rel"), source="f.csv")
    with pytest.raises(TableError, match="three different columns"):
        long_columns(LONG, ColumnNames(object="subject"), source="f.csv")


def test_wide_columns_begin_with_the_subject():
    assert wide_columns(("a", "b", "c"), ColumnNames(), source="f.csv") == [0, 1, 2]
    assert wide_columns(("a", "b", "c"), ColumnNames(subject="b"), source="f.csv") == [1, 0, 2]


@pytest.mark.parametrize(
    ("header", "names", "message"),
    [
        (("a", "b"), {"subject": "z"}, "no column 'z'; the columns are 'a', 'b'"),
        (("a", "b"), {"relation": "b"}, "no relation and object columns"),
        (("a", "", "b"), {}, "column 2 has none"),
        (("", "a"), {}, "column 1 has none"),
        (("subject;relation;object",), {}, "one for each relation, got 'subject;relation;object'"),
    ],
)
def test_impossible_wide_columns_are_refused(header, names, message):
    with pytest.raises(TableError, match=message):
        wide_columns(header, ColumnNames(**names), source="f.csv")
