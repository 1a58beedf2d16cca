"""Formulas become MathML, all of them or the build stops."""

import re
from xml.etree import ElementTree

import pytest
from mathml import mathml, with_mathml

from documents import ROOT, blocks

THEORY = ROOT / "docs" / "theory.md"


def test_a_formula_becomes_its_elements():
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in mathml("x^2")


def test_a_displayed_formula_is_a_block():
    assert 'display="block"' in mathml("x", display=True)
    assert 'display="inline"' in mathml("x")


def test_what_is_not_understood_is_an_error_that_shows_it():
    with pytest.raises(ValueError, match=re.escape(r"\unknown")):
        mathml(r"x + \unknown")


def test_the_formulas_of_the_theory_are_well_formed():
    displayed = [block.text for block in blocks(THEORY, "math")]
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", THEORY.read_text(encoding="utf-8"), flags=re.M | re.S)
    inline = re.findall(r"\$([^$\n]+)\$", prose)
    assert len(displayed) + len(inline) > 20
    for tex in displayed + inline:
        ElementTree.fromstring(mathml(tex))  # noqa: S314 - our own text


def test_formulas_in_a_page_are_replaced_and_the_rest_stays():
    page = r'<p>a <span class="arithmatex">\(x &lt; y\)</span> b</p><div class="arithmatex">\[z\]</div>'
    changed = with_mathml(page)
    assert changed.startswith("<p>a <math")
    assert changed.count("<math") == 2
    assert "arithmatex" not in changed


def test_signs_are_operators_and_functions_have_space_around_them():
    assert "<mo>&#x02265;</mo>" in mathml("a ≥ b")
    assert mathml(r"R\log_2 N").count("<mspace") == 2
