"""Where in the residual stream the relations write, and how these places lie to one another."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64
from scipy.linalg import subspace_angles

from georecall.records import Record
from georecall.statistics.estimates import Estimate

ENERGY = 0.99
"""Part of the squared singular values that a rank must hold."""


class Subspaces(Record):
    """The column spaces of the A_r at their effective rank, and the principal angles θ between them, in degrees.

    ranks            : directions that hold 99 % of the squared singular values of A_r
    smallest_angles, mean_angles : of the principal angles between two relations
    overlaps         : mean of cos²θ
    chance_overlaps  : its expectation max(k, k')/d for random subspaces of the same ranks k, k'
    """

    ranks: Estimate
    smallest_angles: Estimate
    mean_angles: Estimate
    overlaps: Estimate
    chance_overlaps: Estimate


def compare_subspaces(matrices: Float64[np.ndarray, "members relations dim out"]) -> Subspaces:
    """Ranks, and angles between every two relations; NaN where a matrix is zero."""
    dim = matrices.shape[2]
    bases = [[_column_space(matrix) for matrix in member] for member in matrices]
    ranks = np.array([[float(basis.shape[1]) for basis in member] for member in bases])
    angles = np.stack([_angles(member) for member in bases])
    empty = ranks == 0
    chance = np.maximum(ranks[:, :, None], ranks[:, None]) / dim
    chance[empty[:, :, None] | empty[:, None]] = np.nan
    return Subspaces(
        ranks=Estimate(ranks),
        smallest_angles=Estimate(angles[..., 0]),
        mean_angles=Estimate(angles[..., 1]),
        overlaps=Estimate(angles[..., 2]),
        chance_overlaps=Estimate(chance),
    )


def energy_rank(singular_values: Float64[np.ndarray, " values"]) -> int:
    """The least number of singular values, which fall, whose squares hold 99 % of the sum; 0 for a zero matrix."""
    energy = np.cumsum(singular_values**2)
    return 0 if energy[-1] == 0 else int(np.searchsorted(energy, ENERGY * energy[-1])) + 1


def participation_ratio(singular_values: Float64[np.ndarray, " values"]) -> float:
    """The effective rank (Σσ²)² / Σσ⁴ of singular values, which fall; 0 for a zero matrix."""
    if singular_values[0] == 0:
        return 0.0
    energy = (singular_values / singular_values[0]) ** 2
    return float(energy.sum() ** 2 / (energy**2).sum())


def _column_space(matrix: Float64[np.ndarray, "dim out"]) -> Float64[np.ndarray, "dim rank"]:
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return left[:, : energy_rank(values)]


def _angles(bases: Sequence[Float64[np.ndarray, "dim _"]]) -> Float64[np.ndarray, "relations relations 3"]:
    """Smallest angle, mean angle and mean cos² for every two bases."""
    found = np.full((len(bases), len(bases), 3), np.nan)
    for first, one in enumerate(bases):
        for second, other in enumerate(bases[: first + 1]):
            if one.shape[1] and other.shape[1]:
                angles = subspace_angles(one, other)
                row = np.degrees(angles.min()), np.degrees(angles.mean()), (np.cos(angles) ** 2).mean()
                found[first, second] = found[second, first] = row
    return found
