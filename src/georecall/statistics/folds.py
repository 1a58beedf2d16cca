"""Which rows are held out: one part of them, or each in one of several folds.

Drawn by hand, as `sklearn.model_selection` takes no `numpy.random.Generator`.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64

from georecall.statistics.random_streams import stream

Split = tuple[Int64[np.ndarray, " training"], Int64[np.ndarray, " held_out"]]
"""Rows of the training part and of the part held out, in order."""


def split(rows: Int64[np.ndarray, " rows"], part: float, seed: int) -> Split:
    """Hold out a part of the rows, to the nearest whole number."""
    drawn = stream(seed, "held out").permutation(rows)
    held_out = round(part * len(rows))
    return np.sort(drawn[held_out:]), np.sort(drawn[:held_out])


def fold_numbers(rows: int, folds: int, seed: int) -> Int64[np.ndarray, " rows"]:
    """The fold in which each row is held out: folds of equal size, one row more or less, drawn by the seed."""
    return stream(seed, "folds").permutation(np.arange(rows, dtype=np.int64) % folds)


def splits(folds: Int64[np.ndarray, " rows"]) -> Iterator[Split]:
    """The split of each fold, given the fold in which each row is held out."""
    for fold in range(int(folds.max()) + 1):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
