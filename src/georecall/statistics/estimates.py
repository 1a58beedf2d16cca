"""A number found in every member of an ensemble, and what it says of models that were not trained."""

from typing import Annotated, Any

import numpy as np
from jaxtyping import Float64
from pydantic import Field, PlainSerializer
from scipy import stats

from georecall.records import AsLists, Record, derived, plain

CONFIDENCE = 0.95
LEAST_MEMBERS = 3
"""With fewer seeds no interval is given."""

Shaped = Annotated[Float64[np.ndarray, "*shape"], PlainSerializer(plain)]
Ends = tuple[Shaped, Shaped]
"""Both ends of an interval."""


class Estimate(Record):
    """The values of all members, their mean, and its 95 % t interval; NaN where a value is not defined.

    mean ± t_{n−1}(0.975) · s / √n  for n ≥ 3 members, s their standard deviation. As JSON, the values are `members`.
    """

    values: Annotated[Float64[np.ndarray, "members *shape"], AsLists()] = Field(alias="members")

    def __init__(self, values: Float64[np.ndarray, "members *shape"] | None = None, **fields: Any) -> None:
        """From the values alone, or from the fields of JSON."""
        super().__init__(**(fields if values is None else fields | {"members": values}))

    @derived
    def mean(self) -> Shaped:
        """The mean over members."""
        return np.asarray(self.values.mean(axis=0))

    @derived
    def interval(self) -> Ends | None:
        """Both ends of the interval; None below three members."""
        members = len(self.values)
        if members < LEAST_MEMBERS:
            return None
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, members - 1)
        half = np.asarray(quantile * self.values.std(axis=0, ddof=1) / members**0.5)
        return np.asarray(self.mean - half), np.asarray(self.mean + half)

    def at(self, *where: Any) -> "Estimate":
        """One entry of the values, or the mean of several, in every member."""
        values = self.values[(slice(None), *where)]
        return Estimate(values.reshape(len(values), -1).mean(axis=1))
