"""What a normalisation can give in a number format, whatever the order in which a kernel adds up.

A kernel sums in float32 or wider, in an order of its own, and rounds its result to the format. So two vectors
with the same entries at other places may have statistics that differ in the last bits, and an entry near the
middle of two numbers of the format may be rounded either way. Here every number is a *range* that holds all of
these outcomes (docs/theory.md §4).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64

if TYPE_CHECKING:
    import torch

UNIT = 2.0**-24
"""Largest relative error of one rounding to float32."""


Numbers = Float64[np.ndarray, "..."] | np.float64


class Range(NamedTuple):
    """The least and the greatest that each of some numbers can be."""

    low: Numbers
    high: Numbers

    @classmethod
    def exactly(cls, values: Numbers) -> "Range":
        """Numbers without doubt."""
        return cls(values, values)

    def times(self, other: "Range") -> "Range":
        """The products of any two."""
        ends = np.stack([mine * its for mine in self for its in other])
        return Range(ends.min(axis=0), ends.max(axis=0))

    def plus(self, other: "Range") -> "Range":
        """The sums of any two."""
        return Range(self.low + other.low, self.high + other.high)

    def squared(self) -> "Range":
        """The squares, of which the least is 0 where a range goes through 0."""
        ends = np.abs(np.stack(self))
        least = np.where(self.low * self.high < 0, 0, ends.min(axis=0))
        return Range(least**2, ends.max(axis=0) ** 2)

    def within(self, relative: float) -> "Range":
        """The same with a relative error of at most so much."""
        return self.times(Range(np.float64(1 - relative), np.float64(1 + relative)))


@dataclass(frozen=True, kw_only=True)
class State:
    """The entries of a residual state as a multiset: values with their counts, and zeros up to `dim`."""

    values: Range
    counts: Float64[np.ndarray, " values"]
    dim: int

    def joined(self, values: Range, counts: Float64[np.ndarray, " values"]) -> "State":
        """The state with some of its zeros replaced."""
        both = Range(*(np.concatenate(ends) for ends in zip(self.values, values, strict=True)))
        return State(values=both, counts=np.concatenate([self.counts, counts]), dim=self.dim)

    @property
    def mean(self) -> Range:
        """The mean of the entries, exactly computed."""
        return Range(*(np.float64(self.counts @ end / self.dim) for end in self.values))

    @property
    def mean_square(self) -> Range:
        """The mean of the squared entries, exactly computed."""
        return Range(*(np.float64(self.counts @ end / self.dim) for end in self.values.squared()))

    @property
    def largest(self) -> float:
        """The largest entry, in absolute value."""
        return float(max(np.abs(end).max() for end in self.values))


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """One number format on kernels that add up in float32 or wider, in any order, and round once an operation."""

    dtype: "torch.dtype"

    def rounded(self, numbers: Range) -> Range:
        """The numbers of the format that come from rounding."""
        return Range(*(self._round(end) for end in numbers))

    def layer_norm(self, x: Range, state: State, *, gain: float, bias: float, epsilon: float) -> Range:
        """`gain · (x − mean) / √(variance + ε) + bias` of entries x of a state: one rounding."""
        error, largest = _order(state.dim), state.largest
        slack = error * largest
        mean, square, centre = state.mean, state.mean_square, state.mean.squared()
        variance = Range(square.low - centre.high, square.high - centre.low + slack**2)
        scale = Range(*(1 / np.sqrt(np.maximum(end, 0) + epsilon) for end in variance[::-1])).within(error)
        found = Range(x.low - mean.high - slack, x.high - mean.low + slack).times(scale)
        slack = 8 * UNIT * float(gain * scale.high * 2 * largest + abs(bias))
        return self.rounded(Range(found.low * gain + bias - slack, found.high * gain + bias + slack))

    def rms_norm(self, x: Range, state: State, *, gain: float, epsilon: float) -> Range:
        """`gain · (x / √(mean square + ε))` of entries x of a state: a rounding before the gain and one after."""
        scale = Range(*(1 / np.sqrt(end + epsilon) for end in state.mean_square[::-1]))
        found = self.rounded(x.times(scale.within(_order(state.dim))))
        return self.rounded(Range(found.low * gain, found.high * gain).within(UNIT))

    def dot(self, x: Range, weights: Float64[np.ndarray, " values"], *, terms: int) -> Range:
        """`Σ weights · x` of as many terms: one rounding."""
        products = x.times(Range.exactly(weights))
        error = _order(terms) * float(np.abs(np.stack(products)).max(axis=0).sum())
        return self.rounded(Range(products.low.sum() - error, products.high.sum() + error))

    def _round(self, numbers: Numbers) -> Numbers:
        import torch  # noqa: PLC0415 - whoever asks a memory imports this module, and not torch

        return torch.as_tensor(numbers, dtype=torch.float32).to(self.dtype).double().numpy()


def _order(terms: int) -> float:
    """How far float32 sums of `terms` non-negative numbers, and roots of them, can be from exact, relatively."""
    return (terms + 8) * UNIT
