"""One hop: the subject's embedding is a superposition, the relation inhibits what it did not ask for."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64

from georecall.constructions.layout import ResidualLayout
from georecall.constructions.weights import Layer, Mlp, TransformerWeights
from georecall.facts.table import FactTable
from georecall.theory.codes import CompositionCode


@dataclass(frozen=True)
class OneHop:
    """A one-layer transformer with uniform attention that recalls every fact; `d = width = R·p`.

    With blocks `B_1 … B_R` of p places and the code `C` of the attributes (the unknown included):

        e_s = Σ_i B_i C(f_i(s))                  the subject, a superposition
        e_r = −(L−1) Σ_{i≠r} B_i 1               the relation inhibits every other block
        h   = ReLU(2 · mean(e_s, e_r))           block r survives, the others are silent
        y   = Σ_i B_iᵀ h = C(f_r(s)),  score of a = ⟨C(a), y⟩

    so the right score leads by ½‖C(a) − C(b)‖² ≥ 1 (docs/theory.md §3). Tokens are the subjects, then the
    relations; a prompt is `(subject, relation)`. Outputs are the attributes, then the unknown.
    """

    table: FactTable
    levels: int = 2

    @cached_property
    def code(self) -> CompositionCode:
        """The code of the attributes and of the unknown."""
        return CompositionCode.shortest(len(self.table.attributes) + 1, self.levels)

    @property
    def layout(self) -> ResidualLayout:
        """R blocks of p places."""
        return ResidualLayout.of(blocks=len(self.table.relations) * self.code.length)

    @property
    def unknown(self) -> int:
        """The output that stands for a missing fact."""
        return len(self.table.attributes)

    def tokens(
        self, subjects: Int64[np.ndarray, "batch"], relations: Int64[np.ndarray, "batch"]
    ) -> Int64[np.ndarray, "batch 2"]:
        """Prompts that ask for relation r of subject s."""
        return np.stack([subjects, len(self.table.subjects) + relations], axis=1)

    def weights(self) -> TransformerWeights:
        """The weights, all of them in {−(L−1), …, L−1}."""
        n_relations, places = len(self.table.relations), self.code.length
        dim = self.layout.dim
        fold = np.tile(np.eye(places), (1, n_relations))
        answers = np.where(self.table.answers < 0, self.unknown, self.table.answers)
        subjects = self.code.unrank(answers).reshape(len(answers), dim).astype(np.float64)
        mlp = Mlp(w1=2 * np.eye(dim), b1=np.zeros(dim), w2=fold, b2=np.zeros(places))
        return TransformerWeights(
            embedding=np.concatenate([subjects, self._inhibitions()]),
            positions=np.zeros((2, dim)),
            layers=(Layer(heads=(), mlp=mlp),),
            unembedding=self.code.unrank(np.arange(self.unknown + 1)).astype(np.float64),
            residual=False,
        )

    def _inhibitions(self) -> Float64[np.ndarray, "relations dim"]:
        others = 1 - np.eye(len(self.table.relations))
        return -(self.levels - 1) * np.repeat(others, self.code.length, axis=1)
