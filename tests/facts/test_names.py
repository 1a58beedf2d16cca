import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import GeorecallError, UnknownNameError
from georecall.facts.names import RESERVED, WHITE_SPACE, fault, nearest, normalise, resolve

any_text = st.text(st.characters(exclude_categories=["Cs"]))


@given(any_text)
def test_normalising_twice_changes_nothing_more(text):
    assert normalise(normalise(text)) == normalise(text)


@given(any_text)
def test_a_normal_form_is_composed_and_has_no_outer_white_space(text):
    name = normalise(text)
    assert unicodedata.is_normalized("NFC", name)
    assert name.strip(WHITE_SPACE) == name


@given(any_text, st.text(WHITE_SPACE), st.text(WHITE_SPACE))
def test_outer_white_space_and_decomposition_make_no_other_name(text, before, after):
    assert normalise(before + unicodedata.normalize("NFD", text) + after) == normalise(text)


@pytest.mark.parametrize(
    "name", ["San  Jose", "New\u00a0York", "a\nb", "zero\u200bwidth", "ﬁ", "<end>", "NA", "|"]
)
def test_inner_characters_are_kept_exactly(name):
    assert normalise(name) == name
    assert fault(name) is None


def test_white_space_is_the_unicode_property_and_the_byte_order_mark():
    # str.isspace follows another property, which adds four control characters to White_Space.
    spaces = {chr(c) for c in range(sys.maxunicode + 1) if chr(c).isspace()} - set("\x1c\x1d\x1e\x1f")
    assert set(WHITE_SPACE) == spaces | {"\ufeff"}
    assert len(WHITE_SPACE) == len(set(WHITE_SPACE))


def test_the_reserved_characters_are_four_symbols_for_control_characters():
    assert [f"{ord(mark):04X}" for mark in RESERVED] == ["241E", "241F", "2403", "2400"]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_lone_surrogates_are_refused(text):
    with pytest.raises(GeorecallError, match="lone surrogate"):
        normalise(text)
    assert fault(text) == "holds a lone surrogate"


@pytest.mark.parametrize("mark", RESERVED)
def test_a_name_that_holds_a_reserved_character_is_at_fault(mark):
    assert f"U+{ord(mark):04X}" in (fault(f"a{mark}b") or "")


@pytest.mark.parametrize("text", ["", " x", "x\ufeff", "Cafe\u0301"])
def test_blank_and_unnormalised_texts_are_at_fault(text):
    assert fault(text) is not None


def test_the_nearest_names_come_first_and_case_is_no_difference():
    assert nearest("ALICE", ["Bob", "Alicia", "Alice", "Zoe"], count=2) == ("Alice", "Alicia")
    assert nearest("x", ["completely", "different"]) == ()


def test_the_nearest_of_very_many_names_are_found_quickly():
    assert "x12345" in nearest("x123b45", (f"x{number}" for number in range(20_000)))


def test_an_unknown_name_is_reported_with_what_was_expected_and_what_is_near():
    with pytest.raises(UnknownNameError, match=r"2 subjects of the table, got 'Alic'; nearest: 'Alice'"):
        resolve("Alic", {"Alice": 0, "Bob": 1}, kind="subjects")
    with pytest.raises(UnknownNameError, match="nearest: none"):
        resolve("\ud800", {"Alice": 0}, kind="subjects")
