"""How much of held-out states a fit explains, and which of its parts does.

By hand, as `sklearn.metrics.r2_score` measures from the mean of the held-out rows, which no fit has met.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64


@dataclass(frozen=True, kw_only=True)
class Residuals:
    """What a fit leaves of held-out rows, and what its parts write there; x̄ and v̄_r are means of the training part.

    missed  : ‖x_s − x̂_s‖²
    spread  : ‖x_s − x̄‖²
    written : ‖A_r (v_{r,s} − v̄_r)‖² for each part r
    """

    missed: Float64[np.ndarray, "*states rows"]
    spread: Float64[np.ndarray, "*states rows"]
    written: Float64[np.ndarray, "*states parts rows"]

    @property
    def r2(self) -> Float64[np.ndarray, "*states"]:
        """1 − Σ‖x_s − x̂_s‖² / Σ‖x_s − x̄‖²: coordinates weighted by their variance; NaN where there is no spread."""
        return _ratio(self.spread - self.missed, self.spread)

    @property
    def shares(self) -> Float64[np.ndarray, "*states parts"]:
        """Σ‖A_r (v_{r,s} − v̄_r)‖² / Σ‖x_s − x̄‖². Where parts are correlated, these do not add up to R²."""
        return _ratio(self.written, self.spread[..., None, :])


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # 0 / 0 where all rows have one state
        return np.asarray(above.sum(axis=-1) / below.sum(axis=-1))
