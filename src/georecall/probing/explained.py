"""How much of every layer's held-out states some regressors explain."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from georecall.records import Record
from georecall.statistics.intervals import Interval, ratio_interval
from georecall.statistics.leave_one_out import LeaveOneOut, LeftOutFit, predict


class Explained(Record):
    """Held-out R², or a difference of two, with 95 % intervals: of every layer, and of the layers chosen by fold.

    1 − Σ_s ‖x_s − x̂_s‖² / Σ_s ‖x_s − x̄‖², with x̂ the fit and x̄ the mean of the training part: coordinates are
    weighted by their variance.
    """

    by_layer: tuple[Interval, ...]
    chosen: Interval


@dataclass(frozen=True, kw_only=True)
class Misses:
    """By how much the held-out states are missed.

    missed   : ‖x_s − x̂_s‖²
    spread   : ‖x_s − x̄‖²
    left_out : R² inside the training part, each of its subjects left out of the fit in turn
    folds    : for each row, the fold in which it is held out
    """

    missed: Float64[np.ndarray, "states rows"]
    spread: Float64[np.ndarray, "states rows"]
    left_out: Float64[np.ndarray, "states folds"]
    folds: Int64[np.ndarray, " rows"]

    @property
    def chosen(self) -> Int64[np.ndarray, " folds"]:
        """For each fold the layer that is explained best when subjects are left out; never layer 0."""
        return np.asarray(1 + self.left_out[1:].argmax(axis=0))

    def explained(
        self, gained: Float64[np.ndarray, "states rows"], layers: Int64[np.ndarray, " folds"], *, seed: int
    ) -> Explained:
        """Σ gained / Σ spread of every layer, and of the layers chosen."""
        places = layers[self.folds], np.arange(len(self.folds))
        return Explained(
            by_layer=tuple(
                ratio_interval(above, below, seed=seed)
                for above, below in zip(gained, self.spread, strict=True)
            ),
            chosen=ratio_interval(gained[places], self.spread[places], seed=seed),
        )

    def r2(self, layers: Int64[np.ndarray, " folds"], *, seed: int) -> Explained:
        """R² of every layer, and of the layers chosen."""
        return self.explained(self.spread - self.missed, layers, seed=seed)


def held_out_misses(
    x: Float64[np.ndarray, "rows regressors"],
    states: Float64[np.ndarray, "states rows dim"],
    folds: Int64[np.ndarray, " rows"],
) -> Misses:
    """Fit every state to the regressors in the training part of each fold, and judge it on the rest."""
    missed, spread = np.empty((2, *states.shape[:2]))
    left_out = np.empty((len(states), int(folds.max()) + 1))
    for fold, regressors, fits in training_fits(x, states, folds):
        held_out = folds == fold
        projected = regressors.project(x[held_out])
        for state, fit in enumerate(fits):
            values = states[state]
            missed[state, held_out] = _squares(values[held_out] - predict(fit, projected))
            spread[state, held_out] = _squares(values[held_out] - fit.mean)
            total = _squares(values[~held_out] - fit.mean).sum()
            left_out[state, fold] = 1 - fit.error / total if total > 0 else 0.0
    return Misses(missed=missed, spread=spread, left_out=left_out, folds=folds)


def training_fits(
    x: Float64[np.ndarray, "rows regressors"],
    states: Float64[np.ndarray, "states rows dim"],
    folds: Int64[np.ndarray, " rows"],
) -> Iterator[tuple[int, LeaveOneOut, list[LeftOutFit]]]:
    """For each fold the fits of all states to the training part, which share a decomposition."""
    for fold in range(int(folds.max()) + 1):
        regressors = LeaveOneOut(x[folds != fold])
        yield fold, regressors, [regressors.fit(state[folds != fold]) for state in states]


def _squares(values: Float64[np.ndarray, "rows dim"]) -> Float64[np.ndarray, " rows"]:
    return np.asarray((values**2).sum(axis=1))
