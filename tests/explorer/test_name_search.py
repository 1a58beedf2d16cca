"""Names are found as they are typed."""

from hypothesis import given
from hypothesis import strategies as st

from cases import accented_names, names
from georecall.explorer.name_search import NameSearch

NAMES = NameSearch(7, ("Anna", "joanna", "Ann", "ann", "Hannah", "ANN lee", "Bob", "Ångström"))


def found(text: str, count: int = 12) -> list[str]:
    return [NAMES.names[number - NAMES.first] for number in NAMES.search(text, count=count)]


def test_the_name_itself_comes_first_then_what_equals_begins_with_and_holds_the_text():
    assert found("ann") == ["ann", "Ann", "Anna", "ANN lee", "joanna", "Hannah"]
    assert found("Ann")[:2] == ["Ann", "ann"]


def test_no_more_names_are_given_than_asked_for():
    assert found("ann", 3) == ["ann", "Ann", "Anna"]


def test_a_blank_text_gives_the_first_names():
    assert found(" ", 2) == ["Anna", "joanna"]


def test_what_nothing_holds_finds_nothing():
    assert found("zzz") == []


def test_a_text_in_another_unicode_form_finds_the_name():
    assert found("a\u030angstro\u0308m ") == ["Ångström"]


@given(st.lists(names | accented_names, min_size=1, max_size=20, unique=True), st.data())
def test_every_name_is_the_first_that_its_own_text_finds(listed, data):
    name = data.draw(st.sampled_from(listed))
    assert NameSearch(0, listed).search(name)[0] == listed.index(name)
