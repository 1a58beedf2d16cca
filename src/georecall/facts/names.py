"""What a name is: the one rule by which names are read, compared and asked for.

Any text is a name, with control characters, NUL and all, but for the reserved characters and lone surrogates.
"""

import difflib
import heapq
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os.path import commonprefix

from georecall.errors import GeorecallError, TableError, UnknownNameError

RELATION_MARK = "␞"
ENTITY_MARK = "␟"
END = "␃"
UNKNOWN = "␀"
RESERVED = (RELATION_MARK, ENTITY_MARK, END, UNKNOWN)
"""The characters a prompt writes around names; no name may contain one of them."""

WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Every character with the Unicode property White_Space, and the byte-order mark U+FEFF."""

_SEARCHED = 5_000


def normalise(name: str) -> str:
    """The normal form of a name: Unicode form NFC without outer white space.

    normalise(name) = NFC(name) stripped of WHITE_SPACE. Inner white space stays as it is, so
    "San  Jose" and "San Jose" are two names. The function is idempotent.

    Raises GeorecallError if the name is no text, or holds a lone surrogate, which no file can store.
    """
    if not isinstance(name, str):
        raise GeorecallError(f"expected text, got {name!r}")
    if name.isascii():
        return name.strip(WHITE_SPACE)
    if _has_surrogate(name):
        raise GeorecallError(f"expected Unicode text, got {name!r}, which holds a lone surrogate")
    return unicodedata.normalize("NFC", name).strip(WHITE_SPACE)


def fault(name: str) -> str | None:
    """Why a text cannot stand as a name in a table, in words; None when it can."""
    if not isinstance(name, str):
        return "is no text"
    if not name:
        return "is blank"
    if not name.isascii():
        if _has_surrogate(name):
            return "holds a lone surrogate"
        for mark in RESERVED:
            if mark in name:
                return f"holds the reserved character {mark!r} (U+{ord(mark):04X})"
    return None if normalise(name) == name else f"is not in normal form, which is {normalise(name)!r}"


def nearest(name: str, candidates: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """The candidates most like a name, best first, by `difflib` without regard to case.

    Among very many candidates only the 5,000 that begin most like the name and are closest in length take part.
    """
    wanted = name.casefold()

    def distance(candidate: str) -> tuple[int, int]:
        shared = commonprefix([candidate.casefold(), wanted])  # noqa: RUF071 - names are no paths
        return -len(shared), abs(len(candidate) - len(name))

    pool = heapq.nsmallest(_SEARCHED, candidates, key=distance)
    folded = {candidate.casefold(): candidate for candidate in reversed(pool)}
    return tuple(folded[match] for match in difflib.get_close_matches(wanted, folded, n=count))


def resolve(name: str, index: Mapping[str, int], *, kind: str) -> int:
    """The index of a name after `normalise`.

    Raises UnknownNameError if the name is not in the index; `kind` says in words what it should have been.
    """
    if name in index:  # the index holds names in normal form
        return index[name]
    try:
        return index[normalise(name)]
    except (KeyError, GeorecallError):
        close = ", ".join(map(repr, nearest(str(name), index))) or "none"
        raise UnknownNameError(
            f"expected one of the {len(index)} {kind} of the table, got {name!r}; nearest: {close}"
        ) from None


def check_names(names: Sequence[str], *, kind: str) -> None:
    """Refuse names that cannot stand in a table, or that stand in it twice.

    Raises TableError if a name has a `fault` or is repeated; `kind` says in words what the names are.
    """
    for name in names:
        if reason := fault(name):
            raise TableError(f"the name {name!r} among the {kind} {reason}")
    if len(set(names)) < len(names):
        repeated = next(name for name, copies in Counter(names).items() if copies > 1)
        raise TableError(f"expected distinct {kind}, got {repeated!r} more than once")


def _has_surrogate(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False
