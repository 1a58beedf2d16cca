"""Reading attributes off linear estimates: the attribute named is the one whose code is nearest."""

import numpy as np
from jaxtyping import Bool, Float64, Int64


def nearness(
    estimates: Float64[np.ndarray, "rows code"], codes: Float64[np.ndarray, "attributes code"]
) -> Float64[np.ndarray, "rows attributes"]:
    """`⟨code, ŷ⟩ − ‖code‖²/2`, which falls as ‖code − ŷ‖ rises.

    The distance is what a fit makes small, and an exact estimate names its attribute whatever the codes' lengths.
    """
    return np.asarray(estimates @ codes.T - (codes**2).sum(axis=1) / 2)


def reciprocal_ranks(
    closeness: Float64[np.ndarray, "rows attributes"],
    right: Int64[np.ndarray, " rows"],
    nameable: Bool[np.ndarray, " attributes"] | None = None,
) -> Float64[np.ndarray, " rows"]:
    """1 / rank of the right attribute among those that can be named, where a tie is lost; 0 if it cannot be named."""
    if nameable is None:
        nameable = np.ones(closeness.shape[1], dtype=np.bool_)
    own = np.take_along_axis(closeness, right[:, None], axis=1)
    ranks = np.count_nonzero(~(closeness < own) & nameable, axis=1)
    return np.where(nameable[right], 1 / np.maximum(ranks, 1), 0.0)
