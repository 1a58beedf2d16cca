"""A rotary chain as a stock `LlamaForCausalLM`: RMS normalisation, rotary positions, gated units, no biases.

All embeddings have one norm, so the gain of each RMS normalisation is set to undo it. Attention has one rotary
pair that turns by `φ = 2π/(2K+1)` a token: the relation places that a question can be away from the right one
are spread evenly over the circle. The gate of a unit reads the sum of its whole block, which only tells whether
the block is open, and is ±M; `silu(M)·x/M = x` and `silu(−M) ≈ 0` (docs/theory.md §6).
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.nn.functional import linear, rms_norm, silu
from transformers import LlamaConfig, LlamaForCausalLM

from georecall.constructions.rotary import RotaryChain
from georecall.models.architecture import Architecture, common_config
from georecall.models.decode_step import RecallStep
from georecall.storage.tensors import TensorSource

RMS_EPSILON = 1e-6
GATE = 64.0
"""M: `silu(64) = 64` in every format, 1/64 is exact, and `|silu(−64)|` is 1.03e−26."""

ROTARY_GAP = 256.0
"""Score by which attention prefers the right place to its neighbours; more than for one-hot positions, as
rounding in bfloat16 takes its share."""

LAYER = "model.layers.0"


def llama_config(chain: RotaryChain, dtype: torch.dtype) -> LlamaConfig:
    """The configuration of the stock model that holds `chain`."""
    return LlamaConfig(
        **common_config(chain, dtype),
        intermediate_size=chain.width,
        num_key_value_heads=1,
        head_dim=_head_dim(chain),
        rms_norm_eps=RMS_EPSILON,
        rope_parameters={"rope_type": "default", "rope_theta": _rope_theta(chain)},
        attention_bias=False,
        mlp_bias=False,
        architectures=["LlamaForCausalLM"],
    )


def llama_tensors(chain: RotaryChain) -> dict[str, TensorSource]:
    """Every tensor of the stock model, by its name in the state dict."""
    vocabulary_shape = (chain.vocabulary.size, chain.layout.dim)
    return {
        LLAMA.embedding: TensorSource(vocabulary_shape, chain.embedding_chunks),
        **{name: TensorSource.of(array) for name, array in _layer_arrays(chain)},
        LLAMA.unembedding: TensorSource(vocabulary_shape, chain.unembedding_chunks),
    }


def llama_step(chain: RotaryChain, tensors: Mapping[str, Tensor]) -> RecallStep:
    """One step of the stock model with its attention read once and for all: see `RecallStep`."""
    embedding = tensors[LLAMA.embedding]

    def normalise(x: Float[Tensor, "batch dim"], name: str) -> Float[Tensor, "batch dim"]:
        return rms_norm(x, x.shape[-1:], tensors[f"{name}.weight"].float(), RMS_EPSILON)

    def apply(x: Float[Tensor, "batch dim"], name: str) -> Float[Tensor, "batch out"]:
        return linear(x, tensors[f"{LAYER}.{name}.weight"].float())

    def finish(x: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch scored"]:
        z = normalise(x, f"{LAYER}.post_attention_layernorm")
        written = apply(silu(apply(z, "mlp.gate_proj")) * apply(z, "mlp.up_proj"), "mlp.down_proj")
        return normalise(x + written, "model.norm")[:, chain.scored]

    read = normalise(embedding[: chain.vocabulary.entities.start].float(), f"{LAYER}.input_layernorm")
    return RecallStep(
        embedding=embedding,
        positions=torch.zeros(chain.hops, embedding.shape[1]),
        carried=apply(apply(read, "self_attn.v_proj"), "self_attn.o_proj"),
        finish=finish,
        unembedding=tensors[LLAMA.unembedding],
        scored=chain.scored,
    )


def _head_dim(chain: RotaryChain) -> int:
    """Room for the R flags; even, and two pairs at least, since the first turns by one radian a token."""
    return max(4, chain.n_relations + chain.n_relations % 2)


def _angle(chain: RotaryChain) -> float:
    """φ: questions are at most K places from the right one, either way, so 2K + 1 places share the circle."""
    return 2 * math.pi / (2 * chain.hops + 1)


def _rope_theta(chain: RotaryChain) -> float:
    """The base for which the last of the h/2 rotary pairs, `base^(−(h−2)/h)`, turns by φ a token."""
    dim = _head_dim(chain)
    return float(_angle(chain) ** (-dim / (dim - 2)))


def _layer_arrays(chain: RotaryChain) -> Iterator[tuple[str, Float64[np.ndarray, "..."]]]:
    dim, head_dim, angle = chain.layout.dim, _head_dim(chain), _angle(chain)
    entity, relation = chain.kinds()
    pair = [head_dim // 2 - 1, head_dim - 1]
    score = ROTARY_GAP / (1 - math.cos(angle)) * math.sqrt(head_dim)  # Llama divides scores by √h
    turn = -chain.relation_places * angle
    query, key = np.zeros((head_dim, dim)), np.zeros((head_dim, dim))
    query[pair] = math.sqrt(score) * np.outer([math.cos(turn), math.sin(turn)], entity)
    key[pair[0]] = math.sqrt(score) * relation
    value, output = np.zeros((head_dim, dim)), np.zeros((dim, head_dim))
    value[: chain.n_relations] = chain.flag_reader()
    output[:, : chain.n_relations] = chain.inhibition()
    yield from {
        f"{LAYER}.self_attn.q_proj.weight": query,
        f"{LAYER}.self_attn.k_proj.weight": key,
        f"{LAYER}.self_attn.v_proj.weight": value,
        f"{LAYER}.self_attn.o_proj.weight": output,
        f"{LAYER}.mlp.gate_proj.weight": _gates(chain, entity),
        f"{LAYER}.mlp.up_proj.weight": chain.select() / GATE,
        f"{LAYER}.mlp.down_proj.weight": chain.write(),
    }.items()
    norms = (f"{LAYER}.input_layernorm", f"{LAYER}.post_attention_layernorm", "model.norm")
    for name, state in zip(norms, _example_states(chain), strict=True):
        yield f"{name}.weight", np.full(dim, math.sqrt(np.mean(state**2) + RMS_EPSILON))


def _gates(chain: RotaryChain, entity: Float64[np.ndarray, "dim"]) -> Float64[np.ndarray, "width dim"]:
    """`M (2 Σ block − 2s + Gp) / Gp`: M where the block is open, as its sum is s, and −M where it is s − Gp."""
    places = chain.code.length
    depth = chain.silence * places
    block_sums = np.repeat(np.eye(chain.n_relations), places, axis=0).repeat(places, axis=1) @ chain.select()
    return GATE * (2 * block_sums + (depth - 2 * chain.code.level_sum) * entity) / depth


def _example_states(chain: RotaryChain) -> Iterator[Float64[np.ndarray, "dim"]]:
    """A state before and after a relation is read, and after the MLP; all others have the same norms."""
    controls = chain.control_rows()
    before = controls[chain.vocabulary.unknown]
    relation = controls[chain.vocabulary.relations][0]
    after = before + chain.inhibition() @ (chain.flag_reader() @ relation)
    yield from (before, after)
    opened = (chain.select() @ after)[: chain.code.length]
    yield after + chain.write()[:, : chain.code.length] @ opened


LLAMA = Architecture(
    name="llama",
    model_class=LlamaForCausalLM,
    chain_class=RotaryChain,
    config=llama_config,
    tensors=llama_tensors,
    step=llama_step,
    embedding="model.embed_tokens.weight",
    unembedding="lm_head.weight",
)
"""Llama with one layer and one head."""
