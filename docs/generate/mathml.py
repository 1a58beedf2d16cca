"""The mathematics of the pages as MathML, which browsers draw by themselves: no script, no font to fetch."""

import re
from html import unescape

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


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
        made = convert(tex, display="block" if display else "inline")
    except Exception as error:  # the converter has many errors of its own, with no base
        raise ValueError(f"{error or type(error).__name__}, in: {tex}") from error
    if unknown := re.search(r"\\[A-Za-z]+", made):
        raise ValueError(f"{unknown[0]} is not understood, in: {tex}")
    return made
