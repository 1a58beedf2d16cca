"""Recall over all questions: every one is asked, none is sampled."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64, Int64

from georecall.facts.queries import margins
from georecall.models.recall import RecallTransformer
from georecall.training.examples import Examples

SCORES_AT_ONCE = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Recall:
    """What every member of an ensemble recalls: questions that are right, and the least margin over all of them.

    With a chain of thought a question is right if every step is, given the right steps before it: exactly then
    the model, left to itself, walks the right path. A tie and a NaN are wrong.
    """

    questions: int
    right: Int64[np.ndarray, " members"]
    margin: Float64[np.ndarray, " members"]

    @property
    def share(self) -> Float64[np.ndarray, " members"]:
        """Share of the questions that are right; NaN where there are none."""
        return self.right / self.questions if self.questions else np.full(len(self.right), np.nan)


def recall(model: RecallTransformer, examples: Examples) -> Recall:
    """Ask every member every question."""
    rows = max(1, SCORES_AT_ONCE // (model.unembedding.shape[1] * examples.targets.shape[1]))
    right = np.zeros(model.members, dtype=np.int64)
    least = np.full(model.members, np.inf)
    for first in range(0, len(examples), rows):
        part = examples[slice(first, first + rows)]
        for member, found in enumerate(_least_margins(model, part)):
            right[member] += np.count_nonzero(found > 0)
            least[member] = min(least[member], found.min())
    return Recall(questions=len(examples), right=right, margin=least)


@torch.inference_mode()
def _least_margins(model: RecallTransformer, part: Examples) -> list[Float64[np.ndarray, " batch"]]:
    """For each member the least margin of the right attribute over the steps of each question; −∞ for NaN."""
    steps = part.targets.shape[1]
    states = model.states(model.embed(part.tokens), asked=steps).flatten(1, 2)
    gold = part.targets.flatten().cpu().numpy()
    found = []
    for y, unembedding in zip(states, model.unembedding, strict=True):
        by_question = margins((y @ unembedding.T).float().cpu().numpy(), gold)
        found.append(
            np.nan_to_num(by_question, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
            .reshape(-1, steps)
            .min(axis=1)
            .astype(np.float64)
        )
    return found
