"""Several hops by turns: a layer that selects, a layer that re-embeds what was selected."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64

from georecall.constructions.budget import require_memory
from georecall.constructions.heads import reading_head
from georecall.constructions.keyed import KeyedBySubject
from georecall.constructions.layout import ResidualLayout
from georecall.constructions.prompts import context
from georecall.constructions.weights import Head, Layer, Mlp, TransformerWeights
from georecall.theory.sizes import ConstructionSize, reembedding_size


@dataclass(frozen=True)
class Reembedding(KeyedBySubject):
    """A transformer of 2k − 1 layers that keeps superpositions and looks up entities, not facts.

    The stream holds the superpositions e_0 (the subject's), …, e_{k−1} and the codes c_1, …, c_k, n = ‖C‖²:

        selecting layer t  : as in `OneHop`, on e_{t−1}: R·p units, which write c_t
        re-embedding layer : unit a = ReLU(⟨C(a), c_t⟩ − n + 1), 1 if c_t = C(a), else 0: N units
        e_t                = Σ_i B_i C(unknown) + Σ_a unit a · Σ_i B_i (C(f_i(a)) − C(unknown))
        score of a         = ⟨C(a), c_k⟩

    N + R·p units a hop instead of N·R. Least margin 1, d = k·(R + 1)·p + R + k + 1 (docs/theory.md §4).
    """

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes."""
        n_subjects, n_relations = self.table.answers.shape
        return reembedding_size(
            n_subjects,
            n_relations,
            self.hops,
            n_entities=self._n_entities,
            n_attributes=self.unknown,
            levels=self.levels,
            code_name=self.code_name,
        )

    @cached_property
    def layout(self) -> ResidualLayout:
        """The superpositions e_0 … e_{k−1}, the codes c_1 … c_k, the relation that a token is, the positions."""
        n_relations, symbols = len(self.table.relations), self.code.length
        superpositions = {f"superposition {hop}": n_relations * symbols for hop in range(self.hops)}
        codes = {f"code {hop}": symbols for hop in range(1, self.hops + 1)}
        return ResidualLayout.of(
            **superpositions, **codes, relation=n_relations, positions=context(self.hops)
        )

    def weights(self) -> TransformerWeights:
        """The weights; ConstructionError if they do not fit in memory."""
        require_memory(self.size.parameters, what=f"the re-embedding construction for {self.hops} hops")
        layers = [self._selecting_layer(1)]
        for hop in range(2, self.hops + 1):
            layers += [self._reembedding_layer(hop - 1), self._selecting_layer(hop)]
        return TransformerWeights(
            embedding=self._embedding("superposition 0", self._superpositions()),
            positions=self._positions(),
            layers=tuple(layers),
            unembedding=self._unembedding(f"code {self.hops}"),
            residual=True,
        )

    def _superpositions(self) -> Float64[np.ndarray, "subjects held"]:
        return self._codewords[self._answered].reshape(len(self.table.subjects), -1)

    def _selecting_layer(self, hop: int) -> Layer:
        dim, n_relations, symbols = self.layout.dim, len(self.table.relations), self.code.length
        held, width = self.layout[f"superposition {hop - 1}"], n_relations * symbols
        select = np.zeros((width, dim))
        select[:, held] = np.eye(width)
        write = np.zeros((dim, width))
        write[self.layout[f"code {hop}"]] = np.tile(np.eye(symbols), (1, n_relations))
        inhibit = np.zeros((dim, n_relations))
        inhibit[held] = -(self.code.levels - 1) * np.repeat(1 - np.eye(n_relations), symbols, axis=0)
        mlp = Mlp(w1=select, b1=np.zeros(width), w2=write, b2=np.zeros(dim))
        return Layer(heads=(self._head(hop - 1, inhibit),), mlp=mlp)

    def _reembedding_layer(self, hop: int) -> Layer:
        """From c_hop to e_hop; its attention brings nothing."""
        n_subjects, dim = len(self.table.subjects), self.layout.dim
        keys = np.zeros((n_subjects, dim))
        keys[:, self.layout[f"code {hop}"]] = self._codewords[:n_subjects]
        nothing_known = np.tile(self._unknown_codeword, len(self.table.relations))
        values, default = np.zeros((dim, n_subjects)), np.zeros(dim)
        values[self.layout[f"superposition {hop}"]] = (self._superpositions() - nothing_known).T
        default[self.layout[f"superposition {hop}"]] = nothing_known
        mlp = Mlp(w1=keys, b1=np.full(n_subjects, 1.0 - self.code.squared_norm), w2=values, b2=default)
        return Layer(heads=(self._head(hop, np.zeros((dim, len(self.table.relations)))),), mlp=mlp)

    def _head(self, position: int, output: Float64[np.ndarray, "dim relations"]) -> Head:
        return reading_head(
            self._positions(), reads=self._reads(position), value=self._relation_reader(), output=output
        )
