"""The paper's small transformer, trained or constructed, as an ensemble on one leading tensor axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from georecall.constructions.weights import Head, Layer, TransformerWeights
from georecall.errors import ConstructionError


@dataclass(frozen=True, kw_only=True)
class RecallConfig:
    """Shape of a one-layer `RecallTransformer` that is to be trained.

    Raises:
        ConstructionError: a size is below 1, or the residual stream cannot take what the MLP writes.
    """

    vocabulary: int
    outputs: int
    context: int
    dim: int
    width: int
    attribute_dim: int
    attention: Literal["uniform", "learned"] = "uniform"
    residual: bool = False
    members: int = 1

    def __post_init__(self) -> None:
        """Check every size."""
        for name in ("vocabulary", "outputs", "context", "dim", "width", "attribute_dim", "members"):
            if getattr(self, name) < 1:
                raise ConstructionError(f"{name} must be 1 or more, got {getattr(self, name)}")
        if self.residual and self.attribute_dim != self.dim:
            raise ConstructionError(
                f"with a residual stream attribute_dim must be dim = {self.dim}, got {self.attribute_dim}"
            )


class RecallHeads(nn.Module):
    """Attention heads: `Σ_h O_h V_h x_u` weighted by `softmax_u ⟨Q_h x_t, K_h x_u⟩`, over the tokens so far."""

    def __init__(self, *, query: Tensor, key: Tensor, value: Tensor, output: Tensor) -> None:
        super().__init__()
        self.query, self.key = nn.Parameter(query), nn.Parameter(key)
        self.value, self.output = nn.Parameter(value), nn.Parameter(output)

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int
    ) -> Float[Tensor, "members batch asked dim"]:
        """What the heads bring to the last `asked` tokens."""
        time = x.shape[2]
        query = torch.einsum("mbqd,mhed->mbhqe", x[:, :, -asked:], self.query)
        key = torch.einsum("mbkd,mhed->mbhke", x, self.key)
        carried = torch.einsum("mbkd,mhed->mbhke", x, self.value)
        future = torch.full((asked, time), -torch.inf, dtype=x.dtype, device=x.device).triu(time - asked + 1)
        weights = torch.softmax(query @ key.mT + future, dim=-1)
        return torch.einsum("mbhqe,mhde->mbqd", weights @ carried, self.output)


class UniformAttention(nn.Module):
    """The mean over the tokens so far."""

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int
    ) -> Float[Tensor, "members batch asked dim"]:
        """The running mean at the last `asked` tokens."""
        if asked == 1:
            return x.mean(dim=2, keepdim=True)
        counts = torch.arange(1, x.shape[2] + 1, dtype=x.dtype, device=x.device)[:, None]
        return (x.cumsum(dim=2) / counts)[:, :, -asked:]


class RecallLayer(nn.Module):
    """Attention, then a two-layer ReLU MLP, each added to its input if `residual`."""

    def __init__(
        self, *, attention: nn.Module, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, residual: bool
    ) -> None:
        super().__init__()
        self.attention, self.residual = attention, residual
        self.w1, self.b1 = nn.Parameter(w1), nn.Parameter(b1)
        self.w2, self.b2 = nn.Parameter(w2), nn.Parameter(b2)

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int
    ) -> Float[Tensor, "members batch asked out"]:
        """The residual stream at the last `asked` tokens."""
        z = self.attention(x, asked)
        if self.residual:
            z = z + x[:, :, -asked:]
        hidden = torch.relu(z @ self.w1[:, None].mT + self.b1[:, None, None])
        written = hidden @ self.w2[:, None].mT + self.b2[:, None, None]
        return z + written if self.residual else written


class RecallTransformer(nn.Module):
    """A causal transformer without normalisation; every parameter has a leading axis of ensemble members.

    `x_t = E[token_t] + P[t]`, then the layers, then scores `U x` after the last token
    (`constructions.weights.TransformerWeights` states the same in NumPy).
    """

    def __init__(
        self, *, embedding: Tensor, positions: Tensor, layers: Sequence[RecallLayer], unembedding: Tensor
    ) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Parameter(embedding), nn.Parameter(positions)
        self.layers = nn.ModuleList(layers)
        self.unembedding = nn.Parameter(unembedding)

    @classmethod
    def from_weights(
        cls, weights: TransformerWeights, *, dtype: torch.dtype = torch.float32
    ) -> "RecallTransformer":
        """An ensemble of one member with a copy of the weights of a construction, cast to `dtype`."""
        return cls(
            embedding=_one_member(weights.embedding, dtype),
            positions=_one_member(weights.positions, dtype),
            layers=[_constructed_layer(layer, weights.residual, dtype) for layer in weights.layers],
            unembedding=_one_member(weights.unembedding, dtype),
        )

    @classmethod
    def random(cls, config: RecallConfig, *, generator: torch.Generator) -> "RecallTransformer":
        """A freshly initialised ensemble: Gaussian weights of variance 1/fan-in, unit-variance embeddings."""

        def draw(*shape: int, fan_in: int = 1) -> Tensor:
            return torch.randn(config.members, *shape, generator=generator) / fan_in**0.5

        dim, width, out = config.dim, config.width, config.attribute_dim
        heads = {name: draw(1, dim, dim, fan_in=dim) for name in ("query", "key", "value", "output")}
        layer = RecallLayer(
            attention=UniformAttention() if config.attention == "uniform" else RecallHeads(**heads),
            w1=draw(width, dim, fan_in=dim),
            b1=torch.zeros(config.members, width),
            w2=draw(out, width, fan_in=width),
            b2=torch.zeros(config.members, out),
            residual=config.residual,
        )
        return cls(
            embedding=draw(config.vocabulary, dim),
            positions=draw(config.context, dim),
            layers=[layer],
            unembedding=draw(config.outputs, out, fan_in=out),
        )

    def forward(self, tokens: Int64[Tensor, "batch time"]) -> Float[Tensor, "members batch outputs"]:
        """Scores of every output after the last token."""
        x = self.embedding[:, tokens] + self.positions[:, None, : tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, 1 if layer is self.layers[-1] else x.shape[2])
        return x[:, :, -1] @ self.unembedding.mT


def _one_member(array: Float64[np.ndarray, "*shape"], dtype: torch.dtype) -> Float[Tensor, "1 *shape"]:
    return torch.tensor(array, dtype=dtype)[None]


def _constructed_layer(layer: Layer, residual: bool, dtype: torch.dtype) -> RecallLayer:
    return RecallLayer(
        attention=_constructed_heads(layer.heads, dtype) if layer.heads else UniformAttention(),
        **{name: _one_member(array, dtype) for name, array in vars(layer.mlp).items()},
        residual=residual,
    )


def _constructed_heads(heads: Sequence[Head], dtype: torch.dtype) -> RecallHeads:
    names = ("query", "key", "value", "output")
    stacked = {name: np.stack([getattr(head, name) for head in heads]) for name in names}
    return RecallHeads(**{name: _one_member(array, dtype) for name, array in stacked.items()})
