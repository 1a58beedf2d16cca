"""Constant-composition codes: attributes as the arrangements of one fixed multiset of integer levels."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Int8, Int64

from georecall.errors import CodeError
from georecall.theory.code import Code

MAX_LEVELS = 127  # every level then fits int8
_CHUNK = 1 << 15  # codewords worked on at once: bounds the memory and stays in the cache


@dataclass(frozen=True)
class CompositionCode(Code):
    """All arrangements of a multiset that holds level l exactly `composition[l]` times.

    Codeword C(a) is arrangement number a in lexicographic order, so the levels of C(0) ascend. Raises CodeError
    unless there are 2 to 127 levels, no negative count, and at least two levels that occur. Source:
    docs/theory.md §2.
    """

    composition: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse a composition that is no code."""
        _check_levels(self.levels)
        if min(self.composition) < 0:
            raise CodeError(f"every count of a composition must be at least 0, got {self.composition}")
        if sum(count > 0 for count in self.composition) < 2:
            raise CodeError(f"at least two levels of a composition must occur, got {self.composition}")

    @classmethod
    def shortest(cls, size: int, levels: int = 2) -> "CompositionCode":
        """The shortest code of at least `size` codewords over levels 0 … L−1; its composition is balanced.

        Balanced is best: where counts differ by c ≥ c' + 2, moving one symbol from c to c' multiplies the
        number of arrangements by c/(c' + 1) > 1, so only counts that are equal or differ by one reach the
        maximum. The surplus goes to the lowest levels. From p−1 to p symbols the maximum grows by the factor
        p/⌈p/L⌉ > 1, so the first length that is enough is the least. At least two symbols, so that levels 0
        and 1 both occur. Raises CodeError for a size below 1 or levels outside 2 … 127.
        """
        _check_levels(levels)
        if size < 1:
            raise CodeError(f"the size of a code must be at least 1, got {size}")
        length, capacity = 2, 2
        while capacity < size:
            length += 1
            capacity = capacity * length // -(-length // levels)
        each, surplus = divmod(length, levels)
        return cls(tuple(each + (level < surplus) for level in range(levels)))

    @property
    def capacity(self) -> int:
        """Number of codewords, p! / Π_l composition[l]!, exact."""
        symbols, capacity = 0, 1
        for count in self.composition:
            symbols += count
            capacity *= math.comb(symbols, count)
        return capacity

    def margin(self) -> int:
        """Least ⟨C(a),C(a)⟩ − ⟨C(a),C(b)⟩ over all a ≠ b: g², g the least gap between levels that occur.

        Two codewords differ in at least two symbols, as their sums agree, and in each by at least g, so
        ½‖C(a) − C(b)‖² ≥ g². Exchanging two entries that are g apart attains it. A balanced composition
        leaves out no level below its highest, so g = 1; codewords 0 and 1 already attain it, as they differ
        by one exchange of the two highest levels.
        """
        occurring = np.flatnonzero(self.composition)
        return int(np.diff(occurring).min()) ** 2

    def unrank(self, indices: Int64[np.ndarray, "*batch"]) -> Int8[np.ndarray, "*batch symbols"]:
        """Codewords of the given numbers, in exact int64 arithmetic.

        Of the M arrangements of n remaining entries, M·c/n begin with a level that has c entries left; hence
        the next level is the one that holds entry ⌊index·n/M⌋ of the remaining multiset in ascending order.
        Raises CodeError for a number outside [0, capacity), or where capacity·p reaches 2⁶³.
        """
        self._check_arithmetic()
        _check_range(indices, self.capacity)
        numbers = indices.reshape(-1)
        codewords = np.empty((numbers.size, self.length), dtype=np.int8)
        for chunk in _chunks(numbers.size):
            index = numbers[chunk].astype(np.int64, casting="safe")
            remaining = _Remaining(self, index.size)
            for position in range(self.length):
                entry = index * remaining.entries // remaining.arrangements
                passed = remaining.cumulated <= entry.astype(remaining.cumulated.dtype)
                codewords[chunk, position] = passed.sum(axis=0, dtype=np.int8)
                index -= remaining.take(passed)
        return codewords.reshape(*indices.shape, self.length)

    def rank(self, codewords: Int[np.ndarray, "*batch symbols"]) -> Int64[np.ndarray, "*batch"]:
        """Numbers of the given codewords, the inverse of `unrank`.

        The walk of `unrank` with known levels: a codeword's number is how many arrangements were passed over.
        Raises CodeError for a row that is not a codeword, or where capacity·p reaches 2⁶³.
        """
        self._check_arithmetic()
        self._check_symbols(codewords)
        rows = codewords.reshape(-1, self.length)
        indices = np.zeros(len(rows), dtype=np.int64)
        for chunk in _chunks(len(rows)):
            symbols = rows[chunk].T.astype(np.int8)
            remaining = _Remaining(self, len(rows[chunk]))
            levels = np.arange(len(remaining.cumulated), dtype=np.int8)[:, None]
            for position in range(self.length):
                indices[chunk] += remaining.take(levels < symbols[position])
            _check_complete(remaining, rows[chunk], self.composition)
        return indices.reshape(codewords.shape[:-1])

    def _check_arithmetic(self) -> None:
        if self.capacity * self.length >= 2**63:
            raise CodeError(
                f"ranking needs capacity·length < 2^63, got {self.capacity} codewords of {self.length} symbols"
            )

    def _check_symbols(self, codewords: Int[np.ndarray, "*batch symbols"]) -> None:
        if codewords.shape[-1] != self.length:
            raise CodeError(f"a codeword must have {self.length} symbols, got {codewords.shape[-1]}")
        outside = (codewords < 0) | (codewords >= self.levels)
        if outside.any():
            raise CodeError(f"a codeword's levels must be in [0, {self.levels}), got {codewords[outside][0]}")


class _Remaining:
    """The multisets still to be placed, one a codeword, and the number of their arrangements."""

    def __init__(self, code: CompositionCode, batch: int) -> None:
        self.entries = code.length
        self.arrangements = np.full(batch, code.capacity, dtype=np.int64)
        counts = np.trim_zeros(code.composition, "b")
        narrow = np.min_scalar_type(-code.length - 1)  # keeps the work that grows with L cheap
        self.cumulated = np.repeat(np.cumsum(counts).astype(narrow)[:, None], batch, axis=1)

    def take(self, passed: Bool[np.ndarray, "levels batch"]) -> Int64[np.ndarray, " batch"]:
        """Take away the first level not passed; return how many arrangements begin with a passed level.

        A level of which nothing is left leaves no arrangement, now and ever after.
        """
        begin = (self.cumulated * passed).max(axis=0)
        end = np.where(passed, self.cumulated[-1], self.cumulated).min(axis=0)
        skipped: Int64[np.ndarray, " batch"] = self.arrangements * begin // self.entries
        self.arrangements = self.arrangements * (end - begin) // self.entries
        self.cumulated -= ~passed
        self.entries -= 1
        return skipped


def _chunks(size: int) -> Iterator[slice]:
    return (slice(start, start + _CHUNK) for start in range(0, size, _CHUNK))


def _check_levels(levels: int) -> None:
    if not 2 <= levels <= MAX_LEVELS:
        raise CodeError(f"a code must have 2 to {MAX_LEVELS} levels, got {levels}")


def _check_range(indices: Int64[np.ndarray, "*batch"], capacity: int) -> None:
    outside = (indices < 0) | (indices >= capacity)
    if outside.any():
        raise CodeError(f"a codeword's number must be in [0, {capacity}), got {indices[outside][0]}")


def _check_complete(
    remaining: _Remaining, rows: Int[np.ndarray, "batch symbols"], composition: tuple[int, ...]
) -> None:
    broken = remaining.arrangements == 0
    if broken.any():
        raise CodeError(
            f"a codeword must hold its levels {composition} times, got {rows[broken][0].tolist()}"
        )
