"""Look into a recall transformer, and change it for a while without a trace."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn

from georecall.errors import AnalysisError
from georecall.models.recall import RecallHeads, RecallLayer, RecallTransformer


@dataclass(frozen=True, kw_only=True)
class Activations:
    """Copies of what a layer makes of the last token.

    z = attention (+ the token itself if residual),  pre-activation = W1 z + b1,  hidden = ReLU of it,
    output y = W2 hidden + b2 (+ z), which the unembedding scores.
    """

    attended: Float[Tensor, "members batch dim"]
    pre_activation: Float[Tensor, "members batch width"]
    hidden: Float[Tensor, "members batch width"]
    output: Float[Tensor, "members batch out"]


def only_layer(model: RecallTransformer) -> RecallLayer:
    """The layer of a model of one layer; AnalysisError if it has more."""
    layers = list(model.layers)
    if len(layers) != 1 or not isinstance(layers[0], RecallLayer):
        raise AnalysisError(f"expected a model of one layer, got {len(layers)}")
    return layers[0]


def attention_weights(
    attention: nn.Module, x: Float[Tensor, "members batch time dim"]
) -> Float[Tensor, "members batch heads time"]:
    """The weights `softmax_u ⟨Q_h x_t, K_h x_u⟩` of the last token t; one head of weights 1/T if they are uniform."""
    if not isinstance(attention, RecallHeads):
        return x.new_full((*x.shape[:2], 1, x.shape[2]), 1 / x.shape[2])
    query = torch.einsum("mbd,mhed->mbhe", x[:, :, -1], attention.query)
    key = torch.einsum("mbkd,mhed->mbhke", x, attention.key)
    return torch.softmax(torch.einsum("mbhe,mbhke->mbhk", query, key), dim=-1)


@torch.no_grad()
def record(model: RecallTransformer, tokens: Int64[Tensor, "batch time"]) -> Activations:
    """The activations of a model of one layer after the last token.

    Raises:
        AnalysisError: the model has more layers.
    """
    layer = only_layer(model)
    x = model.embed(tokens)
    attended = layer.attention(x, 1)[:, :, 0]
    if layer.residual:
        attended = attended + x[:, :, -1]
    pre_activation = torch.baddbmm(layer.b1[:, None], attended, layer.w1.mT)
    hidden = pre_activation.relu()
    written = torch.baddbmm(layer.b2[:, None], hidden, layer.w2.mT)
    return Activations(
        attended=attended,
        pre_activation=pre_activation,
        hidden=hidden,
        output=attended + written if layer.residual else written,
    )


@contextmanager
def intervened(
    model: RecallTransformer,
    *,
    subjects: Float[Tensor, "members subjects dim"] | None = None,
    relations: Float[Tensor, "members relations dim"] | None = None,
    silenced: Bool[Tensor, "members width"] | None = None,
) -> Iterator[RecallTransformer]:
    """The model with other embeddings, and with the hidden units `silenced` held at 0, inside the block.

    Afterwards every parameter is the same object with the same memory and the same bits, whatever the block did
    to them, also if it raised. Blocks may be nested.

    Raises:
        AnalysisError: a replacement has another shape, or the model has more layers, or not two embeddings.
    """
    layer = only_layer(model)
    if len(model.embedding) != 2:
        raise AnalysisError(
            f"expected an embedding of subjects and relations, got {len(model.embedding)} parts"
        )
    wanted = {"subjects": (subjects, model.embedding[0]), "relations": (relations, model.embedding[1])}
    for name, (new, old) in wanted.items():
        if new is not None and new.shape != old.shape:
            raise AnalysisError(f"expected {name} of shape {tuple(old.shape)}, got {tuple(new.shape)}")
    if silenced is not None and silenced.shape != layer.b1.shape:
        raise AnalysisError(
            f"expected silenced units of shape {tuple(layer.b1.shape)}, got {tuple(silenced.shape)}"
        )
    with _restored(model):
        for new, old in wanted.values():
            if new is not None:
                old.data.copy_(new.detach())
        if silenced is not None:
            # A unit that nothing reads is a unit that is silent.
            layer.w2.data.masked_fill_(silenced[:, None], 0)
        yield model


@contextmanager
def _restored(model: nn.Module) -> Iterator[None]:
    kept = [
        (module, name, parameter, parameter.data, parameter.detach().clone())
        for module in model.modules()
        for name, parameter in module.named_parameters(recurse=False)
    ]
    try:
        yield
    finally:
        for module, name, parameter, memory, bits in kept:
            memory.copy_(bits)
            parameter.data = memory
            setattr(module, name, parameter)
