"""One decode step of a stock model, for many questions at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import pad

SCORES_AT_ONCE = 1 << 20
"""Scores worked on at a time: 4 MB, which stay in the cache between being made and being compared."""

GROUP = 64
"""Outputs that are compared with one another first, in `top_two`."""


@dataclass(frozen=True, kw_only=True)
class DecodeStep:
    """The stock model's own weights, without what `generate` repeats.

    Attention puts its whole weight on the one place that holds the relation (the certificate checks it), so
    what it brings, `carried`, depends on the relation alone and is worked out once. A step is then

        y = finish(E[token] + position + carried[relation]),   scores = U y

    where `finish` is the rest of the layer, and both y and U are kept to the coordinates `scored`, outside of
    which U is zero.
    """

    embedding: Float[Tensor, "vocabulary dim"]
    positions: Float[Tensor, "steps dim"]
    carried: Float[Tensor, "controls dim"]
    finish: Callable[[Float[Tensor, "batch dim"]], Float[Tensor, "batch scored"]]
    unembedding: Float[Tensor, "vocabulary dim"]
    scored: slice

    @cached_property
    def _head(self) -> Float[Tensor, "scored padded"]:
        """The unembedding, transposed, with columns of zeros up to a multiple of `GROUP`."""
        head = self.unembedding[:, self.scored].float().T
        return pad(head, (0, -head.shape[1] % GROUP)).contiguous()

    @torch.inference_mode()
    def __call__(
        self, tokens: Int64[Tensor, "batch"], relations: Int64[Tensor, "batch"], step: int
    ) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
        """The token with the best score, and its lead over the second best."""
        states = self.finish(self.embedding[tokens].float() + self.positions[step] + self.carried[relations])
        rows = max(1, min(len(tokens), SCORES_AT_ONCE // len(self.embedding)))
        scores = self._head.new_empty(rows, self._head.shape[1])
        best, leads = zip(
            *(self._best(part, scores[: len(part)]) for part in states.split(rows)), strict=True
        )
        return torch.cat(best), torch.cat(leads)

    def _best(
        self, states: Float[Tensor, "batch scored"], scores: Float[Tensor, "batch padded"]
    ) -> tuple[Int64[Tensor, "batch"], Float[Tensor, "batch"]]:
        """The best tokens and their leads for a few states, whose scores are written to `scores`."""
        torch.mm(states, self._head, out=scores)
        scores[:, len(self.embedding) :] = -torch.inf
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
