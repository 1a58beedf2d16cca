"""Find names as they are typed: the same rule here and in `assets/providers.js`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from georecall.facts.names import normalise

LISTED = 12
"""Names offered at a time."""


@dataclass(frozen=True, eq=False)
class NameSearch:
    """Names with consecutive ids from `first` on."""

    first: int
    names: Sequence[str]

    def __len__(self) -> int:
        """Number of names."""
        return len(self.names)

    def search(self, text: str, *, count: int = LISTED) -> list[int]:
        """Ids of the first `count` names for what was typed; a blank text gives the first names.

        Compared in Unicode NFC and, but for the first, in lower case: the name itself, names that equal the
        text, names that begin with it, names that hold it; each in the order of the table.
        """
        typed = normalise(text)
        found = dict.fromkeys(islice(self._matches(typed), count)) if typed else range(min(count, len(self)))
        return [self.first + number for number in found]

    def _matches(self, typed: str) -> Iterator[int]:
        wanted, lowered = typed.lower(), self._lowered
        equal = [number for number, name in enumerate(lowered) if name == wanted]
        yield from sorted(equal, key=lambda number: self.names[number] != typed)
        yield from (
            number for number, name in enumerate(lowered) if name.startswith(wanted) and name != wanted
        )
        yield from (
            number for number, name in enumerate(lowered) if wanted in name and not name.startswith(wanted)
        )

    @cached_property
    def _lowered(self) -> list[str]:
        return [name.lower() for name in self.names]
