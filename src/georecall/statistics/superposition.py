"""Superpositions x_s ≈ c + Σ_r A_r v_{r, f_r(s)}: the map, its fit, and what the fit leaves of held-out states.

Throughout, `vectors` holds for each relation r the vectors v_{r, f_r(s)} of the answers of some rows s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from georecall.statistics.ridge import Ridge
from georecall.statistics.shares import Residuals


@dataclass(frozen=True, kw_only=True)
class SuperpositionMap:
    """`offset` is c, `matrices` are the A_r."""

    offset: Float64[np.ndarray, " dim"]
    matrices: Sequence[Float64[np.ndarray, "dim _"]]

    def embed(self, vectors: Sequence[Float64[np.ndarray, "rows _"]]) -> Float64[np.ndarray, "rows dim"]:
        """`c + Σ_r A_r v_r` of every row."""
        parts = [part @ matrix.T for part, matrix in zip(vectors, self.matrices, strict=True)]
        return np.asarray(self.offset + np.sum(parts, axis=0))


@dataclass(frozen=True, kw_only=True)
class FittedMap(SuperpositionMap):
    """A map fitted by ridge.

    strength    : of the ridge
    left_out_r2 : R² on the rows of the fit, each of them left out in turn; 0 if they have one state
    mean, means : x̄ and the v̄_r of the rows of the fit
    """

    strength: float
    left_out_r2: float
    mean: Float64[np.ndarray, " dim"]
    means: Sequence[Float64[np.ndarray, " _"]]

    def residuals(
        self, vectors: Sequence[Float64[np.ndarray, "rows _"]], states: Float64[np.ndarray, "rows dim"]
    ) -> Residuals:
        """What is left of states that had no say in the fit, and what each relation writes there."""
        parts = np.stack(
            [
                (part - mean) @ matrix.T
                for part, mean, matrix in zip(vectors, self.means, self.matrices, strict=True)
            ]
        )
        centred = states - self.mean
        return Residuals(
            missed=_squares(centred - parts.sum(axis=0)), spread=_squares(centred), written=_squares(parts)
        )


class Regressors:
    """The vectors of all relations side by side, decomposed once for all the states of their rows."""

    def __init__(self, vectors: Sequence[Float64[np.ndarray, "rows _"]]) -> None:
        self._ridge = Ridge(np.hstack(list(vectors)))
        self._ends = np.cumsum([part.shape[1] for part in vectors])[:-1]

    def fit(self, states: Float64[np.ndarray, "rows dim"]) -> FittedMap:
        """The joint ridge fit of all relations; its strength is chosen by leave-one-out."""
        fit = self._ridge.fit(states)
        weights = self._ridge.coefficients(fit)
        total = float(((states - fit.mean) ** 2).sum())
        return FittedMap(
            offset=fit.mean - weights @ self._ridge.mean,
            matrices=np.split(weights, self._ends, axis=1),
            strength=fit.strength,
            left_out_r2=1 - fit.error / total if total > 0 else 0.0,
            mean=fit.mean,
            means=np.split(self._ridge.mean, self._ends),
        )


def _squares(vectors: Float64[np.ndarray, "*some dim"]) -> Float64[np.ndarray, "*some"]:
    return np.asarray((vectors**2).sum(axis=-1))
