"""Ridge regression whose strength is chosen by leave-one-out inside the rows it is given.

The fit is that of `sklearn.linear_model.RidgeCV`, which would decompose the rows anew for every target.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

STRENGTHS = np.logspace(-8, 3, 12)
"""Candidates, in units of the mean squared norm of a centred row."""


@dataclass(frozen=True, kw_only=True)
class RidgeFit:
    """One fit: its strength α, what it says of each row when that row is left out, and its dual weights.

    `left_out` are the predictions ŷ_{−i}(x_i), `error` the sum of their squared errors, `mean` is ȳ.
    """

    strength: float
    error: float
    left_out: Float64[np.ndarray, "rows targets"]
    mean: Float64[np.ndarray, " targets"]
    weights: Float64[np.ndarray, "rows targets"]

    def predict(self, projected: Float64[np.ndarray, "new rows"]) -> Float64[np.ndarray, "new targets"]:
        """ŷ of new rows that `Ridge.project` has met."""
        return np.asarray(self.mean + projected @ self.weights)


class Ridge:
    """min_{W, c} ‖y − x Wᵀ − c‖² + α‖W‖² on fixed rows: one decomposition serves all targets and all strengths.

    With centred rows X, X Xᵀ = U Λ Uᵀ and S = U diag(α / (Λ + α)) Uᵀ + (1 − U Uᵀ), the residuals are S (y − ȳ),
    and the prediction of row i by a fit without it, intercept included, misses by

        y_i − ŷ_{−i}(x_i) = [S (y − ȳ)]_i / (S_ii − 1/n).

    The strength α has the least sum of these squares. U is square where there are as many regressors as rows.
    """

    def __init__(self, x: Float64[np.ndarray, "rows regressors"]) -> None:
        self.mean = x.mean(axis=0)
        self._centred = x - self.mean
        self._axes, self._values = _principal_axes(self._centred)
        scale = float((self._centred**2).sum()) / len(x)
        self._strengths = STRENGTHS * (scale if scale > 0 else 1.0)
        self._shrinkage = self._strengths[:, None] / (self._values + self._strengths[:, None])
        squares = self._axes**2
        outside = 1 - squares.sum(axis=1) if self._is_thin else 0.0
        self._leverage = self._shrinkage @ squares.T + outside - 1 / len(x)

    def fit(self, y: Float64[np.ndarray, "rows targets"]) -> RidgeFit:
        """The fit of all targets together, with one strength."""
        mean = y.mean(axis=0)
        centred = y - mean
        rotated = self._axes.T @ centred
        outside = centred - self._axes @ rotated if self._is_thin else 0.0

        def missed(rotated: np.ndarray, strength: int) -> Float64[np.ndarray, "rows _"]:
            residuals = (self._axes * self._shrinkage[strength]) @ rotated + outside
            return np.asarray(residuals / self._leverage[strength][:, None])

        # Errors need only the inner products of rows, which a triangle of fewer columns has as well.
        has_triangle = not self._is_thin and y.shape[1] > len(y)
        short = np.asarray(np.linalg.qr(rotated.T, mode="r")).T if has_triangle else rotated
        errors = [float((missed(short, number) ** 2).sum()) for number in range(len(STRENGTHS))]
        best = int(np.argmin(errors))
        strength = float(self._strengths[best])
        return RidgeFit(
            strength=strength,
            error=errors[best],
            left_out=y - missed(rotated, best),
            mean=mean,
            weights=(self._axes / (self._values + strength)) @ rotated,
        )

    def project(self, x: Float64[np.ndarray, "new regressors"]) -> Float64[np.ndarray, "new rows"]:
        """Inner products of new rows with the rows of the fit, both centred; made once for all targets."""
        return np.asarray((x - self.mean) @ self._centred.T)

    def coefficients(self, fit: RidgeFit) -> Float64[np.ndarray, "targets regressors"]:
        """W of ŷ = W x + c."""
        return np.asarray(fit.weights.T @ self._centred)

    @property
    def _is_thin(self) -> bool:
        return self._axes.shape[1] < len(self._axes)


def _principal_axes(
    centred: Float64[np.ndarray, "rows regressors"],
) -> tuple[Float64[np.ndarray, "rows axes"], Float64[np.ndarray, " axes"]]:
    """U and Λ, from whichever of the two decompositions is the smaller."""
    rows, regressors = centred.shape
    if regressors < rows:
        axes, spread, _ = np.linalg.svd(centred, full_matrices=False)
        return axes, spread**2
    values, axes = np.linalg.eigh(centred @ centred.T)
    rounding = rows * np.finfo(np.float64).eps * values[-1]
    return axes, np.where(values > rounding, values, 0)
