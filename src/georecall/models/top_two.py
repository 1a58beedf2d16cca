"""The two best scores of many questions at once, by torch."""

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor
from torch.nn.functional import pad

SCORES_AT_ONCE = 1 << 20
"""Scores worked on at a time: 4 MB, which stay in the cache between being made and being compared."""

GROUP = 64
"""Outputs that are compared with one another first, in `top_two`."""


class Head:
    """An unembedding [vocabulary, scored], and the best of the scores that it gives states."""

    def __init__(self, unembedding: Float32[np.ndarray, "vocabulary scored"]) -> None:
        self._size = len(unembedding)
        transposed = torch.from_numpy(unembedding).T
        self._padded = pad(transposed, (0, -self._size % GROUP)).contiguous()

    @torch.inference_mode()
    def __call__(
        self, states: Float32[np.ndarray, "batch scored"]
    ) -> tuple[Int64[np.ndarray, " batch"], Float32[np.ndarray, " batch"]]:
        """The token with the best score, and its lead over the second best."""
        rows = max(1, min(len(states), SCORES_AT_ONCE // self._size))
        scores = self._padded.new_empty(rows, self._padded.shape[1])
        parts = torch.from_numpy(states).split(rows)
        best, leads = zip(*(self._best(part, scores[: len(part)]) for part in parts), strict=True)
        return torch.cat(best).numpy(), torch.cat(leads).numpy()

    def _best(
        self, states: Float[Tensor, "batch scored"], scores: Float[Tensor, "batch padded"]
    ) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
        """The best tokens and their leads for a few states, whose scores are written to `scores`."""
        torch.mm(states, self._padded, out=scores)
        scores[:, self._size :] = -torch.inf
        return top_two(scores)


def top_two(scores: Float[Tensor, "batch padded"]) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
    """Where the largest score of each row is, and by how much it leads; the lead is NaN if any score is.

    Rows are a multiple of `GROUP` long. The best of each group are compared, then the members of the best
    group: several times quicker than sorting whole rows.
    """
    groups = scores.unflatten(1, (-1, GROUP))
    heads = groups.amax(dim=2)
    best_group = heads.argmax(dim=1)
    rows = torch.arange(len(scores), device=scores.device)
    members = groups[rows, best_group].topk(2)
    heads[rows, best_group] = -torch.inf
    second = torch.maximum(members.values[:, 1], heads.amax(dim=1))
    return best_group * GROUP + members.indices[:, 0], members.values[:, 0] - second
