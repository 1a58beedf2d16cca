"""The mathematics of the pages as MathML, which browsers draw by themselves: no script, no font to fetch."""

import re
from html import unescape

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)

SIGNS = {
    **{
        "≥": r"\ge ",
        "≤": r"\le ",
        "≠": r"\ne ",
        "≈": r"\approx ",
        "→": r"\to ",
        "∈": r"\in ",
        "×": r"\times ",
    },
    **{"±": r"\pm ", "·": r"\cdot ", "−": "-", "Σ": r"\sum ", "Π": r"\prod ", "…": r"\ldots "},
    **{
        "⟨": r"\langle ",
        "⟩": r"\rangle ",
        "⌈": r"\lceil ",
        "⌉": r"\rceil ",
        "⌊": r"\lfloor ",
        "⌋": r"\rfloor ",
    },
}
"""Signs that the pages write themselves, which the converter would take for letters."""

FUNCTION = re.compile(r"\\(?:log|cos|max|min)(?:_(?:\w|\{[^{}]*\}))?")
"""Functions, which the converter would set without space around them."""

BARS = {
    "<mo>&#x0007C;</mo>": '<mo stretchy="false">|</mo>',
    "<mo>&#x02016;</mo>": '<mo stretchy="false">‖</mo>',
}
"""Bars, which would otherwise be as high as all that stands beside them."""


def with_mathml(page: str) -> str:
    """A page in which every formula that Markdown has set apart is MathML.

    Raises:
        ValueError: a formula has TeX that is not understood; the message shows it.
    """
    return FORMULA.sub(lambda found: mathml(unescape(found[2]).strip(), display=found[1] == "div"), page)


def mathml(tex: str, *, display: bool = False) -> str:
    """One formula.

    Raises:
        ValueError: the TeX is not understood; the message shows it.
    """
    try:
        made = convert(_plain(tex), display="block" if display else "inline")
    except Exception as error:  # the converter has many errors of its own, with no base
        raise ValueError(f"{error or type(error).__name__}, in: {tex}") from error
    if unknown := re.search(r"\\[A-Za-z]+", made):
        raise ValueError(f"{unknown[0]} is not understood, in: {tex}")
    for bar, fixed in BARS.items():
        made = made.replace(bar, fixed)
    return made


def _plain(tex: str) -> str:
    """The same in signs that the converter knows."""
    for sign, command in SIGNS.items():
        tex = tex.replace(sign, command)
    return FUNCTION.sub(r"\\,\g<0>\\,", tex)
