"""The layer of a model as a page computes it: everything but the rows that grow with the number of names."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int64, Shaped
from scipy.sparse import csr_array

Matrix = Float[np.ndarray, "rows columns"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Mechanism:
    """One step of a model of one layer, for a subject s and a relation r (or the end) read at step t.

        x = share · E[s] + position[t] + carried[r]     attention reads one position, or takes a mean
        h = ReLU(W1 x + b1)                          or silu(G x) · (W1 x) if there are gates G
        y = W2 h + b2                                and x, if residual
        scores = U y                                 U is zero outside of the coordinates `scored`

    and what an embedding is made of, `E[s] = offset + Σ_r A_r v(f_r(s)) + rest`, where the vector v(a) of an
    answer is `code_scale` times the first `out` entries of its row of U. The rows of `carried` are the relations
    and then, if the model goes on after an answer, the end. `owners` says which relation each hidden unit serves.
    `extras` are the named coordinates outside of all blocks.
    """

    share: float
    residual: bool
    position: Float[np.ndarray, "steps dim"]
    carried: Float[np.ndarray, "controls dim"]
    gate: Float[np.ndarray, "width dim"] | None
    w1: Float[np.ndarray, "width dim"]
    b1: Float[np.ndarray, " width"]
    w2: Float[np.ndarray, "written width"]
    b2: Float[np.ndarray, " written"]
    scored: tuple[int, int]
    code_scale: float
    offset: Float[np.ndarray, " dim"]
    components: Float[np.ndarray, "relations dim out"]
    owners: Int64[np.ndarray, " width"]
    extras: dict[str, tuple[int, int]]

    @property
    def dim(self) -> int:
        """d, the size of the residual stream."""
        return len(self.offset)

    def to_dict(self) -> dict[str, Any]:
        """All of it for the page: matrices by their entries that are not zero, vectors as float32 in base 64."""
        return {
            "share": self.share,
            "residual": self.residual,
            "scored": self.scored,
            "codeScale": self.code_scale,
            "extras": self.extras,
            "gate": None if self.gate is None else sparse(self.gate),
            **{name: sparse(getattr(self, name)) for name in ("position", "carried", "w1", "w2")},
            **{name: packed(getattr(self, name), "<f4") for name in ("b1", "b2", "offset")},
            "components": [sparse(matrix) for matrix in self.components],
            "owners": packed(self.owners, "<i4"),
        }


def sparse(matrix: Matrix) -> dict[str, Any]:
    """A matrix by compressed rows: entries of row i are those numbered start[i] … start[i + 1] − 1."""
    rows = csr_array(matrix)
    return {
        "columns": matrix.shape[1],
        "start": packed(rows.indptr, "<i4"),
        "index": packed(rows.indices, "<i4"),
        "value": packed(rows.data, "<f4"),
    }


def packed(array: Shaped[np.ndarray, "..."], dtype: str) -> str:
    """The numbers of an array, row by row, in base 64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode("ascii")
