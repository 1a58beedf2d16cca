"""How much of every layer's held-out states a superposition explains, by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from georecall.records import Record
from georecall.statistics.folds import splits
from georecall.statistics.intervals import Interval, ratio_interval
from georecall.statistics.shares import Residuals
from georecall.statistics.superposition import Regressors


class Explained(Record):
    """Held-out R², or a difference of two, with 95 % intervals: of every layer, and of the layers chosen by fold.

    1 − Σ_s ‖x_s − x̂_s‖² / Σ_s ‖x_s − x̄‖², with x̂ the fit and x̄ the mean of the training part: coordinates are
    weighted by their variance.
    """

    by_layer: tuple[Interval, ...]
    chosen: Interval


@dataclass(frozen=True, kw_only=True)
class HeldOutResiduals:
    """The residuals of every state and row, by the fit of the fold in which the row is held out.

    left_out : R² inside the training part, each of its subjects left out of the fit in turn
    folds    : for each row, the fold in which it is held out
    """

    residuals: Residuals
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
        spread = self.residuals.spread
        places = layers[self.folds], np.arange(len(self.folds))
        return Explained(
            by_layer=tuple(
                ratio_interval(above, below, seed=seed) for above, below in zip(gained, spread, strict=True)
            ),
            chosen=ratio_interval(gained[places], spread[places], seed=seed),
        )

    def r2(self, layers: Int64[np.ndarray, " folds"], *, seed: int) -> Explained:
        """R² of every layer, and of the layers chosen."""
        return self.explained(self.residuals.spread - self.residuals.missed, layers, seed=seed)


def held_out_residuals(
    vectors: Sequence[Float64[np.ndarray, "rows _"]],
    states: Float64[np.ndarray, "states rows dim"],
    folds: Int64[np.ndarray, " rows"],
) -> HeldOutResiduals:
    """Fit the superposition of every state in the training part of each fold, and judge it on the rest."""
    missed, spread = np.empty((2, *states.shape[:2]))
    written = np.empty((len(states), len(vectors), len(folds)))
    left_out = np.empty((len(states), int(folds.max()) + 1))
    for fold, (training, held_out) in enumerate(splits(folds)):
        regressors = Regressors([part[training] for part in vectors])
        unseen = [part[held_out] for part in vectors]
        for number, state in enumerate(states):
            fit = regressors.fit(state[training])
            found = fit.residuals(unseen, state[held_out])
            missed[number, held_out], spread[number, held_out] = found.missed, found.spread
            written[number][:, held_out] = found.written
            left_out[number, fold] = fit.left_out_r2
    residuals = Residuals(missed=missed, spread=spread, written=written)
    return HeldOutResiduals(residuals=residuals, left_out=left_out, folds=folds)
