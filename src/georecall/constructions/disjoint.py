"""One hop with disjoint attributes: each relation has its own attribute set, and so a shorter code."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int64

from georecall.constructions.budget import require_memory
from georecall.constructions.one_hop import OneHop, inhibitions, selecting_layer
from georecall.constructions.weights import TransformerWeights
from georecall.errors import ConstructionError
from georecall.theory.code import Code
from georecall.theory.code_registry import shortest_code
from georecall.theory.sizes import ConstructionSize, disjoint_one_hop_size


@dataclass(frozen=True)
class DisjointOneHop(OneHop):
    """`OneHop` for relations that share no attribute: names are numbered within their relation.

    The block says which relation was asked, so it is kept instead of folded:

        y = h,   score of the a-th attribute of relation r = ⟨B_r C(a), y⟩,   of the unknown = ⟨Σ_r B_r C(0), y⟩

    with least margin 1 and `d = width = R·p`, p for the largest attribute set and the unknown
    (docs/theory.md §3).

    Raises:
        ConstructionError: an attribute answers two relations.
    """

    def __post_init__(self) -> None:
        """Check that one hop is asked for and that the attribute sets are disjoint."""
        super().__post_init__()
        shared = np.flatnonzero(self._answers_to.sum(axis=0) > 1)
        if len(shared):
            names = [self.table.relations[row] for row in np.flatnonzero(self._answers_to[:, shared[0]])]
            raise ConstructionError(
                f"the relations must share no attribute, but {self.table.attributes[shared[0]]!r} answers "
                f"{' and '.join(map(repr, names))}"
            )

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes."""
        n_subjects, n_relations = self.table.answers.shape
        return disjoint_one_hop_size(
            n_subjects,
            n_relations,
            n_attributes=self._largest,
            n_outputs=self.unknown,
            levels=self.levels,
            code_name=self.code_name,
        )

    @cached_property
    def code(self) -> Code:
        """The code of the largest attribute set and the unknown, which has codeword 0."""
        return shortest_code(self._largest + 1, self.levels, name=self.code_name)

    def weights(self) -> TransformerWeights:
        """The weights: embeddings in {−(L−1), …, L−1}, and a 2 that makes a sum of the mean."""
        require_memory(self.size.parameters, what="the one-hop construction")
        dim, n_relations, symbols = self.layout.dim, len(self.table.relations), self.code.length
        numbers = np.append(self._numbers, 0)[self.table.answers]
        words = self.code.first_words(self._largest + 1).astype(np.float64)
        subjects = words[numbers].reshape(-1, dim)
        unembedding = np.zeros((self.unknown + 1, n_relations, symbols))
        answering = self._answers_to.any(axis=0)
        relation = self._answers_to.argmax(axis=0)[answering]
        unembedding[np.flatnonzero(answering), relation] = words[self._numbers[answering]]
        unembedding[self.unknown] = words[0]
        return TransformerWeights(
            embedding=np.concatenate([subjects, inhibitions(n_relations, symbols, self.code.levels)]),
            positions=np.zeros((2, dim)),
            layers=(selecting_layer(np.eye(dim)),),
            unembedding=unembedding.reshape(-1, dim),
            residual=False,
        )

    @cached_property
    def _answers_to(self) -> np.ndarray:
        """Whether an attribute answers a relation, [relations, attributes]."""
        found = np.zeros((len(self.table.relations), self.unknown), dtype=bool)
        subject, relation = np.nonzero(self.table.answers >= 0)
        found[relation, self.table.answers[subject, relation]] = True
        return found

    @property
    def _largest(self) -> int:
        return max(1, int(self._answers_to.sum(axis=1).max()))

    @cached_property
    def _numbers(self) -> Int64[np.ndarray, "attributes"]:
        """1, 2, … within the relation that an attribute answers; 0 for one that answers none."""
        return (np.cumsum(self._answers_to, axis=1) * self._answers_to).max(axis=0)
