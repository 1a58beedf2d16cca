"""Ridge regressions of any number of targets on the same rows, judged by leave-one-out inside them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from georecall.statistics.ridge import STRENGTHS


@dataclass(frozen=True, kw_only=True)
class LeftOutFit:
    """One ridge fit: its strength α, what it says of each row when that row is left out, and its dual weights.

    `left_out` are the predictions ŷ_{−i}(x_i), `error` the sum of their squared errors.
    """

    strength: float
    error: float
    left_out: Float64[np.ndarray, "rows targets"]
    mean: Float64[np.ndarray, " targets"]
    weights: Float64[np.ndarray, "rows targets"]


class LeaveOneOut:
    """Ridge regression on fixed rows, in dual form: one decomposition serves all targets and all strengths.

    With centred rows X, X Xᵀ = U Λ Uᵀ and S = U diag(α / (Λ + α)) Uᵀ, the residuals are S (y − ȳ), and the
    prediction of row i by a fit without it, intercept included, misses by

        y_i − ŷ_{−i}(x_i) = [S (y − ȳ)]_i / (S_ii − 1/n).

    The strength α has the least sum of these squares, among the candidates of `statistics.ridge`: the fit is that of
    `sklearn.linear_model.RidgeCV`, which would decompose X anew for every target.
    """

    def __init__(self, x: Float64[np.ndarray, "rows regressors"]) -> None:
        self.mean = x.mean(axis=0)
        self._centred = x - self.mean
        gram = self._centred @ self._centred.T
        values, self._axes = np.linalg.eigh(gram)
        self._values = np.maximum(values, 0)
        scale = float(np.trace(gram)) / len(x)
        self._strengths = STRENGTHS * (scale if scale > 0 else 1.0)
        self._shrinkage = self._strengths[:, None] / (self._values + self._strengths[:, None])
        self._leverage = self._shrinkage @ (self._axes**2).T - 1 / len(x)

    def fit(self, y: Float64[np.ndarray, "rows targets"]) -> LeftOutFit:
        """The fit of all targets together, with one strength."""
        mean = y.mean(axis=0)
        rotated = self._axes.T @ (y - mean)
        # Errors need only the inner products of rows, which a triangle of fewer columns has as well.
        short = rotated if rotated.shape[1] <= len(y) else np.asarray(np.linalg.qr(rotated.T, mode="r")).T
        errors = [
            float((((self._axes * shrinkage) @ short / leverage[:, None]) ** 2).sum())
            for shrinkage, leverage in zip(self._shrinkage, self._leverage, strict=True)
        ]
        best = int(np.argmin(errors))
        missed = (self._axes * self._shrinkage[best]) @ rotated / self._leverage[best][:, None]
        strength = float(self._strengths[best])
        return LeftOutFit(
            strength=strength,
            error=errors[best],
            left_out=y - missed,
            mean=mean,
            weights=(self._axes / (self._values + strength)) @ rotated,
        )

    def project(self, x: Float64[np.ndarray, "new regressors"]) -> Float64[np.ndarray, "new rows"]:
        """Inner products of new rows with the rows of the fit, both centred; made once for all targets."""
        return np.asarray((x - self.mean) @ self._centred.T)

    def coefficients(self, fit: LeftOutFit) -> Float64[np.ndarray, "targets regressors"]:
        """W of ŷ = W x + c."""
        return np.asarray(fit.weights.T @ self._centred)


def predict(
    fit: LeftOutFit, projected: Float64[np.ndarray, "new rows"]
) -> Float64[np.ndarray, "new targets"]:
    """ŷ of new rows that `LeaveOneOut.project` has met."""
    return np.asarray(fit.mean + projected @ fit.weights)
