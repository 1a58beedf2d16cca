"""One decode step of a stock model, for many questions at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Int64

if TYPE_CHECKING:
    from georecall.models.top_two import Head

FEW_SCORES = 1 << 21
"""So many are compared by NumPy; for more it is worth while to import torch, which is twice as quick."""

Activation = Callable[[Float32[np.ndarray, "batch _"]], Float32[np.ndarray, "batch _"]]
"""A part of the layer, for a batch of states."""

Best = tuple[Int64[np.ndarray, " batch"], Float32[np.ndarray, " batch"]]


Reader = Callable[..., Float32[np.ndarray, "..."]]
"""Gives a tensor of the stock model by its name, or with a second argument a part of it, in float32."""


@dataclass(frozen=True, kw_only=True)
class DecodeStep:
    """The stock model's own weights, without what `generate` repeats.

    Attention puts its whole weight on the one place that holds the relation (the certificate checks it), so
    what it brings, `carried`, depends on the relation alone and is worked out once. A step is then

        y = finish(E[token] + position + carried[relation]),   scores = U y

    where `finish` is the rest of the layer, and both y and U are kept to the coordinates `scored`, outside of
    which U is zero. Of the embedding E the rows of the tokens are read, of the unembedding U those columns.
    """

    read: Reader
    embedding: str
    unembedding: str
    positions: Float32[np.ndarray, "steps dim"]
    carried: Float32[np.ndarray, "controls dim"]
    finish: Activation
    scored: slice

    @np.errstate(over="ignore", invalid="ignore")  # weights that were altered end in a margin that is NaN
    def __call__(
        self, tokens: Int64[np.ndarray, " batch"], relations: Int64[np.ndarray, " batch"], step: int
    ) -> Best:
        """The token with the best score, and its lead over the second best."""
        states = self.finish(
            self.read(self.embedding, tokens) + self.positions[step] + self.carried[relations]
        )
        is_few = len(states) * len(self._unembedding) <= FEW_SCORES
        return _best_of_few(states @ self._unembedding.T) if is_few else self._head(states)

    @cached_property
    def _unembedding(self) -> Float32[np.ndarray, "vocabulary scored"]:
        return np.ascontiguousarray(self.read(self.unembedding, (slice(None), self.scored)))

    @cached_property
    def _head(self) -> "Head":
        from georecall.models.top_two import Head  # noqa: PLC0415 - imports torch

        return Head(self._unembedding)


def _best_of_few(scores: Float32[np.ndarray, "batch vocabulary"]) -> Best:
    """As `top_two`; the scores are not kept."""
    rows = np.arange(len(scores))
    best = scores.argmax(axis=1)
    first = scores[rows, best]
    scores[rows, best] = -np.inf
    return best, first - scores.max(axis=1)


def root_mean_square(x: Float32[np.ndarray, "batch dim"], epsilon: float) -> Float32[np.ndarray, "batch 1"]:
    """`√(mean of x² + ε)` of each state, rounded once: where a gain is to undo it, it is that very number."""
    squares = np.einsum("bd,bd->b", x, x, dtype=np.float64)
    return np.sqrt(squares / x.shape[1] + epsilon).astype(np.float32)[:, None]


def silu(x: Float32[np.ndarray, "batch width"]) -> Float32[np.ndarray, "batch width"]:
    """`x / (1 + e^{−x})`; the exponential is kept within float32."""
    return x / (1 + np.exp(-np.maximum(x, np.float32(-88))))
