"""A rotary chain as a stock `LlamaForCausalLM`: RMS normalisation, rotary positions, gated units, no biases.

All embeddings have one norm, so the gain of each RMS normalisation is set to undo it. Attention uses every rotary
pair of the head: only at the right place do all of them agree. The gate of a unit reads the sum of its whole
block, which only tells whether the block is open, and is ±M; `silu(M)·x/M = x` and `silu(−M) ≈ 0`
(docs/theory.md §6).
"""

import math
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32, Float64

from georecall.constructions.certificate import Errors
from georecall.constructions.heads import ATTENTION_GAP
from georecall.constructions.rotary import RotaryChain
from georecall.models.architecture import Architecture, HiddenUnits
from georecall.models.arithmetic import UNIT, Arithmetic, Numbers, Range, State
from georecall.models.decode_step import Activation, DecodeStep, Reader, root_mean_square, silu
from georecall.models.read_states import ReadState, ReadStates, distance
from georecall.storage.tensors import TensorSource

if TYPE_CHECKING:
    from torch import Tensor

RMS_EPSILON = 1e-6
GATE = 64.0
"""M: `silu(64) = 64` in every format, 1/64 is exact, and `|silu(−64)|` is 1.03e−26."""

LEAST_PAIRS = 4
"""Rotary pairs of a head at least: with four, no other place within 128 comes close to the right one."""

ANGLES = np.arange(1, 1000) / 1000
"""Angles a token, in radians, tried for the slowest rotary pair."""

LAYER = "model.layers.0"


def llama_config(chain: RotaryChain) -> dict[str, Any]:
    """What the configuration of the stock model that holds `chain` says of Llama."""
    return {
        "intermediate_size": chain.width,
        "num_key_value_heads": 1,
        "head_dim": _head_dim(chain),
        "rms_norm_eps": RMS_EPSILON,
        "rope_parameters": {"rope_type": "default", "rope_theta": _rope_theta(chain)},
        "attention_bias": False,
        "mlp_bias": False,
    }


def llama_tensors(chain: RotaryChain) -> dict[str, TensorSource]:
    """Every tensor of the stock model, by its name in the state dict."""
    vocabulary_shape = (chain.vocabulary.size, chain.layout.dim)
    return {
        LLAMA.embedding: TensorSource(vocabulary_shape, chain.embedding_chunks),
        **dict(_layer_sources(chain)),
        LLAMA.unembedding: TensorSource(vocabulary_shape, chain.unembedding_chunks),
    }


def llama_step(chain: RotaryChain, read: Reader) -> DecodeStep:
    """One step of the stock model with its attention read once and for all: see `DecodeStep`."""

    def normalise(name: str) -> Activation:
        gain = read(f"{name}.weight")
        return lambda x: x * (gain / root_mean_square(x, RMS_EPSILON))

    def linear(name: str) -> Activation:
        weight = read(f"{LAYER}.{name}.weight")
        return lambda x: x @ weight.T

    gate, up, down = (linear(f"mlp.{name}_proj") for name in ("gate", "up", "down"))
    before, after = normalise(f"{LAYER}.post_attention_layernorm"), normalise("model.norm")

    def finish(x: Float32[np.ndarray, "batch dim"]) -> Float32[np.ndarray, "batch scored"]:
        z = before(x)
        return after(x + down(silu(gate(z)) * up(z)))[:, chain.scored]

    controls = read(LLAMA.embedding, slice(chain.vocabulary.entities.start))
    value, output = linear("self_attn.v_proj"), linear("self_attn.o_proj")
    return DecodeStep(
        read=read,
        embedding=LLAMA.embedding,
        unembedding=LLAMA.unembedding,
        positions=np.zeros((chain.hops, chain.layout.dim), dtype=np.float32),
        carried=output(value(normalise(f"{LAYER}.input_layernorm")(controls))),
        finish=finish,
        scored=chain.scored,
    )


def llama_errors(chain: RotaryChain, layer: "Mapping[str, Tensor]", arithmetic: Arithmetic) -> Errors:
    """The most that the number format can make of any state: docs/theory.md §6, proposition 6.8."""

    def norm(name: str, x: Range, state: State) -> Range:
        gain = float(layer[f"{name}.weight"][0])
        return arithmetic.rms_norm(x, state, gain=gain, epsilon=RMS_EPSILON)

    states, one = ReadStates(chain, arithmetic), Range.exactly(np.ones(1))
    flags = norm(f"{LAYER}.input_layernorm", states.flags, states.token)
    weight = layer[f"{LAYER}.mlp.gate_proj.weight"][0].double().numpy()
    per_place, offset = weight[0], weight[chain.layout["entity"].start]

    def unit(places: Range, at: ReadState) -> tuple[Range, Range]:
        """The value of a place, by level, and of the gate of its block."""
        x = norm(f"{LAYER}.post_attention_layernorm", places, at.state)
        kind = norm(f"{LAYER}.post_attention_layernorm", one, at.state)
        return x, arithmetic.dot(
            Range(np.append(x.low, kind.low), np.append(x.high, kind.high)),
            np.append(per_place * states.counts, offset),
            terms=chain.code.length + 1,
        )

    def closed_unit(at: ReadState) -> float:
        """The most that one unit of a closed block writes."""
        x, gate = unit(at.closed, at)
        return math.inf if gate.high > -2 else float(-_silu(gate.high) * np.abs(np.stack(x)).max() / GATE)

    read, end = states.read(flags), states.end(flags)
    x, gate = unit(read.opened, read)
    active = arithmetic.rounded(Range(_silu(gate.low), _silu(gate.high)).within(8 * UNIT))
    written = arithmetic.rounded(active.times(arithmetic.rounded(Range(x.low / GATE, x.high / GATE))))
    leak = (chain.n_relations - 1) * closed_unit(read)
    written = arithmetic.rounded(Range(written.low - leak, written.high + leak))
    after = read.state.joined(written, states.counts)
    after_end = end.state.joined(Range.exactly(np.zeros(1)), np.zeros(1))
    out, constant_read = (norm("model.norm", numbers, after) for numbers in (written, one))
    constant_end = norm("model.norm", one, after_end)
    return Errors(
        deviation=distance(out, chain),
        leak=chain.n_relations * closed_unit(end) * float(constant_end.high.max()) * 2,
        constant_read=float(constant_read.high.max()),
        constant_end=float(constant_end.low.min()),
    )


def _silu(x: Numbers) -> Numbers:
    return x / (1 + np.exp(-np.float64(x)))


def _head_dim(chain: RotaryChain) -> int:
    """Room for the R flags and for the rotary pairs; even."""
    return max(2 * LEAST_PAIRS, chain.n_relations + chain.n_relations % 2)


def rotary_angles(pairs: int, slowest: float) -> Float64[np.ndarray, " pairs"]:
    """Radians a token by which the rotary pairs of a head turn: from 1 down to `slowest` by one factor."""
    return slowest ** (np.arange(pairs) / (pairs - 1))


def rotary_gap(angles: Float64[np.ndarray, " pairs"], hops: int) -> float:
    """By how much the sum of the cosines at the right place exceeds that 1 … K places away, and that of no turn, 0."""
    away = np.cos(np.outer(np.arange(1, hops + 1), angles)).sum(axis=1)
    return float(len(angles) - max(0.0, away.max()))


@cache
def best_rotary_angles(pairs: int, hops: int) -> tuple[float, ...]:
    """The rotary angles with the largest gap; Llama turns the last of J pairs by base^(−(J−1)/J) a token."""
    slowest = max(ANGLES, key=lambda angle: rotary_gap(rotary_angles(pairs, angle), hops))
    return tuple(rotary_angles(pairs, slowest).tolist())


def _angles(chain: RotaryChain) -> Float64[np.ndarray, " pairs"]:
    return np.array(best_rotary_angles(_head_dim(chain) // 2, chain.hops))


def _rope_theta(chain: RotaryChain) -> float:
    """The base for which the last pair turns by its angle."""
    angles = _angles(chain)
    return float(angles[-1] ** (-len(angles) / (len(angles) - 1)))


def _layer_sources(chain: RotaryChain) -> Iterator[tuple[str, TensorSource]]:
    dim, head_dim, angles = chain.layout.dim, _head_dim(chain), _angles(chain)
    entity, relation = chain.kinds()
    # Llama divides scores by √h.
    size = math.sqrt(ATTENTION_GAP / rotary_gap(angles, chain.hops) * math.sqrt(head_dim))
    turns = -chain.relation_positions * angles
    query = size * np.outer(np.concatenate([np.cos(turns), np.sin(turns)]), entity)
    key = size * np.outer(np.repeat([1.0, 0.0], len(angles)), relation)
    value, output = np.zeros((head_dim, dim)), np.zeros((dim, head_dim))
    value[: chain.n_relations] = chain.flag_reader()
    output[:, : chain.n_relations] = chain.inhibition()
    attention = {"q_proj": query, "k_proj": key, "v_proj": value, "o_proj": output}
    for name, matrix in attention.items():
        yield f"{LAYER}.self_attn.{name}.weight", TensorSource.of(matrix)
    wide = (chain.width, dim)
    yield f"{LAYER}.mlp.gate_proj.weight", TensorSource.by_rows(wide, partial(_gates, chain))
    yield f"{LAYER}.mlp.up_proj.weight", TensorSource.by_rows(wide, lambda units: chain.select(units) / GATE)
    yield f"{LAYER}.mlp.down_proj.weight", TensorSource.by_rows((dim, chain.width), chain.write)
    norms = (f"{LAYER}.input_layernorm", f"{LAYER}.post_attention_layernorm", "model.norm")
    for name, state in zip(norms, _example_states(chain), strict=True):
        yield f"{name}.weight", TensorSource.of(np.full(dim, math.sqrt(np.mean(state**2) + RMS_EPSILON)))


def _gates(chain: RotaryChain, units: slice) -> Float64[np.ndarray, "units dim"]:
    """`M (2 Σ block − 2s + Gp) / Gp` at entities: M where the block is open, as its sum is s, −M where it is s − Gp.

    At relations and ␃ it is `M (2 Σ block − 2s − Gp) / Gp`, at most −M, whatever is inhibited: nothing is open there.
    """
    places, entity, relation = chain.code.length, *chain.kinds()
    depth, total = chain.inhibition_strength * places, chain.code.level_sum
    kind = (depth - 2 * total) * entity - (depth + 2 * total) * relation
    return GATE * (2 * chain.block_sums(units) + kind) / depth


def _example_states(chain: RotaryChain) -> Iterator[Float64[np.ndarray, "dim"]]:
    """A state before and after a relation is read, and after the MLP; all others have the same norms."""
    controls = chain.control_rows()
    before = controls[chain.vocabulary.unknown]
    relation = controls[chain.vocabulary.relations][0]
    after = before + chain.inhibition() @ (chain.flag_reader() @ relation)
    yield from (before, after)
    opened = chain.select(slice(chain.code.length)) @ after
    yield after + chain.directions("output") @ opened


LLAMA = Architecture(
    name="llama",
    model_class="LlamaForCausalLM",
    config_class="LlamaConfig",
    chain_class=RotaryChain,
    config=llama_config,
    tensors=llama_tensors,
    step=llama_step,
    errors=llama_errors,
    embedding="model.embed_tokens.weight",
    unembedding="lm_head.weight",
    attention=f"{LAYER}.self_attn",
    units=HiddenUnits(
        reads=f"{LAYER}.mlp.up_proj",
        gates=f"{LAYER}.mlp.gate_proj",
        writes=f"{LAYER}.mlp.down_proj",
    ),
)
"""Llama with one layer and one head."""
