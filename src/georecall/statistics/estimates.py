"""A number found in every member of an ensemble, and what it says of models that were not trained."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from scipy import stats

CONFIDENCE = 0.95
LEAST_MEMBERS = 3
"""With fewer seeds no interval is given."""


@dataclass(frozen=True)
class Estimate:
    """The values of all members, their mean, and its 95 % t interval; NaN where a value is not defined.

    mean ± t_{n−1}(0.975) · s / √n  for n ≥ 3 members, s their standard deviation.
    """

    values: Float64[np.ndarray, "members *shape"]

    @property
    def mean(self) -> Float64[np.ndarray, "*shape"]:
        """The mean over members."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def interval(self) -> tuple[Float64[np.ndarray, "*shape"], Float64[np.ndarray, "*shape"]] | None:
        """Both ends of the interval; None below three members."""
        members = len(self.values)
        if members < LEAST_MEMBERS:
            return None
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, members - 1)
        half = np.asarray(quantile * self.values.std(axis=0, ddof=1) / members**0.5)
        return np.asarray(self.mean - half), np.asarray(self.mean + half)

    def to_dict(self) -> dict[str, Any]:
        """Values by member, mean and interval, as nested lists with None for NaN."""
        interval = self.interval
        return {
            "members": plain(self.values),
            "mean": plain(self.mean),
            "interval": None if interval is None else [plain(end) for end in interval],
        }


def plain(values: np.ndarray) -> Any:
    """Nested lists of Python numbers, with None for NaN, which JSON does not have."""
    numbers = np.array(values, dtype=object)
    numbers[np.isnan(values)] = None
    return numbers.tolist()


def wilson_interval(
    hits: Int64[np.ndarray, "*shape"], trials: int
) -> tuple[Float64[np.ndarray, "*shape"], Float64[np.ndarray, "*shape"]]:
    """Both ends of the 95 % Wilson interval of rates `hits / trials`.

    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    """
    z, rate = stats.norm.ppf((1 + CONFIDENCE) / 2), hits / trials
    middle = np.asarray(rate + z**2 / (2 * trials))
    half = z * np.sqrt(rate * (1 - rate) / trials + (z / (2 * trials)) ** 2)
    scale = 1 + z**2 / trials
    return np.maximum(middle - half, 0) / scale, np.minimum((middle + half) / scale, 1)


def members_of(estimate: dict[str, Any]) -> Float64[np.ndarray, "members *shape"]:
    """The values by member of an `Estimate.to_dict()`; NaN where there is none."""
    return np.array(estimate["members"], dtype=np.float64)
