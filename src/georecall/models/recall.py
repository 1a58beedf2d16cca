"""The paper's small transformer, trained or constructed, as an ensemble on one leading tensor axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn
from torch.nn import functional

from georecall.constructions.weights import Head, Layer, TransformerWeights
from georecall.errors import AnalysisError, ConstructionError
from georecall.models.activations import NO_EDITS, Activations, Edits, Recorder, Watch, unwatched
from georecall.models.attention import RecallHeads, UniformAttention

QUERY_SCALE = 0.1
"""Standard deviation of the first attention scores: they begin nearly uniform and learn where to look."""


@dataclass(frozen=True, kw_only=True)
class RecallConfig:
    """Shape of a one-layer `RecallTransformer` that is to be trained.

    Raises:
        ConstructionError: a size is below 1, or the residual stream cannot take what the MLP writes.
    """

    subjects: int
    relations: int
    outputs: int
    context: int
    dim: int
    width: int
    attribute_dim: int
    attention: Literal["uniform", "learned"] = "uniform"
    heads: int = 1
    residual: bool = False

    def __post_init__(self) -> None:
        """Check every size."""
        for name, size in vars(self).items():
            if type(size) is int and size < 1:
                raise ConstructionError(f"{name} must be 1 or more, got {size}")
        if self.residual and self.attribute_dim != self.dim:
            raise ConstructionError(
                f"with a residual stream attribute_dim must be dim = {self.dim}, got {self.attribute_dim}"
            )


class RecallLayer(nn.Module):
    """Attention, then a two-layer ReLU MLP, each added to its input if `residual`."""

    def __init__(
        self,
        *,
        attention: RecallHeads | UniformAttention,
        w1: Tensor,
        b1: Tensor,
        w2: Tensor,
        b2: Tensor,
        residual: bool,
    ) -> None:
        super().__init__()
        self.attention, self.residual = attention, residual
        self.w1, self.b1 = nn.Parameter(w1), nn.Parameter(b1)
        self.w2, self.b2 = nn.Parameter(w2), nn.Parameter(b2)

    def forward(
        self, x: Float[Tensor, "members batch time dim"], asked: int, watch: Watch = unwatched
    ) -> Float[Tensor, "members batch asked out"]:
        """The residual stream at the last `asked` tokens."""
        z = self.attention(x, asked, watch)
        if self.residual:
            z = z + x[:, :, -asked:]
        rows = watch("attended", z.flatten(1, 2))
        hidden = watch("pre_activation", torch.baddbmm(self.b1[:, None], rows, self.w1.mT)).relu_()
        hidden = watch("hidden", hidden)
        written = watch("written", torch.baddbmm(self.b2[:, None], hidden, self.w2.mT))
        state = watch("state", rows + written if self.residual else written)
        return state.view(*z.shape[:3], -1)


class RecallTransformer(nn.Module):
    """A causal transformer without normalisation; every parameter has a leading axis of ensemble members.

    `x_t = E[token_t] + P[t]`, then the layers, then scores `U x` after the last token
    (`constructions.weights.TransformerWeights` states the same in NumPy). The rows of E, in the order of the
    token ids, are the parts of `embedding`: the subjects, then all other tokens.
    """

    def __init__(
        self,
        *,
        embedding: Sequence[Tensor],
        positions: Tensor,
        layers: Sequence[RecallLayer],
        unembedding: Tensor,
    ) -> None:
        super().__init__()
        self.embedding = nn.ParameterList(nn.Parameter(part) for part in embedding)
        self.positions = nn.Parameter(positions)
        self.layers = nn.ModuleList(layers)
        self.unembedding = nn.Parameter(unembedding)

    @classmethod
    def from_weights(
        cls, weights: TransformerWeights, *, subjects: int | None = None, dtype: torch.dtype = torch.float32
    ) -> "RecallTransformer":
        """An ensemble of one member with a copy of the weights of a construction, cast to `dtype`.

        The first `subjects` rows of the embedding, all of them by default, are its first part.
        """
        parts = np.split(weights.embedding, [] if subjects is None else [subjects])
        return cls(
            embedding=[_one_member(part, dtype) for part in parts],
            positions=_one_member(weights.positions, dtype),
            layers=[_constructed_layer(layer, weights.residual, dtype) for layer in weights.layers],
            unembedding=_one_member(weights.unembedding, dtype),
        )

    @classmethod
    def random(cls, config: RecallConfig, *, generators: Sequence[torch.Generator]) -> "RecallTransformer":
        """A fresh ensemble, a member for each generator: Gaussian weights of variance 1/fan-in, embeddings of 1.

        Learned attention begins with scores of about a tenth. What a member is depends on its own
        generator only.
        """

        def draw(*shape: int, fan_in: int = 1) -> Tensor:
            members = [torch.randn(shape, generator=generator) for generator in generators]
            return torch.stack(members) / fan_in**0.5

        dim, width, out, members = config.dim, config.width, config.attribute_dim, len(generators)
        embedding = [draw(config.subjects, dim), draw(config.relations, dim)]
        positions = draw(config.context, dim)
        attention = (
            UniformAttention() if config.attention == "uniform" else _random_heads(draw, config.heads, dim)
        )
        layer = RecallLayer(
            attention=attention,
            w1=draw(width, dim, fan_in=dim),
            b1=torch.zeros(members, width),
            w2=draw(out, width, fan_in=width),
            b2=torch.zeros(members, out),
            residual=config.residual,
        )
        unembedding = draw(config.outputs, out, fan_in=out)
        return cls(embedding=embedding, positions=positions, layers=[layer], unembedding=unembedding)

    @property
    def members(self) -> int:
        """Number of models in the ensemble."""
        return self.unembedding.shape[0]

    def embed(self, tokens: Int64[Tensor, "batch time"]) -> Float[Tensor, "members batch time dim"]:
        """What enters the first layer: `E[token_t] + P[t]`."""
        rows = torch.cat(tuple(self.embedding), dim=1)
        first = rows.shape[1] * torch.arange(self.members, device=tokens.device)[:, None, None]
        return (
            functional.embedding(first + tokens, rows.flatten(0, 1))
            + self.positions[:, None, : tokens.shape[1]]
        )

    @property
    def only_layer(self) -> RecallLayer:
        """The layer of a model of one layer; AnalysisError if it has more."""
        layers = list(self.layers)
        if len(layers) != 1 or not isinstance(layers[0], RecallLayer):
            raise AnalysisError(f"expected a model of one layer, got {len(layers)}")
        return layers[0]

    @torch.no_grad()
    def trace(self, tokens: Int64[Tensor, "batch time"], *, edits: Edits = NO_EDITS) -> Activations:
        """The activations of a model of one layer after the last token, with edits on the way.

        Raises:
            AnalysisError: the model has more layers, or an edit is not one of `Edits`.
        """
        layer, record = self.only_layer, Recorder(edits)
        x = record("embedded", self.embed(tokens))
        layer(x, 1, record)
        return Activations(attention=layer.attention.weights(x, 1)[:, :, :, 0], **record.seen)

    def states(
        self, x: Float[Tensor, "members batch time dim"], *, asked: int = 1
    ) -> Float[Tensor, "members batch asked out"]:
        """What the layers make of `embed(tokens)` at the last `asked` tokens: scores before the unembedding."""
        for layer in self.layers:
            x = layer(x, asked if layer is self.layers[-1] else x.shape[2])
        return x

    def forward(self, tokens: Int64[Tensor, "batch time"]) -> Float[Tensor, "members batch outputs"]:
        """Scores of every output after the last token."""
        return self.states(self.embed(tokens))[:, :, 0] @ self.unembedding.mT


def _random_heads(draw: Callable[..., Tensor], heads: int, dim: int) -> RecallHeads:
    return RecallHeads(
        query=QUERY_SCALE * draw(heads, dim, dim, fan_in=dim**2),
        **{name: draw(heads, dim, dim, fan_in=dim) for name in ("key", "value", "output")},
    )


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
