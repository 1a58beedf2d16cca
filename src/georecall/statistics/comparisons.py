"""A score against that of a control, subject by subject."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from georecall.statistics.intervals import Interval, mean_interval


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A control's mean score, and how much more the probe scores, subject by subject; `name` is in words."""

    control: str
    name: str
    score: float
    difference: Interval

    @property
    def beaten(self) -> bool:
        """Whether the probe scores more, with 95 % confidence."""
        return self.difference.low > 0

    def to_dict(self) -> dict[str, Any]:
        """All fields, and whether the control is beaten."""
        return {
            "control": self.control,
            "name": self.name,
            "score": self.score,
            "difference": self.difference.to_dict(),
            "beaten": self.beaten,
        }


def compare(
    scores: Float64[np.ndarray, " subjects"],
    controls: Float64[np.ndarray, " subjects"],
    *,
    control: str,
    name: str,
    seed: int,
) -> Comparison:
    """Both means, and the mean of the difference over subjects drawn anew."""
    return Comparison(
        control=control,
        name=name,
        score=float(controls.mean()),
        difference=mean_interval(scores - controls, seed=seed),
    )
