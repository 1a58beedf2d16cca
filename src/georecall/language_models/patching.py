"""What a model answers when a state of the subject is changed on the way."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from georecall.errors import ProbingError
from georecall.language_models.answers import score_answers
from georecall.language_models.batches import Batch
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import AnsweredPrompt
from georecall.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True)
class Patch:
    """What is added, for each prompt, to state `layer` at the subject's last token."""

    layer: int
    deltas: Float[np.ndarray, "prompts dim"]


@contextmanager
def added_to_state(
    lm: LanguageModel,
    layer: int,
    positions: Int64[Tensor, " batch"],
    deltas: Float[Tensor, "batch dim"],
) -> Iterator[None]:
    """While the block runs, state `layer` of row i has deltas[i] added at the token in column positions[i].

    Raises:
        ProbingError: the model has no such state.
    """
    if not 0 <= layer <= lm.n_layers:
        raise ProbingError(f"expected a state from 0 to {lm.n_layers} of {lm.name}, got {layer}")
    rows = torch.arange(len(positions), device=lm.device)

    def add(state: Float[Tensor, "batch time dim"]) -> Float[Tensor, "batch time dim"]:
        return state.index_put((rows, positions.to(lm.device)), deltas.to(state), accumulate=True)

    with lm.parts.visiting(layer, add):
        yield


def answer_log_probabilities(
    lm: LanguageModel,
    prompts: Sequence[AnsweredPrompt],
    *,
    patch: Patch | None = None,
    batch: int = 32,
    progress: Progress = no_progress,
) -> Float64[np.ndarray, " prompts"]:
    """The log-probability of each prompt's answer, as `score_answers` has it, under a patch if one is given.

    Raises:
        ProbingError: the patch is for another number of prompts, or as `added_to_state` and `score_answers`.
    """
    if patch is None:
        return score_answers(lm, prompts, batch=batch, progress=progress).log_probabilities
    if len(patch.deltas) != len(prompts):
        raise ProbingError(f"expected a delta for each of {len(prompts)} prompts, got {len(patch.deltas)}")
    layer, deltas = patch.layer, torch.from_numpy(patch.deltas)

    @contextmanager
    def patched(part: Batch, subjects: Int64[Tensor, " batch"]) -> Iterator[None]:
        with added_to_state(lm, layer, subjects, deltas[torch.from_numpy(part.items)]):
            yield

    return score_answers(lm, prompts, batch=batch, around=patched, progress=progress).log_probabilities
