"""An architecture's tensors as a model of `transformers`."""

from collections.abc import Mapping
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers import GenerationConfig, PreTrainedConfig, PreTrainedModel

from georecall.constructions.chain import Chain
from georecall.models.architecture import Architecture


def stock_model(
    architecture: Architecture[Any], chain: Chain, tensors: Mapping[str, Tensor]
) -> PreTrainedModel:
    """The stock model that holds these very tensors (nothing is copied)."""
    embedding = tensors[architecture.embedding]
    config = stock_config(architecture, chain, embedding.dtype)
    config.vocab_size = len(embedding)
    with torch.device("meta"):
        model = getattr(transformers, architecture.model_class)(config)
    model.load_state_dict(dict(tensors), assign=True)
    _make_buffers(model, config)
    model.generation_config = generation_config(chain)
    return model.eval().requires_grad_(False)


def stock_config(architecture: Architecture[Any], chain: Chain, dtype: torch.dtype) -> PreTrainedConfig:
    """The configuration of the stock model: one layer, one head, an untied unembedding, ␃ to end and to pad."""
    end = chain.vocabulary.end
    return getattr(transformers, architecture.config_class)(
        vocab_size=chain.vocabulary.size,
        hidden_size=chain.layout.dim,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=chain.context,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
        dtype=dtype,
        architectures=[architecture.model_class],
        **architecture.config(chain),
    )


def generation_config(chain: Chain) -> GenerationConfig:
    """Greedy decoding until the end token, for at most K answers and the end."""
    end = chain.vocabulary.end
    return GenerationConfig(
        do_sample=False, max_new_tokens=chain.hops + 1, eos_token_id=end, pad_token_id=end
    )


def _make_buffers(model: PreTrainedModel, config: PreTrainedConfig) -> None:
    """Make again the modules with buffers that no file holds, such as rotary frequencies."""
    for name, module in list(model.named_modules()):
        if any(buffer.is_meta for buffer in module.buffers(recurse=False)):
            parent, _, attribute = name.rpartition(".")
            setattr(model.get_submodule(parent), attribute, type(module)(config))
