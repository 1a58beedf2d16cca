import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.facts.reports import ReadReport, appearance, lookalikes


def grouped(*names):
    return lookalikes(names, known=set(names).__contains__)


def test_a_clean_file_needs_no_note():
    assert ReadReport().notes() == ()


def test_every_change_has_a_note():
    report = ReadReport(
        duplicates_dropped=3,
        cells_trimmed=1,
        cells_composed=2,
        blanks=4,
        lookalikes=(("a b", "a  b"),),
        ignored_columns=("source",),
    )
    notes = report.notes()
    assert len(notes) == 6
    for text in (": 3", ": 1", ": 2", ": 4", "'source'", "'a b', 'a  b'"):
        assert any(text in note for note in notes)
    assert report.to_dict()["blanks"] == 4


def test_many_groups_are_shown_as_ten_and_a_total():
    notes = ReadReport(lookalikes=tuple((f"a {i}", f"a  {i}") for i in range(12))).notes()
    assert len(notes) == 11
    assert notes[-1].endswith("12")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("San Jose", "San  Jose"),
        ("New York", "New\u00a0York"),
        ("a b", "a\nb"),
        ("file", "ﬁle"),
        ("Ａ", "A"),
        ("Paris", "Par\u200bis"),
        ("Paris", "Paris\u200e"),
        ("x²", "x2"),
    ],
)
def test_names_that_look_alike_are_grouped(one, other):
    assert [set(group) for group in grouped(other, "else", one)] == [{one, other}]


def test_variants_are_grouped_even_without_the_plain_name():
    assert grouped("a\u00a0b", "a  b", "c  d") == (("a\u00a0b", "a  b"),)


@pytest.mark.parametrize("pair", [("a", "A"), ("ab", "a b"), ("e", "é"), ("\u200b", "x")])
def test_names_that_look_different_are_not_grouped(pair):
    assert grouped(*pair) == ()


@given(st.text())
def test_an_appearance_has_only_single_inner_spaces(text):
    assert "  " not in appearance(text)
    assert appearance(text) == appearance(text).strip(" ")
