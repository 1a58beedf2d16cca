"""Which columns of a file hold the facts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from georecall.errors import TableError
from georecall.facts.checks import listed

_INDEX = re.compile(r"Unnamed: \d+(\.\d+)?|__index_level_\d+__")

Form = Literal["auto", "long", "wide"]
"""A long table has a row for each fact; a wide one a row for each subject and a column for each relation."""


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The names a user gave to the columns of a file; None where nothing was said."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None

    @property
    def given(self) -> bool:
        """Whether any name was given."""
        return any(name is not None for name in (self.subject, self.relation, self.object))

    @property
    def long(self) -> tuple[str, str, str]:
        """The three columns of a long table, by default named after themselves."""
        return (
            "subject" if self.subject is None else self.subject,
            "relation" if self.relation is None else self.relation,
            "object" if self.object is None else self.object,
        )


def is_long(header: Sequence[str], form: Form, names: ColumnNames, *, source: str) -> bool:
    """Whether a table is to be read as long.

    In the form "auto" it is long when it has the three columns, and wide when it has none of them (but for a
    column of subjects that was named) and neither relation nor object was named.

    Raises TableError if the form is "auto" and neither is the case.
    """
    if form != "auto":
        return form == "long"
    if all(name in header for name in names.long):
        return True
    telling = names.long if names.subject is None else names.long[1:]
    found = {name.casefold() for name in telling} & {name.casefold() for name in header}
    if found or names.relation is not None or names.object is not None:
        raise _missing(header, names.long, source, hint="; name the columns, or ask for the form 'wide'")
    return False


def long_columns(header: Sequence[str], names: ColumnNames, *, source: str) -> list[int]:
    """Positions of the subject, relation and object columns.

    Raises TableError if one of them is missing, or two of them are the same.
    """
    if len(set(names.long)) < len(names.long):
        raise TableError(f"{source}: expected three different columns, got {listed(names.long)}")
    if not all(name in header for name in names.long):
        raise _missing(header, names.long, source)
    return [header.index(name) for name in names.long]


def wide_columns(header: Sequence[str], names: ColumnNames, *, source: str) -> list[int]:
    """Positions of the subject column, by default the first, and of the others, which are the relations.

    The index that pandas writes beside its columns is no relation: it is left out if the subject column is named.

    Raises TableError if the subject column is missing, no other is there, a column has no name, there is an index
    and the subject column was not named, or a relation or object column was named.
    """
    if names.relation is not None or names.object is not None:
        raise TableError(f"{source}: expected no relation and object columns in the form 'wide'")
    subject = header[0] if names.subject is None else names.subject
    if subject not in header:
        raise _missing(header, (subject,), source)
    first = header.index(subject)
    others = [position for position in range(len(header)) if position != first]
    if names.subject is None:
        nameless = [position for position in (first, *others) if _is_index(header[position])]
    else:
        others = [position for position in others if not _is_index(header[position], first=position == 0)]
        nameless = [position for position in others if not header[position]]
    if nameless:
        raise _nameless(header, nameless[0], source)
    if not others:
        raise TableError(
            f"{source}: expected a column of subjects and one for each relation, got {listed(header)}"
        )
    return [first, *others]


def _missing(header: Sequence[str], wanted: Sequence[str], source: str, *, hint: str = "") -> TableError:
    absent = listed([name for name in wanted if name not in header])
    return TableError(f"{source}: no column {absent}; the columns are {listed(header)}{hint}")


def _is_index(name: str, *, first: bool = True) -> bool:
    """Whether pandas writes an index under this name; without a name, the index is the first column."""
    return bool(_INDEX.fullmatch(name)) or (first and not name)


def _nameless(header: Sequence[str], position: int, source: str) -> TableError:
    name = f" but {header[position]!r}" if header[position] else ""
    return TableError(
        f"{source}, header: expected a name for every column, column {position + 1} has none{name} "
        "(an index? it is left out if the column of subjects is named, by --subject)"
    )
