"""Several hops by key-value memory: one layer a hop, one hidden unit a fact. The baseline, not the geometry."""

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
from georecall.theory.sizes import ConstructionSize, associative_size


@dataclass(frozen=True)
class Associative(KeyedBySubject):
    """A k-layer transformer that looks one fact up in each layer; width N·R, d = (k + 1)·(p + R + 1).

    The stream holds the codes c_0 = C(s), c_1, …, c_k of the entities on the way, n = ‖C‖²:

        head of layer t   : brings the t-th relation's direction to gate slot t
        unit (a, i)       : ReLU(⟨C(a), c_{t−1}⟩ − n + [r_t = i]), 1 if both match, else 0
        c_t               = C(unknown) + Σ_(a,i) unit (a, i) · (C(f_i(a)) − C(unknown))
        score of a        = ⟨C(a), c_k⟩

    Least margin 1 (docs/theory.md §4).
    """

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes."""
        n_subjects, n_relations = self.table.answers.shape
        return associative_size(
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
        """The codes c_0 … c_k, the relation that a token is, a gate for every hop, the positions."""
        n_relations = len(self.table.relations)
        codes = {f"code {hop}": self.code.length for hop in range(self.hops + 1)}
        gates = {f"gate {hop}": n_relations for hop in range(1, self.hops + 1)}
        return ResidualLayout.of(**codes, relation=n_relations, **gates, positions=context(self.hops))

    def weights(self) -> TransformerWeights:
        """The weights; ConstructionError if they do not fit in memory."""
        require_memory(self.size.parameters, what=f"the associative construction for {self.hops} hops")
        return TransformerWeights(
            embedding=self._embedding("code 0", self._codewords[: len(self.table.subjects)]),
            positions=self._positions(),
            layers=tuple(self._layer(hop) for hop in range(1, self.hops + 1)),
            unembedding=self._unembedding(f"code {self.hops}"),
            residual=True,
        )

    def _layer(self, hop: int) -> Layer:
        n_subjects, n_relations = self.table.answers.shape
        dim, gate = self.layout.dim, self.layout[f"gate {hop}"]
        keys = np.zeros((n_subjects, n_relations, dim))
        keys[:, :, self.layout[f"code {hop - 1}"]] = self._codewords[:n_subjects, None]
        keys[:, :, gate] = np.eye(n_relations)
        values = np.zeros((n_subjects, n_relations, dim))
        values[:, :, self.layout[f"code {hop}"]] = self._codewords[self._answered] - self._unknown_codeword
        default = np.zeros(dim)
        default[self.layout[f"code {hop}"]] = self._unknown_codeword
        mlp = Mlp(
            w1=keys.reshape(-1, dim),
            b1=np.full(n_subjects * n_relations, -float(self.code.squared_norm)),
            w2=values.reshape(-1, dim).T.copy(),
            b2=default,
        )
        return Layer(heads=(self._head(hop),), mlp=mlp)

    def _head(self, hop: int) -> Head:
        gate: Float64[np.ndarray, "dim relations"] = np.zeros((self.layout.dim, len(self.table.relations)))
        gate[self.layout[f"gate {hop}"]] = np.eye(len(self.table.relations))
        return reading_head(
            self._positions(), reads=self._reads(hop - 1), value=self._relation_reader(), output=gate
        )
