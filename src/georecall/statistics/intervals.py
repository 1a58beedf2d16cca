"""Intervals over subjects: Wilson's of rates, and the percentile bootstrap of means, ratios and differences.

`scipy.stats.bootstrap` would draw anew for every statistic; here all of one seed share their draws.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.stats import binomtest

from georecall.records import Number, Record
from georecall.statistics.estimates import CONFIDENCE
from georecall.statistics.random_streams import stream
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


def wilson_interval(
    hits: Int64[np.ndarray, "*shape"], trials: int
) -> tuple[Float64[np.ndarray, "*shape"], Float64[np.ndarray, "*shape"]]:
    """Both ends of the 95 % Wilson interval of rates `hits / trials`."""
    intervals = [binomtest(count, trials).proportion_ci(CONFIDENCE, "wilson") for count in hits.ravel()]
    low, high = np.array(intervals, dtype=np.float64).reshape(*hits.shape, 2).T
    return low.T, high.T


def percentiles(
    drawn: Float64[np.ndarray, "draws *shape"],
) -> tuple[Float64[np.ndarray, "*shape"], Float64[np.ndarray, "*shape"]]:
    """Both ends of the middle 95 % of what was drawn."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


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
    low, high = percentiles((times @ above) / (times @ below))
    return Interval(value=float(above.sum() / total), low=float(low), high=float(high))


@lru_cache(maxsize=4)
def _resamples(subjects: int, seed: int) -> Float64[np.ndarray, "resamples subjects"]:
    """How often each subject is in each resample, drawn with replacement; read-only, as it is shared."""
    even = np.full(subjects, 1 / subjects)
    times = stream(seed, "resamples").multinomial(subjects, even, size=RESAMPLES).astype(np.float64)
    times.setflags(write=False)
    return times
