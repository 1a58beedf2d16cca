"""Prompts of different lengths, run through a model some at a time."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from transformers import PreTrainedModel

Padding = Literal["left", "right"]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some of the prompts, as one tensor: `items` says which, `starts` in which column each of them begins."""

    items: Int64[np.ndarray, " batch"]
    starts: Int64[Tensor, " batch"]
    ids: Int64[Tensor, "batch time"]
    mask: Int64[Tensor, "batch time"]

    @property
    def positions(self) -> Int64[Tensor, "batch time"]:
        """The position of every token in its own prompt."""
        return (self.mask.cumsum(dim=1) - 1).clamp(min=0)

    @property
    def lasts(self) -> Int64[Tensor, " batch"]:
        """The column in which each prompt ends."""
        return self.starts + self.mask.sum(dim=1) - 1


def batches(
    rows: Sequence[Sequence[int]], size: int, *, device: torch.device, padding: Padding = "right"
) -> Iterator[Batch]:
    """All rows of token ids, `size` at a time, the shortest first, so that little is padded."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    for first in range(0, len(order), size):
        items = order[first : first + size]
        time = max(len(rows[item]) for item in items)
        ids, mask = np.zeros((2, len(items), time), dtype=np.int64)
        starts = np.array([time - len(rows[item]) if padding == "left" else 0 for item in items])
        for place, (item, start) in enumerate(zip(items, starts, strict=True)):
            held = slice(start, start + len(rows[item]))
            ids[place, held], mask[place, held] = rows[item], 1
        tensors = {"starts": starts, "ids": ids, "mask": mask}
        yield Batch(
            items=items, **{name: torch.from_numpy(part).to(device) for name, part in tensors.items()}
        )


def run(model: PreTrainedModel, batch: Batch) -> Float[Tensor, "batch time dim"]:
    """What the model without its head makes of a batch: the last state of every token, ready for the head."""
    accepted = inspect.signature(model.base_model.forward).parameters
    positions = {"position_ids": batch.positions} if "position_ids" in accepted else {}
    found = model.base_model(batch.ids, attention_mask=batch.mask, use_cache=False, **positions)
    return found.last_hidden_state
