"""Ridge regression whose strength is chosen by leave-one-out inside the data it is given."""

from typing import Any

import numpy as np
from jaxtyping import Float64
from sklearn.linear_model import RidgeCV

STRENGTHS = np.logspace(-8, 3, 12)
"""Candidates, in units of the mean squared norm of a centred regressor."""


def ridge(x: Float64[np.ndarray, "rows regressors"], y: Float64[np.ndarray, "rows targets"]) -> Any:
    """The fitted `sklearn.linear_model.RidgeCV` of all targets together: one decomposition, one strength.

    min_{W, c} ‖y − x Wᵀ − c‖² + α‖W‖²,  α the candidate with the least leave-one-out error.
    """
    scale = ((x - x.mean(axis=0)) ** 2).sum(axis=0).mean()
    return RidgeCV(alphas=STRENGTHS * (scale if scale > 0 else 1.0)).fit(x, y)
