"""Intervals over subjects: Wilson's of rates, and the percentile bootstrap of means, ratios and differences."""

from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float64

from georecall.records import Number, Record
from georecall.statistics.draws import draws
from georecall.statistics.estimates import CONFIDENCE, wilson_interval
from georecall.statistics.wording import within

RESAMPLES = 2000


class Interval(Record):
    """A number and both ends of its 95 % interval; NaN where it is not defined."""

    value: Number
    low: Number
    high: Number

    def __str__(self) -> str:
        """The number and its interval, to two decimals."""
        return within(self.value, (self.low, self.high))


def rate_interval(hits: Bool[np.ndarray, " subjects"]) -> Interval:
    """The rate of hits with Wilson's interval."""
    (low,), (high,) = wilson_interval(hits.sum(keepdims=True), len(hits))
    return Interval(value=float(hits.mean()), low=float(low), high=float(high))


def mean_interval(scores: Float64[np.ndarray, " subjects"], *, seed: int) -> Interval:
    """The mean over subjects. Of the differences of two scores, it is a paired comparison."""
    return ratio_interval(scores, np.ones(len(scores)), seed=seed)


def ratio_interval(
    above: Float64[np.ndarray, " subjects"], below: Float64[np.ndarray, " subjects"], *, seed: int
) -> Interval:
    """Σ above / Σ below over subjects, who are drawn together; NaN where Σ below is 0."""
    total = below.sum()
    if total == 0:
        return Interval(value=np.nan, low=np.nan, high=np.nan)
    times = _resamples(len(above), seed)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile((times @ above) / (times @ below), [tail, 1 - tail])
    return Interval(value=float(above.sum() / total), low=float(low), high=float(high))


@lru_cache(maxsize=4)
def _resamples(subjects: int, seed: int) -> Float64[np.ndarray, "resamples subjects"]:
    """How often each subject is in each resample, drawn with replacement; read-only, as it is shared."""
    even = np.full(subjects, 1 / subjects)
    times = draws(seed, "resamples").multinomial(subjects, even, size=RESAMPLES).astype(np.float64)
    times.setflags(write=False)
    return times
