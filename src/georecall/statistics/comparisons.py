"""A score against that of a control, subject by subject."""

import numpy as np
from jaxtyping import Float64

from georecall.records import Number, Record, derived
from georecall.statistics.intervals import Interval, mean_interval


class Comparison(Record):
    """A control's mean score, and how much more the probe scores, subject by subject; `name` is in words."""

    control: str
    name: str
    score: Number
    difference: Interval

    @derived
    def beaten(self) -> bool:
        """Whether the probe scores more, with 95 % confidence."""
        return self.difference.low > 0


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
