"""The table of facts that everything else recalls, compiles and measures."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, repeat
from typing import Any

import numpy as np
from jaxtyping import Int64

from georecall.errors import TableError
from georecall.facts.checks import Origin
from georecall.facts.names import check_names, resolve
from georecall.facts.table_builder import TableBuilder


@dataclass(frozen=True, eq=False, repr=False)
class FactTable:
    """Facts (s, r, a): `answers[s, r]` is the index in `attributes` of the answer, or -1 where it is missing.

    Names are in normal form (`names.normalise`) and unique within their kind; an entity may be both a subject
    and an attribute, which is how facts are chained. The table is immutable: `answers` is a read-only copy.

    Raises TableError if there is no subject or no relation, a name cannot stand or is repeated, or the answers
    have another shape, type or range.
    """

    subjects: tuple[str, ...]
    relations: tuple[str, ...]
    attributes: tuple[str, ...]
    answers: Int64[np.ndarray, "subjects relations"]

    def __post_init__(self) -> None:
        """Check and freeze the fields."""
        shape = len(self.subjects), len(self.relations)
        if 0 in shape:
            raise TableError(f"expected subjects and relations, got {shape[0]} and {shape[1]} of them")
        check_names(self.subjects, kind="subjects")
        check_names(self.relations, kind="relations")
        if self.attributes is not self.subjects:
            check_names(self.attributes, kind="attributes")
        _check_answers(self.answers, shape, len(self.attributes))
        vars(self)["answers"] = _read_only(self.answers.copy(order="C"))

    @classmethod
    def from_facts(cls, facts: Iterable[tuple[str, str, str]]) -> "FactTable":
        """The table of (subject, relation, object) triples; names in order of first appearance.

        Names are normalised and exact duplicates dropped.

        Raises TableError if there are no facts, a name that cannot stand, or two answers to one question.
        """
        builder = TableBuilder(Origin(source="facts", unit="fact"))
        builder.add_long(enumerate(facts, 1))
        content, _ = builder.build()
        return cls(*content)

    @cached_property
    def subject_index(self) -> Mapping[str, int]:
        """Name to index in `subjects`."""
        return _index(self.subjects)

    @cached_property
    def relation_index(self) -> Mapping[str, int]:
        """Name to index in `relations`."""
        return _index(self.relations)

    @cached_property
    def attribute_index(self) -> Mapping[str, int]:
        """Name to index in `attributes`."""
        return self.subject_index if self.attributes == self.subjects else _index(self.attributes)

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """The subjects, then the attributes that are no subjects, in attribute order."""
        if self.attributes == self.subjects:
            return self.subjects
        return self.subjects + tuple(compress(self.attributes, self.subject_of_attribute < 0))

    @cached_property
    def entity_index(self) -> Mapping[str, int]:
        """Name to index in `entities`."""
        return self.subject_index if self.entities is self.subjects else _index(self.entities)

    @cached_property
    def subject_of_attribute(self) -> Int64[np.ndarray, " attributes"]:
        """Index in `subjects` of each attribute, -1 where it is no subject."""
        if self.attributes == self.subjects:
            return _read_only(np.arange(len(self.subjects), dtype=np.int64))
        index = self.subject_index
        found = map(index.get, self.attributes, repeat(-1))
        return _read_only(np.fromiter(found, np.int64, count=len(self.attributes)))

    @cached_property
    def entity_of_attribute(self) -> Int64[np.ndarray, " attributes"]:
        """Index in `entities` of each attribute."""
        subject = self.subject_of_attribute
        new = subject < 0
        return _read_only(np.where(new, len(self.subjects) - 1 + np.cumsum(new), subject))

    @cached_property
    def attribute_of_entity(self) -> Int64[np.ndarray, " entities"]:
        """Index in `attributes` of each entity, -1 where it is no attribute."""
        attribute = np.full(len(self.entities), -1, dtype=np.int64)
        attribute[self.entity_of_attribute] = np.arange(len(self.attributes))
        return _read_only(attribute)

    def resolve_subject(self, name: str) -> int:
        """Index of a subject after `normalise`; UnknownNameError otherwise."""
        return resolve(name, self.subject_index, kind="subjects")

    def resolve_relation(self, name: str) -> int:
        """Index of a relation after `normalise`; UnknownNameError otherwise."""
        return resolve(name, self.relation_index, kind="relations")

    def resolve_entity(self, name: str) -> int:
        """Index in `entities` of a name after `normalise`; UnknownNameError otherwise."""
        return resolve(name, self.entity_index, kind="entities")

    def facts(self) -> Iterator[tuple[str, str, str]]:
        """The (subject, relation, object) facts that are present, subject by subject."""
        for subject, answers in zip(self.subjects, self.answers, strict=True):
            for relation, answer in zip(self.relations, answers.tolist(), strict=True):
                if answer >= 0:
                    yield subject, relation, self.attributes[answer]

    def followed(
        self, entities: Int64[np.ndarray, " batch"], relations: Int64[np.ndarray, "batch hops"]
    ) -> Int64[np.ndarray, "batch hops"]:
        """Entities met from each entity on, relation by relation: -1 from the first unknown fact on.

        An entity that is no subject has no facts, and a relation of -1 leads nowhere.
        """
        path, entity_of_answer = [], np.append(self.entity_of_attribute, -1)
        for relation in relations.T:
            is_asked = (entities >= 0) & (entities < len(self.subjects)) & (relation >= 0)
            answers = self.answers[np.where(is_asked, entities, 0), relation]
            entities = entity_of_answer[np.where(is_asked, answers, -1)]
            path.append(entities)
        return np.stack(path, axis=1)

    @cached_property
    def n_facts(self) -> int:
        """Number of facts that are present."""
        return int(np.count_nonzero(self.answers >= 0))

    def with_answer(self, subject: str, relation: str, attribute: str | None) -> "FactTable":
        """A new table in which one answer is `attribute`, or is missing when that is None.

        The attribute may be any entity of the table; one that was a subject only is appended to `attributes`.

        Raises UnknownNameError if the subject, the relation or the attribute is not in the table.
        """
        row, column = self.resolve_subject(subject), self.resolve_relation(relation)
        attributes, answer = self.attributes, -1
        if attribute is not None:
            entity = self.resolve_entity(attribute)
            answer = int(self.attribute_of_entity[entity])
            if answer < 0:
                attributes, answer = (*attributes, self.entities[entity]), len(attributes)
        answers = self.answers.copy()
        answers[row, column] = answer
        return self._edited(attributes, _read_only(answers))

    def _edited(self, attributes: tuple[str, ...], answers: Int64[np.ndarray, "s r"]) -> "FactTable":
        """A table of names already checked, sharing every look-up that an edit leaves as it was."""
        stale = {"answers", "n_facts", "_digest"}
        if attributes is not self.attributes:
            stale |= {"attributes", "attribute_index", "subject_of_attribute"}
            stale |= {"entity_of_attribute", "attribute_of_entity"}
        table = object.__new__(FactTable)
        vars(table).update({key: value for key, value in vars(self).items() if key not in stale})
        vars(table).update(attributes=attributes, answers=answers)
        return table

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of names and answers: equal for equal tables, and only for them."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256(b"georecall fact table")
        for names in (self.subjects, self.relations, self.attributes):
            text = "".join(names).encode()
            # Counts before contents: no other lists of names give the same bytes.
            digest.update(np.array([len(names), len(text)], dtype="<i8").tobytes())
            digest.update(np.fromiter(map(len, names), "<i8", count=len(names)).tobytes())
            digest.update(text)
        digest.update(self.answers.astype("<i8", copy=False).data)
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        """Whether names, their order and answers are the same."""
        if not isinstance(other, FactTable):
            return NotImplemented
        names = (self.subjects, self.relations, self.attributes)
        return names == (other.subjects, other.relations, other.attributes) and np.array_equal(
            self.answers, other.answers
        )

    def __hash__(self) -> int:
        """The digest as a hash."""
        return hash(self._digest)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields alone; the constructor sets the read-only flag, which NumPy does not pickle."""
        return FactTable, (self.subjects, self.relations, self.attributes, self.answers)

    def __repr__(self) -> str:
        """The sizes; a table may have millions of names."""
        sizes = f"{len(self.subjects)} subjects, {len(self.relations)} relations"
        return f"FactTable({sizes}, {len(self.attributes)} attributes, {self.n_facts} facts)"


def _index(names: tuple[str, ...]) -> dict[str, int]:
    return dict(zip(names, range(len(names)), strict=True))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _check_answers(answers: np.ndarray, shape: tuple[int, int], n_attributes: int) -> None:
    if answers.dtype != np.int64 or answers.shape != shape:
        raise TableError(f"expected int64 answers of shape {shape}, got {answers.dtype} of {answers.shape}")
    low, high = int(answers.min()), int(answers.max())
    if low < -1 or high >= n_attributes:
        raise TableError(f"expected answers from -1 to {n_attributes - 1}, got {low} to {high}")
