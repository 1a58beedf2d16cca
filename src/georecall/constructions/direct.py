"""Several hops at once, without a chain of thought: one block for every sequence of relations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64

from georecall.constructions.budget import require_memory
from georecall.constructions.heads import reading_head
from georecall.constructions.layout import ResidualLayout
from georecall.constructions.prompts import context
from georecall.constructions.single_answer import SingleAnswer
from georecall.constructions.weights import Head, Layer, Mlp, TransformerWeights
from georecall.facts.queries import all_queries
from georecall.theory.sizes import ConstructionSize, direct_size


@dataclass(frozen=True)
class Direct(SingleAnswer):
    """A one-layer transformer that answers `f_{r_k}(… f_{r_1}(s))` in one step, with d = (R^k + 1)·p + k + 1.

    The subject holds one block for each of the R^k sequences q of relations:

        e_s     = Σ_q B_q C(f_q(s))
        head t  : carries −(L−1)·B_q 1 for every q whose t-th relation is not r_t
        h       = ReLU(e_s + Σ_t head_t): block q survives where every hop agrees
        y       = Σ_q B_qᵀ h = C(f_{r_1 … r_k}(s)),   score of a = ⟨C(a), y⟩

    Least margin 1, width R^k·p (docs/theory.md §4).
    """

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes."""
        n_subjects, n_relations = self.table.answers.shape
        return direct_size(
            n_subjects,
            n_relations,
            self.hops,
            n_attributes=self.unknown,
            levels=self.levels,
            code_name=self.code_name,
        )

    @cached_property
    def layout(self) -> ResidualLayout:
        """R^k blocks of p symbols, the output, one direction for every position."""
        symbols = self.code.length
        return ResidualLayout.of(
            blocks=self._n_sequences * symbols, output=symbols, positions=context(self.hops)
        )

    @property
    def _n_sequences(self) -> int:
        return len(self.table.relations) ** self.hops

    def weights(self) -> TransformerWeights:
        """The weights; ConstructionError if they do not fit in memory."""
        require_memory(self.size.parameters, what=f"the direct construction for {self.hops} hops")
        dim, width, output = self.layout.dim, self.layout["blocks"].stop, self.layout["output"]
        n_subjects, n_relations = self.table.answers.shape
        words = self.code.first_words(self.unknown + 1)
        embedding = np.zeros((n_subjects + n_relations, dim))
        embedding[:n_subjects, :width] = words[self._answers()].reshape(n_subjects, -1)
        # Relations are read but never answer, so they may use the first R symbols of the blocks.
        embedding[n_subjects:, :n_relations] = np.eye(n_relations)
        write = np.zeros((dim, width))
        write[output] = np.tile(np.eye(self.code.length), (1, self._n_sequences))
        unembedding = np.zeros((self.unknown + 1, dim))
        unembedding[:, output] = words
        heads = tuple(self._head(hop, mismatch) for hop, mismatch in enumerate(self._mismatches()))
        mlp = Mlp(w1=np.eye(width, dim), b1=np.zeros(width), w2=write, b2=np.zeros(dim))
        return TransformerWeights(
            embedding=embedding,
            positions=self._positions(),
            layers=(Layer(heads=heads, mlp=mlp),),
            unembedding=unembedding,
            residual=True,
        )

    def _answers(self) -> Int64[np.ndarray, "subjects sequences"]:
        """What each sequence of relations leads to from each subject, the unknown included."""
        return self.gold(all_queries(self.table, self.hops)).reshape(len(self.table.subjects), -1)

    def _mismatches(self) -> Float64[np.ndarray, "hops sequences relations"]:
        """1 where the t-th relation of the sequence is not r."""
        n_relations = len(self.table.relations)
        sequences = np.indices((n_relations,) * self.hops).reshape(self.hops, -1)
        return 1.0 - (sequences[:, :, None] == np.arange(n_relations))

    def _head(self, hop: int, mismatch: Float64[np.ndarray, "sequences relations"]) -> Head:
        n_relations = mismatch.shape[1]
        inhibit = np.zeros((self.layout.dim, n_relations))
        inhibit[self.layout["blocks"]] = -(self.code.levels - 1) * np.repeat(
            mismatch, self.code.length, axis=0
        )
        value = np.eye(n_relations, self.layout.dim)
        return reading_head(self._positions(), reads=self._reads(hop), value=value, output=inhibit)
