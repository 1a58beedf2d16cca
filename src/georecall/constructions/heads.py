"""Attention by position: heads that read one given position, whatever stands there."""

import numpy as np
from jaxtyping import Float64

from georecall.constructions.weights import Head

ATTENTION_GAP = 128.0
"""Score by which attention prefers the right position: over 104, every other weight is exactly 0 in float32."""


def reading_head(
    positions: Float64[np.ndarray, "context dim"],
    *,
    reads: Float64[np.ndarray, "context context"],
    value: Float64[np.ndarray, "carried dim"],
    output: Float64[np.ndarray, "dim carried"],
) -> Head:
    """A head that, asked at position t, reads the position u with `reads[u, t] = 1`, and carries `O V x_u`.

    With orthonormal embeddings of the positions, rows of `positions`, the score of u at t is
    `ATTENTION_GAP · reads[u, t]` (docs/theory.md §4, the softmax gap).
    """
    return Head(query=ATTENTION_GAP * reads @ positions, key=positions, value=value, output=output)
