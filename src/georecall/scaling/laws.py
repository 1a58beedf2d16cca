"""Scaling laws: how the least dimension grows with subjects and relations, fitted and compared."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.optimize import leastsq

from georecall.records import Record
from georecall.statistics.intervals import Interval, percentiles
from georecall.statistics.random_streams import stream
from georecall.sweeps import Measured
from georecall.theory.bounds import one_hop_bits
from georecall.training.capacity import CapacityCell, CapacityResult

LM_BITS = 2.0
"""Bits a parameter that language models were found to store (Allen-Zhu and Li, 2024)."""
RESAMPLES, COMPARISONS = 300, 100
"""Worlds drawn anew for an interval, and for the comparison of laws, which takes a fit for every N left out."""
LEAST_PREDICTED = 1e-3
"""Below this a law's prediction counts as this: an affine law may become negative far from its points."""


@dataclass(frozen=True, kw_only=True)
class CapacityPoint:
    """The least dimension for one world: for each seed, None where the largest tried did not suffice.

    `parameters` are those of a model of the threshold's dimension, trained and frozen.
    """

    n_subjects: int
    n_relations: int
    freeze: str
    least: tuple[int | None, ...]
    threshold: int | None
    trained: int | None
    frozen: int | None

    @classmethod
    def of(cls, measured: Measured[CapacityCell, CapacityResult]) -> "CapacityPoint":
        """The point of a capacity cell."""
        cell, result, parameters = measured.cell, measured.result, measured.result.parameters
        return cls(
            n_subjects=cell.n_subjects,
            n_relations=cell.n_relations,
            freeze=cell.freeze,
            least=result.least,
            threshold=result.threshold,
            trained=None if parameters is None else parameters.trained,
            frozen=None if parameters is None else parameters.frozen,
        )

    @property
    def known(self) -> tuple[int, ...]:
        """Thresholds of the seeds that have one."""
        return tuple(value for value in self.least if value is not None)

    @property
    def censored(self) -> bool:
        """Whether some seed has no threshold."""
        return None in self.least

    @property
    def bits_per_trained(self) -> float | None:
        """Bits of all facts, R·log2 N!, for each trained parameter at the threshold; None if it is not known."""
        return (
            None if self.trained is None else one_hop_bits(self.n_subjects, self.n_relations) / self.trained
        )

    @property
    def bits_per_parameter(self) -> float | None:
        """The same for each parameter, trained or frozen."""
        if self.trained is None or self.frozen is None:
            return None
        return one_hop_bits(self.n_subjects, self.n_relations) / (self.trained + self.frozen)


@dataclass(frozen=True, kw_only=True)
class Law:
    """A form d = f(N, R; coefficients); α is an exponent of N, β of R."""

    name: str
    coefficients: tuple[str, ...]
    start: tuple[float, ...]
    predict: Callable[[Sequence[float] | np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    def log_prediction(self, k: Sequence[float] | np.ndarray, n: np.ndarray, r: np.ndarray) -> np.ndarray:
        """The logarithm of the prediction."""
        return np.log(np.maximum(self.predict(k, n, r), LEAST_PREDICTED))


LAWS: tuple[Law, ...] = (
    Law(
        name="c·R·log2 N",
        coefficients=("c",),
        start=(0.3,),
        predict=lambda k, n, r: k[0] * r * np.log2(n),
    ),
    Law(
        name="a + c·R·log2 N",
        coefficients=("a", "c"),
        start=(1.0, 0.3),
        predict=lambda k, n, r: k[0] + k[1] * r * np.log2(n),
    ),
    Law(
        name="c·R·N^α",
        coefficients=("c", "α"),
        start=(0.5, 0.2),
        predict=lambda k, n, r: k[0] * r * n ** k[1],
    ),
    Law(
        name="c·R^β·N^α",
        coefficients=("c", "β", "α"),
        start=(0.5, 1.0, 0.2),
        predict=lambda k, n, r: k[0] * r ** k[1] * n ** k[2],
    ),
    Law(
        name="a + c·R·N",
        coefficients=("a", "c"),
        start=(3.0, 0.01),
        predict=lambda k, n, r: k[0] + k[1] * r * n,
    ),
)


class Fit(Record):
    """A law fitted to capacity points by least squares of log d.

    `error` is the root mean square of log(d / predicted) on the points fitted; `held_out_error` the same on points
    of an N that was left out of the fit, each N in turn (None with fewer than three). `intervals` hold 95 % of the
    fits to worlds whose seeds are drawn anew (None with one seed).
    """

    law: str
    coefficients: dict[str, float]
    intervals: dict[str, tuple[float, float]] | None
    error: float
    held_out_error: float | None
    points: int


def fit_laws(points: Sequence[CapacityPoint], *, seed: int = 0) -> tuple[Fit, ...]:
    """Every law that the points determine, the best held-out error first, then the best error.

    A law needs more points than it has coefficients, and different N or R for an exponent of N or R. Points
    without a threshold for every seed are left out: their d is only known to be larger.
    """
    grid = _Grid.of(points)
    fits = [_fit(law, grid, seed) for law in LAWS if grid.determines(law)]
    return tuple(sorted(fits, key=lambda fit: (_or_infinite(fit.held_out_error), fit.error)))


def logarithmic_share(points: Sequence[CapacityPoint], *, seed: int = 0) -> float | None:
    """Share of the worlds drawn anew in which a law in log N predicts an N left out best, not a power of N.

    None where some law's error on an N left out is not known, as with fewer than three N.
    """
    grid = _Grid.of(points)
    if any(grid.held_out_error(law, grid.d) is None for law in LAWS):
        return None
    wins = []
    for d in grid.redrawn(stream(seed, "comparison of laws"), COMPARISONS):
        best = min(LAWS, key=lambda law: _or_infinite(grid.held_out_error(law, d)))
        wins.append("log2" in best.name)
    return float(np.mean(wins))


def threshold_ratio(above: CapacityPoint, below: CapacityPoint, *, seed: int = 0) -> Interval | None:
    """Ratio of two mean thresholds, and its 95 % interval over seeds drawn anew; None if one is censored."""
    if above.censored or below.censored:
        return None
    rng = stream(seed, "ratio of thresholds")
    drawn = [np.concatenate(list(_Grid.of([point]).redrawn(rng, RESAMPLES))) for point in (above, below)]
    low, high = percentiles(drawn[0] / drawn[1])
    ratio = np.mean(above.known) / np.mean(below.known)
    return Interval(value=float(ratio), low=float(low), high=float(high))


@dataclass(frozen=True)
class _Grid:
    """Capacity points as arrays: N, R, and the mean threshold over seeds."""

    points: tuple[CapacityPoint, ...]
    n: Float64[np.ndarray, " points"]
    r: Float64[np.ndarray, " points"]
    d: Float64[np.ndarray, " points"]

    @classmethod
    def of(cls, points: Sequence[CapacityPoint]) -> "_Grid":
        """The points that have a threshold for every seed."""
        whole = tuple(point for point in points if not point.censored)
        return cls(
            points=whole,
            n=np.array([point.n_subjects for point in whole], dtype=float),
            r=np.array([point.n_relations for point in whole], dtype=float),
            d=np.array([np.mean(point.known) for point in whole]),
        )

    def redrawn(self, rng: np.random.Generator, times: int) -> Iterator[Float64[np.ndarray, " points"]]:
        """Mean thresholds of seeds drawn anew with replacement.

        A threshold d says that the turn lies between d − 1 and d; where, is drawn as well.
        """
        for _ in range(times):
            drawn = [rng.choice(point.known, len(point.known)) for point in self.points]
            yield np.array([np.mean(values - rng.random(len(values))) + 0.5 for values in drawn])

    def determines(self, law: Law) -> bool:
        """Whether there are more points than coefficients, and different N or R for every exponent."""
        varied = [size for name, size in (("α", self.n), ("β", self.r)) if name in law.coefficients]
        return len(law.coefficients) < len(self.points) and all(len(np.unique(size)) > 1 for size in varied)

    def coefficients(
        self, law: Law, d: Float64[np.ndarray, " points"], rows: np.ndarray | slice = slice(None)
    ) -> Float64[np.ndarray, " coefficients"]:
        """The law fitted to some of the points, by `leastsq`, which takes a sixth of the time of `least_squares`."""
        n, r, log_d = self.n[rows], self.r[rows], np.log(d[rows])
        return np.asarray(leastsq(lambda k: log_d - law.log_prediction(k, n, r), law.start)[0])

    def log_ratio(
        self,
        law: Law,
        k: Float64[np.ndarray, " coefficients"],
        d: Float64[np.ndarray, " points"],
        rows: np.ndarray | slice = slice(None),
    ) -> Float64[np.ndarray, " some"]:
        """log(d / predicted) at some of the points."""
        return np.log(d[rows]) - law.log_prediction(k, self.n[rows], self.r[rows])

    def held_out_error(self, law: Law, d: Float64[np.ndarray, " points"]) -> float | None:
        """Root mean square of log(d / predicted) for each N when the law is fitted to the others; None with too few."""
        sizes = np.unique(self.n)
        fewest = min((int(np.count_nonzero(self.n != size)) for size in sizes), default=0)
        if len(sizes) < 3 or fewest < len(law.coefficients):
            return None
        errors = []
        for size in sizes:
            out = self.n == size
            errors.append(self.log_ratio(law, self.coefficients(law, d, ~out), d, out))
        return _rms(np.concatenate(errors))


def _fit(law: Law, grid: _Grid, seed: int) -> Fit:
    found = grid.coefficients(law, grid.d)
    return Fit(
        law=law.name,
        coefficients=dict(zip(law.coefficients, found.tolist(), strict=True)),
        intervals=_intervals(law, grid, seed),
        error=_rms(grid.log_ratio(law, found, grid.d)),
        held_out_error=grid.held_out_error(law, grid.d),
        points=len(grid.points),
    )


def _intervals(law: Law, grid: _Grid, seed: int) -> dict[str, tuple[float, float]] | None:
    if min(len(point.known) for point in grid.points) < 2:
        return None
    redrawn = grid.redrawn(stream(seed, "coefficients of laws"), RESAMPLES)
    low, high = percentiles(np.array([grid.coefficients(law, d) for d in redrawn]))
    return {name: (float(a), float(b)) for name, a, b in zip(law.coefficients, low, high, strict=True)}


def _or_infinite(error: float | None) -> float:
    return math.inf if error is None else error


def _rms(values: Float64[np.ndarray, " some"]) -> float:
    return float(math.sqrt(np.mean(values**2)))
