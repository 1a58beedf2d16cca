"""The checks between gathered facts and a table; each refuses with the places at fault."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from jaxtyping import Int64

from georecall.errors import TableError
from georecall.facts.names import fault

BLANK = -1
SHOWN = 10
MAX_CELLS = 10**8


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where facts come from, in the words that messages use.

    `unit` is what facts are numbered by: line, row, sample or fact. The other three name the columns; a wide
    table has no column of relations (None): they are its header, and its objects stand under them.
    """

    source: str
    unit: str = "line"
    subject: str = "subject"
    relation: str | None = "relation"
    object: str = "object"


@dataclass(frozen=True, kw_only=True)
class CodedFacts:
    """Facts as codes into lists of names, -1 where a cell is blank, with their numbers in the source."""

    origin: Origin
    numbers: Int64[np.ndarray, " facts"]
    subject: Int64[np.ndarray, " facts"]
    relation: Int64[np.ndarray, " facts"]
    object: Int64[np.ndarray, " facts"]
    names: dict[str, list[str]]

    def place(self, fact: int, kind: str) -> str:
        """The number and the column of the cell that holds a fact's subject, relation or object."""
        if kind == "relation" and self.origin.relation is None:
            return f"header, column {self.column(fact, kind)!r}"
        return f"{self.origin.unit} {self.numbers[fact]}, column {self.column(fact, kind)!r}"

    def column(self, fact: int, kind: str) -> str:
        """The column that holds a fact's subject, relation or object."""
        if kind != "subject" and self.origin.relation is None:
            return self.names["relation"][int(self.relation[fact])]
        return str(getattr(self.origin, kind))

    def question(self, fact: int) -> str:
        """What a fact answers, in words."""
        subject = self.names["subject"][self.subject[fact]]
        return f"subject {subject!r}, relation {self.names['relation'][self.relation[fact]]!r}"


def listed(names: Iterable[str]) -> str:
    """The first ten names, in quotation marks, and how many there are if there are more."""
    every = tuple(names)
    rest = [f"… {len(every):,} in all"] if len(every) > SHOWN else []
    return ", ".join([*map(repr, every[:SHOWN]), *rest])


def refuse(source: str, what: str, places: Iterable[str]) -> NoReturn:
    """Raise a TableError that lists the first ten places and says how many there are; repeats count once."""
    distinct = tuple(dict.fromkeys(places))
    rest = [f"… {len(distinct)} in all"] if len(distinct) > SHOWN else []
    raise TableError("\n  ".join([f"{source}: {what}", *distinct[:SHOWN], *rest]))


def refuse_blanks(facts: CodedFacts, *, allow_missing: bool) -> None:
    """Refuse blank subjects and relations, and blank objects unless they are allowed to be missing."""
    for kind in ("subject", "relation"):
        blank = np.flatnonzero(getattr(facts, kind) == BLANK)
        if blank.size:
            refuse(facts.origin.source, f"blank {kind}", (facts.place(fact, kind) for fact in blank.tolist()))
    blank = np.flatnonzero(facts.object == BLANK)
    if blank.size and not allow_missing:
        refuse(
            facts.origin.source,
            "blank object (allow_missing reads it as unknown)",
            (f"{facts.place(fact, 'object')}: {facts.question(fact)}" for fact in blank.tolist()),
        )


def refuse_unusable_names(facts: CodedFacts) -> None:
    """Refuse names that hold a reserved character or a lone surrogate."""
    places: list[str] = []
    for kind, names in facts.names.items():
        reasons = {code: reason for code, name in enumerate(names) if (reason := fault(name))}
        codes = getattr(facts, kind)
        for fact in np.flatnonzero(np.isin(codes, list(reasons))).tolist():
            places.append(f"{facts.place(fact, kind)}: {names[codes[fact]]!r} {reasons[codes[fact]]}")
    if places:
        refuse(facts.origin.source, "names that cannot stand in a table", places)


def settle(facts: CodedFacts) -> tuple[Int64[np.ndarray, "subjects relations"], int]:
    """The answer to every question, -1 where there is none, and how many facts only repeat an earlier one.

    Raises TableError if a question has two different answers, or an answer and a blank, or if there are more
    than 10^8 questions.
    """
    n_subjects, n_relations = len(facts.names["subject"]), len(facts.names["relation"])
    if n_subjects * n_relations > MAX_CELLS:
        sizes = f"{n_subjects:,} subjects and {n_relations:,} relations"
        raise TableError(f"{facts.origin.source}: expected at most {MAX_CELLS:,} questions, got {sizes}")
    questions = facts.subject * n_relations + facts.relation
    first = np.full(n_subjects * n_relations, -1)
    # NumPy keeps the last of repeated assignments; in reverse order that is the first fact of a question.
    first[questions[::-1]] = np.arange(len(questions))[::-1]
    earlier = first[questions]
    clashes = np.flatnonzero(facts.object != facts.object[earlier])
    if clashes.size:
        refuse(facts.origin.source, "two answers to one question", _clashes(facts, earlier, clashes))
    repeats = int(np.count_nonzero(earlier != np.arange(len(questions))))
    asked = first >= 0
    first[asked] = facts.object[
        first[asked]
    ]  # from here on the answers: a second array might not fit in memory
    return first.reshape(-1, n_relations), repeats


def _clashes(
    facts: CodedFacts, earlier: Int64[np.ndarray, " facts"], clashes: Int64[np.ndarray, " clashes"]
) -> Iterable[str]:
    for fact in clashes.tolist():
        pair = [facts.object[earlier[fact]], facts.object[fact]]
        answers = [repr(facts.names["object"][code]) if code != BLANK else "blank" for code in pair]
        lines = f"{facts.origin.unit}s {facts.numbers[earlier[fact]]} and {facts.numbers[fact]}"
        column = facts.column(fact, "object")
        yield f"{lines}, column {column!r}: {facts.question(fact)}: {answers[0]} and {answers[1]}"
