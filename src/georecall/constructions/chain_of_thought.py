"""The chain of thought with positions: attention matches one-hot directions."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from georecall.constructions.chain import Chain
from georecall.constructions.heads import reading_head
from georecall.constructions.layout import ResidualLayout
from georecall.constructions.weights import Head, Layer, Mlp, TransformerWeights
from georecall.theory.sizes import ConstructionSize, chain_of_thought_size


@dataclass(frozen=True)
class ChainOfThought(Chain):
    """A one-layer ReLU transformer that recalls every fact and every chain of at most K facts, step by step.

    `d = (R+1)·p + 2(K+1)`, width `R·p`, for p = length of a code for E + 1 names. Attention matches the position
    `P` positions back; the MLP is `y = Σ_i B_iᵀ ReLU(block i)` (docs/theory.md §4).
    """

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes, which the weights have exactly."""
        return chain_of_thought_size(
            self.n_entities, self.n_relations, self.hops, levels=self.levels, code_name=self.code_name
        )

    @property
    def layout(self) -> ResidualLayout:
        """R blocks of p symbols, p symbols for the output, one direction for every position."""
        return ResidualLayout.of(blocks=self.width, output=self.code.length, positions=self.context)

    @property
    def inhibition_strength(self) -> float:
        """G, by which closed blocks are inhibited: far enough for layer normalisation not to reopen them.

        2(c_max + 1), for c_max the highest level of the code; three times as much for a single relation, where
        nothing is inhibited but for ␃, so that the normalisation is set for states unlike those in which ␃ is
        read (docs/theory.md §6).
        """
        return (2.0 if self.n_relations > 1 else 6.0) * (self.code.highest_level + 1)

    def positions(self) -> Float64[np.ndarray, "context dim"]:
        """One direction for each position."""
        return self._rows(positions=np.eye(self.context))

    @property
    def constant_direction(self) -> Float64[np.ndarray, "1 dim"]:
        """The direction along which every state that is asked has 1; ␃ has its score from it."""
        return self.positions().sum(axis=0, keepdims=True)

    def head(self) -> Head:
        """The attention head that reads P positions back."""
        back = np.eye(self.context, k=self.relation_positions)
        return reading_head(self.positions(), reads=back, value=self.flag_reader(), output=self.inhibition())

    def layer(self) -> Layer:
        """Attention, and the MLP that selects."""
        silent = np.zeros(self.width), np.zeros(self.layout.dim)
        mlp = Mlp(w1=self.select(), b1=silent[0], w2=self.write(), b2=silent[1])
        return Layer(heads=(self.head(),), mlp=mlp)

    def weights(self) -> TransformerWeights:
        """All weights at once; large tables are written a few rows at a time instead."""
        return TransformerWeights(
            embedding=np.concatenate(list(self.embedding_chunks())),
            positions=self.positions(),
            layers=(self.layer(),),
            unembedding=np.concatenate(list(self.unembedding_chunks())),
            residual=True,
        )
