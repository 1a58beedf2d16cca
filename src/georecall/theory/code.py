"""What a construction asks of a code: words of integer levels that tell names apart by their inner products."""

import math
from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Int8, Int64

from georecall.errors import CodeError


class Code(ABC):
    """Words C(0), C(1), … that are arrangements of one multiset of levels.

    All words have the same sum and the same squared norm, so ⟨C(a),C(a)⟩ − ⟨C(a),C(b)⟩ = ½‖C(a) − C(b)‖² ≥
    `margin()` for a ≠ b, and the largest inner product decodes exactly. The levels of C(0) ascend from 0 and 1:
    a chain exchanges the first 1, the flag, with the 0 before it, to tell an open block from a closed one.
    Constructions take words from `first_words`, which checks all of this but for the margin. Source:
    docs/theory.md §2.
    """

    composition: tuple[int, ...]
    """How often each of the levels 0 … L−1 occurs in every word."""

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Number of words."""

    @abstractmethod
    def margin(self) -> int:
        """The least ½‖C(a) − C(b)‖² over all a ≠ b, or less."""

    @abstractmethod
    def unrank(self, indices: Int64[np.ndarray, "*batch"]) -> Int8[np.ndarray, "*batch symbols"]:
        """The words of the given numbers; CodeError for a number outside [0, capacity)."""

    @property
    def length(self) -> int:
        """Places of a word, p."""
        return sum(self.composition)

    @property
    def levels(self) -> int:
        """Size of the alphabet 0 … L−1, whether or not every level occurs."""
        return len(self.composition)

    @property
    def highest_level(self) -> int:
        """c_max, the highest level that occurs; of more levels than symbols the upper ones do not."""
        return int(np.flatnonzero(self.composition)[-1])

    @property
    def level_sum(self) -> int:
        """Sum of the entries of every word."""
        return sum(level * count for level, count in enumerate(self.composition))

    @property
    def squared_norm(self) -> int:
        """⟨C(a),C(a)⟩, the same for every word."""
        return sum(level**2 * count for level, count in enumerate(self.composition))

    @property
    def flag(self) -> int:
        """Which symbol of C(0) is the first that is 1; the one before it is 0."""
        return self.composition[0]

    @property
    def bits_per_symbol(self) -> float:
        """log2 L, the bits that one entry of a word takes."""
        return math.log2(self.levels)

    @property
    def bits_per_codeword(self) -> float:
        """p·log2 L, the bits that one stored fact takes."""
        return self.length * self.bits_per_symbol

    def first_words(self, count: int) -> Int8[np.ndarray, "count symbols"]:
        """C(0) … C(count − 1), with what a construction needs of them.

        Raises CodeError if there are fewer, if levels 0 and 1 do not occur, if a word is no arrangement of
        `composition`, or if the levels of C(0) do not ascend.
        """
        if count > self.capacity:
            raise CodeError(f"expected a code of {count} words or more, got {self.capacity}")
        if min(self.composition[:2]) < 1:
            raise CodeError(f"levels 0 and 1 of a code must occur, got {self.composition}")
        words = self.unrank(np.arange(count))
        for level, times in enumerate(self.composition):
            wrong = np.flatnonzero(np.count_nonzero(words == level, axis=1) != times)
            if len(wrong):
                raise CodeError(
                    f"a codeword must hold its levels {self.composition} times, got {words[wrong[0]].tolist()}"
                )
        if count and (np.diff(words[0]) < 0).any():
            raise CodeError(f"the levels of codeword 0 must ascend, got {words[0].tolist()}")
        return words
