"""What stock architectures have in common: a construction becomes a model, and the model is checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel

from georecall.constructions.certificate import Certificate, certify, witnesses
from georecall.constructions.chain import Chain
from georecall.models.decode_step import RecallStep
from georecall.storage.tensors import TensorSource

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
"""Number formats that a memory can be saved in, by name."""

WITNESS_BATCH = 1024

Held = TypeVar("Held")
AnyChain = TypeVar("AnyChain", bound=Chain)


@dataclass(frozen=True, kw_only=True)
class Architecture(Generic[AnyChain]):
    """A stock architecture: its model class, and its configuration, tensors and single step for a construction."""

    name: str
    model_class: type[PreTrainedModel]
    chain_class: type[AnyChain]
    config: Callable[[AnyChain, torch.dtype], PreTrainedConfig]
    tensors: Callable[[AnyChain], dict[str, TensorSource]]
    step: Callable[[AnyChain, Mapping[str, Tensor]], RecallStep]
    embedding: str
    unembedding: str

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
        with torch.device("meta"):
            model = self.model_class(config)
        model.load_state_dict(dict(tensors), assign=True)
        _make_buffers(model, config)
        model.generation_config = self.generation_config(chain)
        return model.eval().requires_grad_(False)

    def layer(self, tensors: Mapping[str, Held]) -> dict[str, Held]:
        """The tensors but for the two that grow with the vocabulary."""
        return {
            name: held for name, held in tensors.items() if name not in {self.embedding, self.unembedding}
        }

    def prove(
        self, chain: AnyChain, layer: Mapping[str, Tensor], dtypes: Sequence[torch.dtype]
    ) -> tuple[Certificate, ...]:
        """Run the stock layer on the witness subjects, in every format asked for."""
        known = witnesses(chain)
        embedding = torch.from_numpy(known.embedding)
        tensors = {**layer, self.embedding: embedding, self.unembedding: torch.zeros_like(embedding)}
        tokens = torch.from_numpy(known.tokens)
        certificates = []
        for dtype in dtypes:
            cast = {name: tensor.to(dtype) for name, tensor in tensors.items()}
            model = self.model(chain, cast)
            with torch.inference_mode():
                states = [model.base_model(part).last_hidden_state for part in tokens.split(WITNESS_BATCH)]
            found = torch.cat(states).double().numpy()
            if not all(tensor.isfinite().all() for tensor in cast.values()):
                found.fill(np.nan)  # not every attention kernel hands on what is not a number
            name = str(dtype).removeprefix("torch.")
            certificates.append(certify(chain, found, dtype=name, epsilon=torch.finfo(dtype).eps))
        return tuple(certificates)


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
