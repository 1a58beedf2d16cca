"""Text for a terminal, a page or a figure: characters that would act there, instead of being read, are escaped."""

import traceback
import unicodedata

CONTROLS = {"Cc", "Zl", "Zp"}
"""Categories of control characters and of separators of lines and paragraphs."""

NO_CHARACTERS = {"Cs", "Cn"}
"""Categories of lone surrogates, as in file names that are not UTF-8, and of what Unicode does not assign."""

TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that change the direction of what follows, after the text as well."""


def escaped(text: str) -> str:
    r"""The text on one line, each character that is not to be read as in Python: `\n`, `\x1b`, `\u202e`, `\udcff`.

    What is left can be encoded in UTF-8 and stand in XML. A backslash stays as it is.
    """
    return text if text.isprintable() else "".join(repr(c)[1:-1] if _acts(c) else c for c in text)


def escaped_text(value: object) -> object:
    """What a template of a page prints: text escaped; markup, and what is no text, as it is."""
    return escaped(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def traceback_lines() -> list[str]:
    """The traceback of the exception being handled: it holds names of the user's as well."""
    return [escaped(line) for line in traceback.format_exc().splitlines()]


def _acts(character: str) -> bool:
    return character in TURNING or unicodedata.category(character) in CONTROLS | NO_CHARACTERS
