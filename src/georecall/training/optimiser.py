"""AdamW over an ensemble whose members may have learning rates of their own."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import torch
from torch import Tensor, nn

from georecall.models.recall import RecallTransformer
from georecall.training.config import Freeze

FROZEN: dict[Freeze, tuple[str, ...]] = {
    "none": (),
    "subjects": ("embedding.0",),
    "inputs": ("embedding.0", "embedding.1", "positions"),
    "inputs+unembedding": ("embedding.0", "embedding.1", "positions", "unembedding"),
}
"""Names of the parameters that stay as they are drawn."""


def freeze(model: RecallTransformer, what: Freeze) -> None:
    """Take parameters out of training: they get no gradient and are in no optimiser."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in FROZEN[what])


SLOW, SLOWLY = ("query", "key"), 0.1
"""Queries and keys learn at a tenth of the rate: at the full rate softmax saturates before they have found a place."""


class EnsembleAdamW:
    """`torch.optim.AdamW` on slices of the trained parameters, along the members one for each learning rate."""

    def __init__(self, model: RecallTransformer, rates: Sequence[float], *, weight_decay: float) -> None:
        named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._trained = list(named.values())
        for parameter in self._trained:
            parameter.grad = torch.zeros_like(parameter)
        slow = [parameter for name, parameter in named.items() if name.endswith(SLOW)]
        quick = [parameter for name, parameter in named.items() if not name.endswith(SLOW)]
        groups, self._rates, first = [], [], 0
        for rate, members in groupby(rates):
            last = first + len(list(members))
            for parameters, factor in ((quick, 1.0), (slow, SLOWLY)):
                groups.append({"params": [_slice(parameter, first, last) for parameter in parameters]})
                self._rates.append(rate * factor)
            first = last
        self._adamw = torch.optim.AdamW(groups, weight_decay=weight_decay, fused=True)

    def step(self, factor: float) -> None:
        """One update with every learning rate times `factor`; the gradients are zero afterwards."""
        for group, rate in zip(self._adamw.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        self._adamw.step()
        for parameter in self._trained:
            if parameter.grad is not None:
                parameter.grad.zero_()

    def state(self) -> dict[str, Tensor]:
        """Moments and step counts, by `number of the slice.name`."""
        slices = self._adamw.state_dict()["state"]
        return {f"{index}.{name}": value for index, held in slices.items() for name, value in held.items()}

    def blank_state(self) -> dict[str, Tensor]:
        """What `state` gives after a step, before any: zeros of the same shapes."""
        parameters = [part for group in self._adamw.param_groups for part in group["params"]]
        return {
            f"{index}.{name}": torch.zeros_like(value)
            for index, part in enumerate(parameters)
            for name, value in {"step": torch.zeros(()), "exp_avg": part, "exp_avg_sq": part}.items()
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Take over what `state` gave."""
        slices: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            index, _, name = key.partition(".")
            slices.setdefault(int(index), {})[name] = value
        groups = self._adamw.state_dict()["param_groups"]
        self._adamw.load_state_dict({"state": slices, "param_groups": groups})


def _slice(parameter: nn.Parameter, first: int, last: int) -> nn.Parameter:
    """Some members of a parameter, in the same memory, with the same gradient."""
    part = nn.Parameter(parameter.data[first:last])
    part.grad = None if parameter.grad is None else parameter.grad[first:last]
    return part
