"""Token ids: one row of the embedding for every control token, relation and entity."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Where each kind of token lies among the ids: `unknown, end, relations …, entities …`.

    The unknown is the answer to a fact that is not in the table. The end token fills the relation positions that
    a question leaves empty and closes the answer.
    """

    n_relations: int
    n_entities: int

    unknown = 0
    end = 1

    @property
    def size(self) -> int:
        """Number of tokens, 2 + R + E."""
        return 2 + self.n_relations + self.n_entities

    @property
    def relations(self) -> slice:
        """The ids of the relations."""
        return slice(2, 2 + self.n_relations)

    @property
    def entities(self) -> slice:
        """The ids of the entities."""
        return slice(2 + self.n_relations, self.size)

    def relation_ids(self, relations: Int64[np.ndarray, "*batch"]) -> Int64[np.ndarray, "*batch"]:
        """Token ids of relations; −1 becomes the end token."""
        return np.where(relations < 0, self.end, relations + self.relations.start)

    def entity_ids(self, entities: Int64[np.ndarray, "*batch"]) -> Int64[np.ndarray, "*batch"]:
        """Token ids of entities; −1 becomes the unknown."""
        return np.where(entities < 0, self.unknown, entities + self.entities.start)

    def entities_of(self, ids: Int64[np.ndarray, "*batch"]) -> Int64[np.ndarray, "*batch"]:
        """Entities of token ids; −1 for the unknown and for every token that is no entity."""
        return np.where(ids < self.entities.start, -1, ids - self.entities.start)
