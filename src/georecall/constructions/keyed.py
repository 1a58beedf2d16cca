"""What the constructions share in which an entity's codeword is the key to its facts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64

from georecall.constructions.single_answer import SingleAnswer
from georecall.theory.code import Code
from georecall.theory.code_registry import shortest_code


@dataclass(frozen=True)
class KeyedBySubject(SingleAnswer):
    """Codewords belong to entities here, so that an answer can be looked up again; the unknown has the last one."""

    @cached_property
    def code(self) -> Code:
        """The code of the entities and of the unknown."""
        return shortest_code(self._n_entities + 1, self.levels, name=self.code_name)

    @property
    def _n_entities(self) -> int:
        return len(self.table.entities)

    @cached_property
    def _codewords(self) -> Float64[np.ndarray, "names symbols"]:
        return self.code.first_words(self._n_entities + 1).astype(np.float64)

    @property
    def _unknown_codeword(self) -> Float64[np.ndarray, "symbols"]:
        return self._codewords[-1]

    @property
    def _names(self) -> Int64[np.ndarray, "outputs"]:
        """Index of the codeword of every output: the attributes, then the unknown."""
        return np.append(self.table.entity_of_attribute, self._n_entities)

    @property
    def _answered(self) -> Int64[np.ndarray, "subjects relations"]:
        """Index of the codeword of every answer."""
        return self._names[self.table.answers]

    def _embedding(
        self, where: str, subjects: Float64[np.ndarray, "subjects held"]
    ) -> Float64[np.ndarray, "tokens dim"]:
        """Subjects hold the given rows in a slice; relations one direction each in the slice "relation"."""
        n_subjects, n_relations = self.table.answers.shape
        rows = np.zeros((n_subjects + n_relations, self.layout.dim))
        rows[:n_subjects, self.layout[where]] = subjects
        rows[n_subjects:, self.layout["relation"]] = np.eye(n_relations)
        return rows

    def _unembedding(self, where: str) -> Float64[np.ndarray, "outputs dim"]:
        rows = np.zeros((self.unknown + 1, self.layout.dim))
        rows[:, self.layout[where]] = self._codewords[self._names]
        return rows

    def _relation_reader(self) -> Float64[np.ndarray, "relations dim"]:
        reader = np.zeros((len(self.table.relations), self.layout.dim))
        reader[:, self.layout["relation"]] = np.eye(len(self.table.relations))
        return reader
