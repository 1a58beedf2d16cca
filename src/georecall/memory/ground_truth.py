"""The mechanism of a memory, written down: what an interpretability method should find in it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int8, Int64
from safetensors.numpy import save

from georecall.constructions.chain import Chain


@dataclass(frozen=True, kw_only=True)
class GroundTruth:
    """The true decomposition of a memory.

    The embedding of entity s, and the residual stream before attention but for positions, is

        Σ_i blocks[i] @ codewords[answers[s, i]]      (+ `constant`)

    with the unknown's codeword first, at index 0, then those of the entities, in the table's order; the answer
    is written as `output @ codewords[answer]`. Without `rotation` the directions are coordinate axes.
    """

    blocks: Float64[np.ndarray, "relations dim places"]
    output: Float64[np.ndarray, "dim places"]
    constant: Float64[np.ndarray, " dim"]
    codewords: Int8[np.ndarray, "names places"]
    answers: Int64[np.ndarray, "entities relations"]

    @classmethod
    def of(cls, chain: Chain) -> "GroundTruth":
        """The ground truth of a construction."""
        places, dim = chain.code.length, chain.layout.dim
        nothing = np.zeros((1, chain.n_relations, places))
        return cls(
            blocks=np.moveaxis(chain.directions("blocks").reshape(dim, chain.n_relations, places), 0, 1),
            output=chain.directions("output"),
            constant=chain.superpose(nothing)[0],
            codewords=chain.codewords,
            answers=chain.names_of(slice(None)),
        )

    def write(self, path: Path) -> None:
        """Write every array to a safetensors file."""
        path.write_bytes(save({name: np.ascontiguousarray(array) for name, array in vars(self).items()}))
