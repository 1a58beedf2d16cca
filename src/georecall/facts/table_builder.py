"""Facts from any kind of source, added cell by cell and checked as a whole, become what a table holds."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from georecall.errors import GeorecallError, TableError
from georecall.facts.checks import BLANK, CodedFacts, Origin, refuse_blanks, refuse_unusable_names, settle
from georecall.facts.names import WHITE_SPACE, normalise
from georecall.facts.reports import ReadReport, lookalikes


class CodedNames(dict[str, int]):
    """The codes 0, 1, … of the names in one column, in order of first appearance; a blank cell is -1.

    Looking up a cell adds its name when it is new. `altered` counts the cells that were not in normal form.
    """

    def __init__(self) -> None:
        super().__init__({"": BLANK})
        self.names: list[str] = []
        self.altered: Counter[str] = Counter()

    def __missing__(self, cell: str) -> int:
        """The code of a new name, or of a cell not in normal form."""
        try:
            name = normalise(cell)
        except GeorecallError:
            name = cell  # refused later, with every place that holds it
        if name != cell:
            self.altered[cell] += 1
        if name not in self:
            self[name] = len(self.names)
            self.names.append(name)
        return self[name]


class TableContent(NamedTuple):
    """The fields of a `FactTable`."""

    subjects: tuple[str, ...]
    relations: tuple[str, ...]
    attributes: tuple[str, ...]
    answers: Int64[np.ndarray, "subjects relations"]


class TableBuilder:
    """Facts on their way into a table."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self._subjects, self._relations, self._objects = CodedNames(), CodedNames(), CodedNames()
        self._numbers, self._codes = array("q"), array("q")

    def add_long(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Add numbered rows of subject, relation and object."""
        subjects, relations, objects = self._subjects, self._relations, self._objects
        for number, (subject, relation, answer) in rows:
            self._numbers.append(number)
            self._codes.extend((subjects[subject], relations[relation], objects[answer]))

    def add_wide(self, relations: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Add numbered rows of a subject and its answer to each of the relations."""
        codes = [self._relations[relation] for relation in relations]
        for number, (subject, *answers) in rows:
            subject_code = self._subjects[subject]
            for relation_code, answer in zip(codes, answers, strict=True):
                self._numbers.append(number)
                self._codes.extend((subject_code, relation_code, self._objects[answer]))

    def build(
        self, *, allow_missing: bool = False, ignored_columns: tuple[str, ...] = ()
    ) -> tuple[TableContent, ReadReport]:
        """The content of the table of all facts added, and what became of them.

        Raises TableError if there is no fact, a blank subject or relation, a blank object that is not
        allowed, a name that cannot stand, or two different answers to one question.
        """
        if not self._numbers:
            raise TableError(f"{self.origin.source}: no facts, at most a header")
        facts = self.coded()
        refuse_blanks(facts, allow_missing=allow_missing)
        refuse_unusable_names(facts)
        answers, repeats = settle(facts)
        content = TableContent(
            subjects=tuple(self._subjects.names),
            relations=tuple(self._relations.names),
            attributes=tuple(self._objects.names),
            answers=answers,
        )
        altered = self._subjects.altered + self._relations.altered + self._objects.altered
        report = ReadReport(
            duplicates_dropped=repeats,
            cells_trimmed=sum(n for cell, n in altered.items() if cell.strip(WHITE_SPACE) != cell),
            cells_composed=sum(
                n for cell, n in altered.items() if not unicodedata.is_normalized("NFC", cell)
            ),
            blanks=int(np.count_nonzero(facts.object == BLANK)),
            lookalikes=self._lookalikes(),
            ignored_columns=ignored_columns,
        )
        return content, report

    def coded(self) -> CodedFacts:
        """All facts added so far."""
        codes = np.frombuffer(self._codes, dtype=np.int64).reshape(-1, 3)
        return CodedFacts(
            origin=self.origin,
            numbers=np.frombuffer(self._numbers, dtype=np.int64),
            subject=codes[:, 0],
            relation=codes[:, 1],
            object=codes[:, 2],
            names={
                "subject": self._subjects.names,
                "relation": self._relations.names,
                "object": self._objects.names,
            },
        )

    def _lookalikes(self) -> tuple[tuple[str, ...], ...]:
        entities = chain(self._subjects.names, self._objects.names)
        return (
            *lookalikes(entities, known=lambda name: name in self._subjects or name in self._objects),
            *lookalikes(self._relations.names, known=self._relations.__contains__),
        )
