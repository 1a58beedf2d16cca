"""The codes that a construction can be given, by name: another one is a file of its own, and a line here."""

from collections.abc import Callable

from georecall.errors import CodeError
from georecall.theory.code import Code
from georecall.theory.codes import CompositionCode

COMPOSITION = "composition"

CODES: dict[str, Callable[[int, int], Code]] = {COMPOSITION: CompositionCode.shortest}
"""Makes the shortest code of at least so many words over so many levels."""


def shortest_code(size: int, levels: int = 2, *, name: str = COMPOSITION) -> Code:
    """The shortest code of that name with at least `size` words over `levels` levels.

    Raises CodeError for a name that is not in `CODES`, a size below 1, or levels that it does not have.
    """
    if name not in CODES:
        raise CodeError(f"expected a code among {', '.join(CODES)}, got {name!r}")
    return CODES[name](size, levels)
