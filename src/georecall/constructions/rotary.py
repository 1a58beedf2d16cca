"""The chain of thought without positions: tokens carry their kind, and attention turns with the distance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Shaped

from georecall.constructions.chain import Chain
from georecall.constructions.layout import ResidualLayout


@dataclass(frozen=True)
class RotaryChain(Chain):
    """`Chain` for an architecture with rotary positions and gated units; d = (R + 1)·p + 2.

    Entities and ␀ have 1 in the direction "entity", relations and ␃ in the direction "relation". These stand in
    for positions, of which rotary attention needs none, and for biases (docs/theory.md §6).
    """

    @property
    def layout(self) -> ResidualLayout:
        """R blocks of p symbols, p symbols for the output, one direction for each kind of token."""
        return ResidualLayout.of(blocks=self.width, output=self.code.length, entity=1, relation=1)

    @property
    def inhibition_strength(self) -> float:
        """G = 1: a gate reads the sum of a whole block, so one level is enough."""
        return 1.0

    def superpose(
        self, blocks: Shaped[np.ndarray, "rows relations symbols"]
    ) -> Float64[np.ndarray, "rows dim"]:
        """Embeddings of entities `Σ_i B_i block_i`, marked as entities."""
        return self._rows(blocks=blocks.reshape(len(blocks), -1), entity=np.ones((len(blocks), 1)))

    def control_rows(self) -> Float64[np.ndarray, "controls dim"]:
        """Embeddings of ␀, an entity, and of ␃ and the relations."""
        rows = super().control_rows()
        entity, relation = self.kinds()
        rows[self.vocabulary.end :] += relation - entity
        return rows

    def kinds(self) -> tuple[Float64[np.ndarray, " dim"], Float64[np.ndarray, " dim"]]:
        """The directions "entity" and "relation"."""
        return self._rows(entity=np.ones((1, 1)))[0], self._rows(relation=np.ones((1, 1)))[0]

    @property
    def constant_direction(self) -> Float64[np.ndarray, "1 dim"]:
        """The sum of the two kinds: a relation or ␃ that is asked, where every block is closed, is followed by ␃."""
        return np.sum(self.kinds(), axis=0)[None]
