"""A chain-of-thought construction as a stock `OPTForCausalLM`.

OPT normalises before attention and before the MLP. All embeddings we build have one sum and one norm, so layer
normalisation is a fixed affine map on them, and its own gain and bias are set to undo it: on every state in
which a relation is read, both normalisations are the identity (docs/theory.md §6).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32, Float64

from georecall.constructions.certificate import Errors
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.models.architecture import Architecture, HiddenUnits
from georecall.models.arithmetic import Arithmetic, Range, State
from georecall.models.decode_step import Activation, DecodeStep, Reader, root_mean_square
from georecall.models.read_states import ReadStates, distance
from georecall.storage.tensors import TensorSource

if TYPE_CHECKING:
    from torch import Tensor

LAYER_NORM_EPSILON = 1e-5
"""The epsilon of `torch.nn.LayerNorm`, which OPT does not change."""

POSITION_OFFSET = 2
"""OPT keeps two unused rows before the embedding of position 0."""

LAYER = "model.decoder.layers.0"
POSITIONS = "model.decoder.embed_positions.weight"


def opt_config(chain: ChainOfThought) -> dict[str, Any]:
    """What the configuration of the stock model that holds `chain` says of OPT."""
    return {
        "word_embed_proj_dim": chain.layout.dim,
        "ffn_dim": chain.width,
        "activation_function": "relu",
        "_remove_final_layer_norm": True,
        "dropout": 0.0,
    }


def opt_tensors(chain: ChainOfThought) -> dict[str, TensorSource]:
    """Every tensor of the stock model, by its name in the state dict."""
    positions = np.pad(chain.positions(), ((POSITION_OFFSET, 0), (0, 0)))
    vocabulary_shape = (chain.vocabulary.size, chain.layout.dim)
    layer = {f"{LAYER}.{name}": source for name, source in _layer_sources(chain)}
    return {
        OPT.embedding: TensorSource(vocabulary_shape, chain.embedding_chunks),
        POSITIONS: TensorSource.of(positions),
        **layer,
        OPT.unembedding: TensorSource(vocabulary_shape, chain.unembedding_chunks),
    }


def opt_step(chain: ChainOfThought, read: Reader) -> DecodeStep:
    """One step of the stock model with its attention read once and for all: see `DecodeStep`."""
    positions, scored = read(POSITIONS, slice(POSITION_OFFSET, None)), chain.scored

    def normalise(name: str) -> Activation:
        gain, bias = (read(f"{LAYER}.{name}.{part}") for part in ("weight", "bias"))

        def normalised(x: Float32[np.ndarray, "batch dim"]) -> Float32[np.ndarray, "batch dim"]:
            mean = x.mean(axis=1, keepdims=True)
            scale = gain / root_mean_square(x - mean, LAYER_NORM_EPSILON)
            return x * scale + (bias - mean * scale)  # x itself where gain and bias undo it

        return normalised

    def linear(name: str, outputs: slice = slice(None)) -> Activation:
        weight, bias = (read(f"{LAYER}.{name}.{part}", outputs) for part in ("weight", "bias"))
        return lambda x: x @ weight.T + bias

    into, out_of, before = linear("fc1"), linear("fc2", scored), normalise("final_layer_norm")

    def finish(x: Float32[np.ndarray, "batch dim"]) -> Float32[np.ndarray, "batch scored"]:
        hidden = into(before(x))
        return x[:, scored] + out_of(np.maximum(hidden, 0, out=hidden))

    controls = read(OPT.embedding, slice(chain.vocabulary.entities.start)) + positions[0]
    value, output = linear("self_attn.v_proj"), linear("self_attn.out_proj")
    return DecodeStep(
        read=read,
        embedding=OPT.embedding,
        unembedding=OPT.unembedding,
        positions=positions[chain.relation_positions :],
        carried=output(value(normalise("self_attn_layer_norm")(controls))),
        finish=finish,
        scored=scored,
    )


def opt_errors(chain: ChainOfThought, layer: "Mapping[str, Tensor]", arithmetic: Arithmetic) -> Errors:
    """The most that the number format can make of any state: docs/theory.md §4, proposition 4.9."""

    def norm(name: str, x: Range, state: State) -> Range:
        gain, bias = (float(layer[f"{LAYER}.{name}.{part}"][0]) for part in ("weight", "bias"))
        return arithmetic.layer_norm(x, state, gain=gain, bias=bias, epsilon=LAYER_NORM_EPSILON)

    states = ReadStates(chain, arithmetic)
    flags = norm("self_attn_layer_norm", states.flags, states.token)
    read, end = states.read(flags), states.end(flags)
    opened = norm("final_layer_norm", read.opened, read.state)
    closed_read, closed_end = (norm("final_layer_norm", at.closed, at.state).high.max() for at in (read, end))
    # ReLU passes numbers unchanged, every unit reads one place, and an output place adds up R units.
    deviation = distance(opened, chain) + (chain.n_relations - 1) * max(0.0, closed_read)
    leak = chain.n_relations * max(0.0, closed_end)
    return Errors(deviation=float(deviation), leak=float(leak), constant_read=1.0, constant_end=1.0)


def _layer_sources(chain: ChainOfThought) -> Iterator[tuple[str, TensorSource]]:
    dim, width, head = chain.layout.dim, chain.width, chain.head()
    before, after = _example_states(chain)
    square = {
        "q_proj": np.sqrt(dim) * head.query,  # OPT divides its queries by √d
        "k_proj": head.key,
        "v_proj": head.value,
        "out_proj": head.output,
    }
    for name, matrix in square.items():
        yield f"self_attn.{name}.weight", _padded(matrix, dim)
        yield f"self_attn.{name}.bias", TensorSource.of(np.zeros(dim))
    for name, state in {"self_attn_layer_norm": before, "final_layer_norm": after}.items():
        gain = np.sqrt(state.var() + LAYER_NORM_EPSILON)
        yield f"{name}.weight", TensorSource.of(np.full(dim, gain))
        yield f"{name}.bias", TensorSource.of(np.full(dim, state.mean()))
    yield "fc1.weight", TensorSource.by_rows((width, dim), chain.select)
    yield "fc1.bias", TensorSource.of(np.zeros(width))
    yield "fc2.weight", TensorSource.by_rows((dim, width), chain.write)
    yield "fc2.bias", TensorSource.of(np.zeros(dim))


def _padded(matrix: Float64[np.ndarray, "rows columns"], dim: int) -> TensorSource:
    """The matrix with rows and columns of zeros up to a square."""

    def rows(part: slice) -> Float64[np.ndarray, "part dim"]:
        padded, held = np.zeros((part.stop - part.start, dim)), matrix[part]
        padded[: len(held), : matrix.shape[1]] = held
        return padded

    return TensorSource.by_rows((dim, dim), rows)


def _example_states(chain: ChainOfThought) -> tuple[Float64[np.ndarray, "dim"], Float64[np.ndarray, "dim"]]:
    """One residual state before and one after a relation is read; all others have the same sum and norm."""
    controls = chain.control_rows()
    before = controls[chain.vocabulary.unknown] + chain.positions()[0]
    relation = controls[chain.vocabulary.relations][0]
    return before, before + chain.inhibition() @ (chain.flag_reader() @ relation)


OPT = Architecture(
    name="opt",
    model_class="OPTForCausalLM",
    config_class="OPTConfig",
    chain_class=ChainOfThought,
    config=opt_config,
    tensors=opt_tensors,
    step=opt_step,
    errors=opt_errors,
    embedding="model.decoder.embed_tokens.weight",
    unembedding="lm_head.weight",
    attention=f"{LAYER}.self_attn",
    units=HiddenUnits(reads=f"{LAYER}.fc1", writes=f"{LAYER}.fc2"),
)
"""Pre-norm OPT with ReLU, learned positions and an untied head."""
