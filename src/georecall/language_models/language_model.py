"""A pretrained causal language model with its tokenizer, loaded from files alone and never trained."""

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from georecall.errors import ProbingError
from georecall.language_models.architecture_parts import Parts, find_parts
from georecall.language_models.loading import load_model
from georecall.language_models.spans import TokenisedText

UNNAMED = ("_name_or_path", "architectures", "dtype", "transformers_version")
"""Entries of a configuration that say nothing about what the model computes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LanguageModel:
    """A causal language model in evaluation mode, without gradients, and its fast tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    name: str

    @classmethod
    def load(
        cls,
        path_or_name: str | Path | None = None,
        *,
        gguf: str | Path | None = None,
        dtype: str = "float32",
        device: str = "cpu",
    ) -> "LanguageModel":
        """A model from a folder of safetensors, by a name that `transformers` knows, or from a GGUF file.

        `gguf` is a file in the folder `path_or_name`, or a path on its own. No code of the folder is run. `dtype` is
        float32, bfloat16 or float16.

        Raises:
            ProbingError: there is no such model, it is not whole, its tokenizer has no offsets, or this machine
                does not have the device.
            MissingPackageError: a GGUF file is asked for and the packages that read it are not installed.
        """
        model, tokenizer, name = load_model(path_or_name, gguf=gguf, dtype=dtype, device=device)
        return cls(model=model, tokenizer=tokenizer, name=name)

    @property
    def n_layers(self) -> int:
        """The number L of blocks; there are L + 1 states."""
        return int(self.model.config.get_text_config().num_hidden_layers)

    @property
    def dim(self) -> int:
        """The width of the residual stream."""
        return int(self.model.config.get_text_config().hidden_size)

    @property
    def n_tokens(self) -> int:
        """The number of tokens that have an embedding; a tokenizer may have more."""
        embedding: Any = self.model.get_input_embeddings()
        return len(embedding.weight)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.model.device

    @property
    def dtype(self) -> torch.dtype:
        """The number format of the weights and of all that is computed."""
        return self.model.dtype

    @cached_property
    def parts(self) -> Parts:
        """Blocks, finish and head; ProbingError if the model is of a family that is not known."""
        return find_parts(self.model)

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of configuration, tokenizer and weights: all that decides a hidden state."""
        config = {key: value for key, value in self.model.config.to_dict().items() if key not in UNNAMED}
        tokenizer = json.loads(self.tokenizer.backend_tokenizer.to_str())
        about = {"config": config, "tokenizer": tokenizer | {"padding": None, "truncation": None}}
        digest = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()

    def untrained_control(self, seed: int) -> "LanguageModel":
        """The same architecture with fresh random weights, as its family draws them, and the same tokenizer.

        The weights are drawn on the CPU in float32, so a seed gives the same model on every device.
        """
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            model = AutoModelForCausalLM.from_config(copy.deepcopy(self.model.config), dtype=torch.float32)
        model = model.to(device=self.device, dtype=self.dtype).eval().requires_grad_(False)
        return LanguageModel(
            model=model, tokenizer=self.tokenizer, name=f"{self.name} with random weights, seed {seed}"
        )

    def tokenise(self, texts: Sequence[str], *, special_tokens: bool = True) -> list[TokenisedText]:
        """The tokens of each text, with those that the model's tokenizer puts around a text unless told not to.

        Raises:
            ProbingError: a text cannot be encoded, has no tokens, more than the model has positions for, or one
                that the model has no embedding for.
        """
        if not texts:
            return []  # the tokenizer would look at the first
        try:
            found = self.tokenizer(
                list(texts), add_special_tokens=special_tokens, return_offsets_mapping=True, verbose=False
            )
        except Exception as error:  # tokenizers raises nothing more special
            raise ProbingError(f"the tokenizer of {self.name} cannot encode a text: {error}") from error
        every = [
            TokenisedText(text=text, ids=tuple(ids), offsets=tuple(map(tuple, offsets)))
            for text, ids, offsets in zip(texts, found["input_ids"], found["offset_mapping"], strict=True)
        ]
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None) or np.inf
        for tokens in every:
            if not 0 < len(tokens.ids) <= limit:
                raise ProbingError(
                    f"expected 1 to {limit} tokens, which {self.name} has positions for, "
                    f"got {len(tokens.ids)} in {tokens.text!r}"
                )
            if (last := max(tokens.ids)) >= self.n_tokens:
                raise ProbingError(
                    f"expected tokens below {self.n_tokens:,}, which {self.name} has embeddings for, got {last:,} "
                    f"in {tokens.text!r}: is the tokenizer another model's?"
                )
        return every

    @torch.inference_mode()
    def decode(self, states: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch vocabulary"]:
        """The logits that final raw states give, by the model's own norm and head."""
        return self.parts.decode(states.to(device=self.device, dtype=self.dtype))

    @torch.inference_mode()
    def unembedding_vectors(
        self, names: Sequence[str], *, answer_prefix: str = " "
    ) -> Float64[np.ndarray, "names dim"]:
        """The mean of the head's rows over the tokens of each name as it stands after `answer_prefix`.

        Tokens that are only white space are left out.

        Raises:
            ProbingError: as `tokenise`; or nothing but white space is left of a name.
        """
        rows = self.parts.unembedding()
        texts = self.tokenise([answer_prefix + name for name in names], special_tokens=False)
        means = [rows[_solid_tokens(tokens)].double().mean(dim=0) for tokens in texts]
        return torch.stack(means).cpu().numpy() if means else np.empty((0, rows.shape[1]))


def _solid_tokens(tokens: TokenisedText) -> list[int]:
    solid = [
        token
        for token, (start, end) in zip(tokens.ids, tokens.offsets, strict=True)
        if tokens.text[start:end].strip()
    ]
    if not solid:
        raise ProbingError(f"expected a name with a token that is not white space, got {tokens.text!r}")
    return solid
