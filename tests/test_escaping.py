"""What is printed is read and never acts: one rule for terminals, pages and figures."""

import re
import unicodedata
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

import georecall
from georecall.escaping import escaped, escaped_text

any_text = st.text(st.characters(exclude_categories=[]))
SOURCES = Path(georecall.__file__).parent


@given(any_text)
def test_escaped_text_stands_on_one_line_in_utf8_and_in_xml(text):
    shown = escaped(text)
    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Cn"} for c in shown)
    name = shown.encode().decode().replace("&", "&amp;").replace("<", "&lt;")
    assert ET.fromstring(f"<x>{name}</x>").text in {shown, None}  # noqa: S314


@given(any_text)
def test_escaping_twice_changes_nothing_more(text):
    assert escaped(escaped(text)) == escaped(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x9b\x7f", "\\x9b\\x7f"),
        ("\u202eabc", "\\u202eabc"),
        ("\u2028\ufffe\udcff", "\\u2028\\ufffe\\udcff"),
        ("👨‍👩‍👧 São\u00a0Tomé דוד \\", "👨‍👩‍👧 São\u00a0Tomé דוד \\"),
    ],
)
def test_what_acts_is_escaped_and_all_else_stays(text, shown):
    assert escaped(text) == shown


def test_a_template_prints_markup_as_it_is_and_text_escaped():
    assert escaped_text(Markup("<b>\n</b>")) == "<b>\n</b>"
    assert (escaped_text("\x1b"), escaped_text(3)) == ("\\x1b", 3)


def test_one_file_writes_to_the_terminal():
    writes = re.compile(r"^from rich\.(?!progress)|^import rich|\btyper\.echo|\.print\(|Text\(", re.MULTILINE)
    found = {path.name for path in (SOURCES / "cli").glob("*.py") if writes.search(path.read_text("utf-8"))}
    assert found == {"output.py"}
