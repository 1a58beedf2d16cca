"""One hop: the subject's embedding is a superposition, the relation inhibits what it did not ask for."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from georecall.constructions.budget import require_memory
from georecall.constructions.layout import ResidualLayout
from georecall.constructions.single_answer import SingleAnswer
from georecall.constructions.weights import Layer, Mlp, TransformerWeights
from georecall.errors import ConstructionError
from georecall.theory.sizes import ConstructionSize, one_hop_size


@dataclass(frozen=True)
class OneHop(SingleAnswer):
    """A one-layer transformer with uniform attention that recalls every fact; `d = width = R·p`.

    With blocks `B_1 … B_R` of p symbols and the code `C` of the attributes (the unknown included):

        e_s = Σ_i B_i C(f_i(s))                  the subject, a superposition
        e_r = −(L−1) Σ_{i≠r} B_i 1               the relation inhibits every other block
        h   = ReLU(2 · mean(e_s, e_r))           block r survives, the others are silent
        y   = Σ_i B_iᵀ h = C(f_r(s)),  score of a = ⟨C(a), y⟩

    so the right score leads by ½‖C(a) − C(b)‖² ≥ 1 (docs/theory.md §3).
    """

    def __post_init__(self) -> None:
        """Check that one hop is asked for."""
        if self.hops != 1:
            raise ConstructionError(f"the one-hop construction answers 1 hop, got {self.hops}")

    @property
    def size(self) -> ConstructionSize:
        """Predicted sizes."""
        n_subjects, n_relations = self.table.answers.shape
        return one_hop_size(
            n_subjects, n_relations, n_attributes=self.unknown, levels=self.levels, code_name=self.code_name
        )

    @property
    def layout(self) -> ResidualLayout:
        """R blocks of p symbols."""
        return ResidualLayout.of(blocks=len(self.table.relations) * self.code.length)

    def weights(self) -> TransformerWeights:
        """The weights: embeddings in {−(L−1), …, L−1}, and a 2 that makes a sum of the mean."""
        require_memory(self.size.parameters, what="the one-hop construction")
        dim, symbols = self.layout.dim, self.code.length
        words = self.code.first_words(self.unknown + 1).astype(np.float64)
        subjects = words[self._outputs(self.table.answers)].reshape(-1, dim)
        fold = np.tile(np.eye(symbols), (1, len(self.table.relations)))
        return TransformerWeights(
            embedding=np.concatenate(
                [subjects, inhibitions(len(self.table.relations), symbols, self.code.levels)]
            ),
            positions=np.zeros((2, dim)),
            layers=(selecting_layer(fold),),
            unembedding=words,
            residual=False,
        )


def inhibitions(n_relations: int, symbols: int, levels: int) -> Float64[np.ndarray, "relations dim"]:
    """Embeddings of the relations: `−(L−1) Σ_{i≠r} B_i 1`."""
    return -(levels - 1) * np.repeat(1 - np.eye(n_relations), symbols, axis=1)


def selecting_layer(write: Float64[np.ndarray, "out dim"]) -> Layer:
    """Uniform attention over two tokens, a unit for every coordinate, and what the units write."""
    out, dim = write.shape
    return Layer(heads=(), mlp=Mlp(w1=2 * np.eye(dim), b1=np.zeros(dim), w2=write, b2=np.zeros(out)))
