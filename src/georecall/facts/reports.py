"""What reading a table did to it, in numbers and in sentences."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from georecall.facts.names import WHITE_SPACE

_SHOWN = 10
_SPACE = re.compile(f"[{WHITE_SPACE}]+")
_PLAIN = re.compile(f"[^{WHITE_SPACE}]+(?: [^{WHITE_SPACE}]+)*")


@dataclass(frozen=True, kw_only=True)
class ReadReport:
    """What a reader dropped, changed, left open or ignored.

    `cells_trimmed` lost outer white space and `cells_composed` were not in NFC; `blanks` are facts read as
    missing. Each group of `lookalikes` holds names kept apart that `appearance` does not tell apart.
    """

    duplicates_dropped: int = 0
    cells_trimmed: int = 0
    cells_composed: int = 0
    blanks: int = 0
    lookalikes: tuple[tuple[str, ...], ...] = ()
    ignored_columns: tuple[str, ...] = ()

    def notes(self) -> tuple[str, ...]:
        """A sentence for everything worth telling a user; nothing when the file was clean."""
        counted = (
            (self.duplicates_dropped, "exact duplicates of a fact dropped"),
            (self.cells_trimmed, "cells with outer white space, which was removed"),
            (self.cells_composed, "cells brought to the composed Unicode form NFC"),
            (self.blanks, "blank objects, read as unknown"),
        )
        notes = [f"{what}: {number}" for number, what in counted if number]
        if self.ignored_columns:
            notes.append(f"columns ignored: {', '.join(map(repr, self.ignored_columns))}")
        for group in self.lookalikes[:_SHOWN]:
            notes.append(f"different names that look alike: {', '.join(map(repr, group[:_SHOWN]))}")
        if len(self.lookalikes) > _SHOWN:
            notes.append(f"groups of names that look alike, all told: {len(self.lookalikes)}")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """The fields as a dictionary."""
        return asdict(self)


def appearance(name: str) -> str:
    """What the eye keeps of a name: NFKC without format characters, white space collapsed to one space."""
    if name.isascii() and _PLAIN.fullmatch(name):
        return name
    visible = "".join(c for c in name if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", visible)).strip(" ")


def lookalikes(names: Iterable[str], *, known: Callable[[str], bool]) -> tuple[tuple[str, ...], ...]:
    """Groups of different names of one appearance; `known` tells whether a text is one of the names."""
    groups: dict[str, dict[str, None]] = {}
    for name in names:
        seen = appearance(name)
        if seen != name:
            groups.setdefault(seen, {seen: None} if seen and known(seen) else {})[name] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
