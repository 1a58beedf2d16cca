"""Tiny language models of many families with random weights, and tokenizers trained on a few sentences."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers.normalizers import Normalizer
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    OPTConfig,
    Phi3Config,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)

from georecall.language_models.language_model import LanguageModel

LAYERS, DIM, POSITIONS = 3, 16, 256

SENTENCES = (
    "The capital of France is Paris. The capital of Italy is Rome, and Oslo is the capital of Norway.",
    'Let us talk about "Chad" and about Anna, Ann and San Jose; São Tomé, Côte d’Ivoire, Åland.',
    "The language of Italy is Italian. The continent of Chad is Africa.",
)

SIZES: Mapping[str, Any] = {
    "hidden_size": DIM,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "max_position_embeddings": POSITIONS,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
_GATED = {**SIZES, "intermediate_size": 24, "num_key_value_heads": 2}
_OPT = {**SIZES, "ffn_dim": 24, "word_embed_proj_dim": DIM}

FAMILIES: Mapping[str, tuple[type[PreTrainedConfig], Mapping[str, Any]]] = {
    "llama": (LlamaConfig, _GATED),
    "qwen2": (Qwen2Config, _GATED),
    "qwen3": (Qwen3Config, {**_GATED, "head_dim": 4}),
    "phi3": (Phi3Config, _GATED),
    "gpt2": (GPT2Config, SIZES),
    "gpt_neox": (GPTNeoXConfig, {**SIZES, "intermediate_size": 24}),
    "opt": (OPTConfig, _OPT),
    "opt, projected": (OPTConfig, {**_OPT, "word_embed_proj_dim": 12}),
    "opt, no final norm": (OPTConfig, {**_OPT, "_remove_final_layer_norm": True}),
}


def bpe_tokenizer(
    *, bos: bool = False, eos: bool = False, trim: bool = False, normaliser: Normalizer | None = None
) -> PreTrainedTokenizerFast:
    """A byte-level BPE, as the tokenizers of GPT-2, Llama 3 and Qwen are, with special tokens around a text or not.

    `trim` leaves spaces out of the offsets.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normaliser or normalizers.Sequence([])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    around = f"{'<s> ' * bos}$A{' </s>' * eos}"
    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=trim),
            processors.TemplateProcessing(single=around, special_tokens=[("<s>", 0), ("</s>", 1)]),
        ]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")  # noqa: S106


def tiny(family: str, *, tokenizer: PreTrainedTokenizerFast | None = None, **changes: Any) -> LanguageModel:
    """A model of a family whose every weight, of norms too, is drawn from a seed."""
    tokenizer = tokenizer or bpe_tokenizer()
    config_class, sizes = FAMILIES[family]
    config = config_class(vocab_size=len(tokenizer), **{**sizes, **changes})
    model = AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)
    return LanguageModel(model=redrawn(model), tokenizer=tokenizer, name=f"tiny {family}")


def redrawn(model: torch.nn.Module, *, seed: int = 0) -> torch.nn.Module:
    """The model with new weights, large enough that every part of it matters."""
    draws = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=draws)
    return model


def logits(lm: LanguageModel, text: str) -> torch.Tensor:
    """What plain transformers gives for one text: a row for each token."""
    with torch.inference_mode():
        return lm.model(torch.tensor([lm.tokenizer(text)["input_ids"]])).logits[0]


def hooks(lm: LanguageModel) -> int:
    """How many hooks the model's modules have; transformers leaves some of its own."""
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in lm.model.modules())


def saved(lm: LanguageModel, folder: Path) -> Path:
    """The folder, with the model and its tokenizer as transformers saves them."""
    lm.model.save_pretrained(folder)
    lm.tokenizer.save_pretrained(folder)
    return folder
