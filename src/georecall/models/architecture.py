"""What stock architectures have in common: a construction becomes a model, and the model is checked."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel

from georecall.constructions.certificate import (
    KERNELS,
    Basis,
    Certificate,
    Errors,
    certified_margin,
    measured_errors,
    witnesses,
)
from georecall.constructions.chain import Chain
from georecall.models.arithmetic import Arithmetic
from georecall.models.asking import ask_every_step
from georecall.models.decode_step import DecodeStep
from georecall.progress import Progress, no_progress
from georecall.storage.tensors import DTYPE_NAMES, TensorForm, TensorSource

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
"""Number formats that a memory can be saved in, by name."""

WITNESS_BATCH = 1024

Held = TypeVar("Held")
AnyChain = TypeVar("AnyChain", bound=Chain)


@dataclass(frozen=True, kw_only=True)
class HiddenUnits:
    """How the stock layer makes its hidden units, and the modules that do so, by their names in the model.

        hidden = ReLU(reads(x))     or, if there are gates,     SiLU(gates(x)) · reads(x)

    `writes` takes them in.
    """

    reads: str
    writes: str
    gates: str | None = None

    @property
    def activation(self) -> str:
        """What lets a hidden unit pass, in a word."""
        return "ReLU" if self.gates is None else "gate"


@dataclass(frozen=True, kw_only=True)
class Architecture(Generic[AnyChain]):
    """A stock architecture: its model class, and its configuration, tensors and single step for a construction.

    `embedding` and `unembedding` are the names of the tensors that grow with the vocabulary; `attention` and
    `units` name the modules of its one layer.
    """

    name: str
    model_class: type[PreTrainedModel]
    chain_class: type[AnyChain]
    config: Callable[[AnyChain, torch.dtype], PreTrainedConfig]
    tensors: Callable[[AnyChain], dict[str, TensorSource]]
    step: Callable[[AnyChain, Mapping[str, Tensor]], DecodeStep]
    errors: Callable[[AnyChain, Mapping[str, Tensor], Arithmetic], Errors]
    embedding: str
    unembedding: str
    attention: str
    units: HiddenUnits

    def generation_config(self, chain: AnyChain) -> GenerationConfig:
        """Greedy decoding until the end token, for at most K answers and the end."""
        end = chain.vocabulary.end
        return GenerationConfig(
            do_sample=False, max_new_tokens=chain.hops + 1, eos_token_id=end, pad_token_id=end
        )

    def model(self, chain: AnyChain, tensors: Mapping[str, Tensor]) -> PreTrainedModel:
        """The stock model that holds these very tensors (nothing is copied)."""
        config = self.config(chain, tensors[self.embedding].dtype)
        config.vocab_size = len(tensors[self.embedding])
        model = self._hollow(config)
        model.load_state_dict(dict(tensors), assign=True)
        _make_buffers(model, config)
        model.generation_config = self.generation_config(chain)
        return model.eval().requires_grad_(False)

    def forms(self, chain: AnyChain, dtype: torch.dtype) -> dict[str, TensorForm]:
        """Names and forms of the stock model's tensors; nothing is allocated."""
        hollow = self._hollow(self.config(chain, dtype)).state_dict()
        return {name: TensorForm(DTYPE_NAMES[dtype], tuple(held.shape)) for name, held in hollow.items()}

    def _hollow(self, config: PreTrainedConfig) -> PreTrainedModel:
        """The stock model without numbers in its tensors."""
        with torch.device("meta"):
            return self.model_class(config)

    def layer(self, tensors: Mapping[str, Held]) -> dict[str, Held]:
        """The tensors but for the two that grow with the vocabulary."""
        return {
            name: held for name, held in tensors.items() if name not in {self.embedding, self.unembedding}
        }

    def certify(
        self,
        chain: AnyChain,
        tensors: Mapping[str, TensorSource],
        dtype: torch.dtype,
        *,
        progress: Progress = no_progress,
    ) -> Certificate:
        """What is known of the model with these tensors in one format.

        The stock layer is run on the witness subjects, under every attention kernel, and what the format can make
        of every level is worked out. A rotated memory is asked every step instead.
        """
        layer = {name: source.tensor(dtype) for name, source in self.layer(tensors).items()}
        errors = self._measured(chain, layer)
        name, width = str(dtype).removeprefix("torch."), chain.width
        if chain.rotation is None:
            errors = errors.worst(self.errors(chain, layer, Arithmetic(dtype=dtype)))
            margin = certified_margin(chain, errors, epsilon=torch.finfo(dtype).eps)
            return Certificate(dtype=name, basis="proved", units=width, errors=errors, margin=margin)
        outer = {name: tensors[name].tensor(dtype) for name in (self.embedding, self.unembedding)}
        found = ask_every_step(chain, self.model(chain, layer | outer), progress=progress)
        basis: Basis = "asked" if found.asked == found.steps else "sampled"
        return Certificate(
            dtype=name,
            basis=basis,
            units=width,
            errors=errors,
            margin=found.margin,
            asked=found.asked,
            steps=found.steps,
        )

    def _measured(self, chain: AnyChain, layer: Mapping[str, Tensor]) -> Errors:
        """The errors of the stock layer on the witness subjects, under every attention kernel."""
        known = witnesses(chain)
        (dtype,) = {tensor.dtype for tensor in layer.values()}
        embedding = torch.from_numpy(known.embedding).to(dtype)
        model = self.model(chain, {**layer, self.embedding: embedding, self.unembedding: embedding})
        tokens = torch.from_numpy(known.tokens)
        if not all(tensor.isfinite().all() for tensor in layer.values()):
            # not every attention kernel hands on what is not a number
            return Errors(deviation=math.nan, leak=math.nan, constant_read=math.nan, constant_end=math.nan)
        found = []
        for kernel in KERNELS:
            model.set_attn_implementation(kernel)
            with torch.inference_mode():
                states = [model.base_model(part).last_hidden_state for part in tokens.split(WITNESS_BATCH)]
            found.append(measured_errors(chain, known, torch.cat(states).double().numpy()))
        return reduce(Errors.worst, found)


def common_config(chain: Chain, dtype: torch.dtype) -> dict[str, Any]:
    """What every stock configuration says: one layer, one head, an untied unembedding, ␃ to end and to pad."""
    end = chain.vocabulary.end
    return {
        "vocab_size": chain.vocabulary.size,
        "hidden_size": chain.layout.dim,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "max_position_embeddings": chain.context,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": end,
        "pad_token_id": end,
        "dtype": dtype,
    }


def _make_buffers(model: PreTrainedModel, config: PreTrainedConfig) -> None:
    """Make again the modules with buffers that no file holds, such as rotary frequencies."""
    for name, module in list(model.named_modules()):
        if any(buffer.is_meta for buffer in module.buffers(recurse=False)):
            parent, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(parent), attribute, type(module)(config))
