"""Cross-entropy of a whole ensemble, a cache-full of scores at a time."""

from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import once_differentiable

SCORES_AT_ONCE = {"cpu": 1 << 17}
"""Scores held at a time, by type of device: half a megabyte lies in a core's cache."""
MOST_SCORES = 1 << 26
LEAST_CHANCE = 1e-30
"""Below this probability a logarithm would lose digits, so the loss is worked out from the scores."""


def cross_entropy(
    states: Float[Tensor, "members batch out"],
    unembedding: Float[Tensor, "members outputs out"],
    targets: Int64[Tensor, " batch"],
    *,
    label_smoothing: float = 0.0,
) -> Float[Tensor, " members"]:
    """Mean over the batch of `−Σ_a q_a log softmax(U y)_a`, for each member.

    q is `1 − ε` on the target plus `ε/A` on each of the A outputs, ε the label smoothing. The scores `U y` are
    never held as a whole: gradients are taken piece by piece while a piece is in the cache, so only first
    derivatives exist.
    """
    losses: Float[Tensor, " members"] = _CrossEntropy.apply(states, unembedding, targets, label_smoothing)  # type: ignore[no-untyped-call]
    return losses


class _CrossEntropy(torch.autograd.Function):
    """The loss and, made in the same pass, its gradients by states and by unembedding."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, unembedding: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """Loss of every member."""
        members, batch, _ = states.shape
        outputs = unembedding.shape[1]
        held = SCORES_AT_ONCE.get(states.device.type, MOST_SCORES)
        rows = max(1, min(batch, held // outputs))
        group = max(1, held // (batch * outputs))
        by_states, by_unembedding = torch.empty_like(states), torch.zeros_like(unembedding)
        losses = states.new_zeros(members)
        for first in range(0, members, group):
            some = slice(first, first + group)
            for row in range(0, batch, rows):
                part = slice(row, row + rows)
                y, table = states[some, part], unembedding[some]
                scores = torch.bmm(y, table.mT)
                loss, slope = _piece(scores, targets[part], smoothing)
                losses[some] += loss
                torch.bmm(slope, table, out=by_states[some, part])
                by_unembedding[some].baddbmm_(slope.mT, y)
        ctx.save_for_backward(by_states, by_unembedding)
        ctx.batch = batch
        return losses / batch

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        """The gradients, times what comes from above."""
        by_states, by_unembedding = ctx.saved_tensors
        factor = (gradients[0] / ctx.batch)[:, None, None]
        return by_states * factor, by_unembedding * factor, None, None


def _piece(scores: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Summed loss of some rows, and its gradient by their scores."""
    index = targets.expand(scores.shape[0], -1)[..., None]
    slope = torch.softmax(scores, -1)
    chance = slope.gather(-1, index)
    loss = -chance.log()
    low = chance < LEAST_CHANCE
    if low.any():
        loss = torch.where(low, torch.logsumexp(scores, -1, keepdim=True) - scores.gather(-1, index), loss)
    if smoothing:
        loss = loss + smoothing * (scores.gather(-1, index) - scores.mean(-1, keepdim=True))
    slope.scatter_(-1, index, chance + (smoothing - 1))
    return loss.sum((1, 2)), slope.sub_(smoothing / scores.shape[-1]) if smoothing else slope
