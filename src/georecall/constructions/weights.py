"""A transformer written down in float64 NumPy, and its forward pass in the plainest form.

Every construction returns `TransformerWeights`; every back-end is tested against `TransformerWeights.scores`.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64


@dataclass(frozen=True, kw_only=True)
class Head:
    """One attention head: `x_t ← Σ_u softmax_u(⟨Q x_t, K x_u⟩) O V x_u`, without any scaling of the scores."""

    query: Float64[np.ndarray, "match dim"]
    key: Float64[np.ndarray, "match dim"]
    value: Float64[np.ndarray, "carried dim"]
    output: Float64[np.ndarray, "dim carried"]


@dataclass(frozen=True, kw_only=True)
class Mlp:
    """The two-layer ReLU network `W2 ReLU(W1 z + b1) + b2`."""

    w1: Float64[np.ndarray, "width dim"]
    b1: Float64[np.ndarray, "width"]
    w2: Float64[np.ndarray, "out width"]
    b2: Float64[np.ndarray, "out"]


@dataclass(frozen=True, kw_only=True)
class Layer:
    """Attention, then an MLP. A layer without heads attends uniformly: it takes the mean over the tokens so far."""

    heads: tuple[Head, ...]
    mlp: Mlp


@dataclass(frozen=True, kw_only=True)
class TransformerWeights:
    """All weights of a small causal transformer without normalisation.

    `x_t = E[token_t] + P[t]`; each layer does `z = [x +] attention(x)`, `x = [z +] MLP(z)`, where the terms in
    brackets are there if `residual`; the scores of the outputs are `U x` at the last token.
    """

    embedding: Float64[np.ndarray, "vocabulary dim"]
    positions: Float64[np.ndarray, "context dim"]
    layers: tuple[Layer, ...]
    unembedding: Float64[np.ndarray, "outputs out"]
    residual: bool

    def scores(self, tokens: Int64[np.ndarray, "batch time"]) -> Float64[np.ndarray, "batch outputs"]:
        """The forward pass, for reference: the scores of every output after the last token."""
        x = self.embedding[tokens] + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            attended = self.residual * x + _attention(x, layer.heads)
            hidden = np.maximum(attended @ layer.mlp.w1.T + layer.mlp.b1, 0.0)
            written = hidden @ layer.mlp.w2.T + layer.mlp.b2
            x = attended + written if self.residual else written
        return np.asarray(x[:, -1] @ self.unembedding.T)


def _attention(
    x: Float64[np.ndarray, "batch time dim"], heads: tuple[Head, ...]
) -> Float64[np.ndarray, "batch time dim"]:
    future = np.triu(np.full((x.shape[1], x.shape[1]), -np.inf), 1)
    if not heads:
        return _softmax(future) @ x
    return np.sum([_head(x, head, future) for head in heads], axis=0)


def _head(
    x: Float64[np.ndarray, "batch time dim"], head: Head, future: Float64[np.ndarray, "time time"]
) -> Float64[np.ndarray, "batch time dim"]:
    match = (x @ head.query.T) @ (x @ head.key.T).swapaxes(-1, -2)
    return _softmax(match + future) @ (x @ head.value.T) @ head.output.T


def _softmax(scores: Float64[np.ndarray, "*batch time"]) -> Float64[np.ndarray, "*batch time"]:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
