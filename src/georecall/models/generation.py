"""Questions by index through `generate` of a stock model."""

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from jaxtyping import Bool, Int64
from torch import Tensor
from transformers import PreTrainedModel

from georecall.constructions.chain import Chain
from georecall.facts.queries import Queries
from georecall.models.tokenizer import prompt_ids
from georecall.progress import Progress, no_progress

PROMPTS_AT_ONCE = 256


def generate_paths(
    chain: Chain, model: PreTrainedModel, queries: Queries, *, progress: Progress = no_progress
) -> tuple[Int64[np.ndarray, "batch hops"], Bool[np.ndarray, "batch"]]:
    """The entities that the model generates hop by hop (−1: unknown), and whether it stops right after them.

    A model that stops earlier, or emits a relation, does not.
    """
    total, length = queries.relations.shape
    prompts = torch.from_numpy(
        prompt_ids(chain.vocabulary, queries.subjects, queries.relations, hops=chain.hops)
    )
    generate = cast(Callable[..., Tensor], model.generate)
    emitted = torch.full((total, length + 1), -1)
    for start in range(0, total, PROMPTS_AT_ONCE):
        part = prompts[start : start + PROMPTS_AT_ONCE]
        answer = generate(part, attention_mask=torch.ones_like(part))[:, part.shape[1] :]
        emitted[start : start + len(part), : answer.shape[1]] = answer[:, : length + 1]
        progress(f"generating {length} hops", start + len(part), total)
    tokens, vocabulary = emitted.numpy(), chain.vocabulary
    named = (tokens == vocabulary.unknown) | (tokens >= vocabulary.entities.start)
    stops = named[:, :length].all(axis=1) & (tokens[:, length] == vocabulary.end)
    return vocabulary.entities_of(tokens[:, :length]), stops
