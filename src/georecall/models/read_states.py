"""The residual states of a chain of thought as multisets of entries, in a number format: all subjects have the same."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from georecall.constructions.chain import Chain
from georecall.models.arithmetic import Arithmetic, Range, State


@dataclass(frozen=True, kw_only=True)
class ReadState:
    """A state after attention: its entries, and those of an open and a closed block, by level."""

    state: State
    opened: Range
    closed: Range


@dataclass(frozen=True)
class ReadStates:
    """The states in which a relation, or the end, is read, whatever the subject (docs/theory.md, lemma 4.5).

    Every block is an arrangement of one multiset of levels; besides there is one entry 1, a position or the kind
    of the token, and zeros.
    """

    chain: Chain
    arithmetic: Arithmetic

    @property
    def levels(self) -> Float64[np.ndarray, " levels"]:
        """The levels that occur or could: 0 … c_max."""
        return np.arange(self.chain.code.highest_level + 1, dtype=np.float64)

    @property
    def counts(self) -> Float64[np.ndarray, " levels"]:
        """How often each level occurs in a block."""
        return np.array(self.chain.code.composition[: len(self.levels)], dtype=np.float64)

    @property
    def flags(self) -> Range:
        """What a flag is in an open and in a closed block of the token that is read."""
        return Range.exactly(np.array([0.0, 1.0]))

    @property
    def token(self) -> State:
        """The state of any token before attention."""
        return self._state(Range.exactly(self.levels), self.chain.n_relations * self.counts)

    def read(self, flags: Range) -> ReadState:
        """The state after a relation is read by flags as normalised: one block open, all others closed."""
        opened, closed = self._inhibited(flags)
        both = Range(*(np.concatenate(ends) for ends in zip(opened, closed, strict=True)))
        counts = np.concatenate([self.counts, (self.chain.n_relations - 1) * self.counts])
        return ReadState(state=self._state(both, counts), opened=opened, closed=closed)

    def end(self, flags: Range) -> ReadState:
        """The state after the end is read: every block closed."""
        opened, closed = self._inhibited(flags)
        state = self._state(closed, self.chain.n_relations * self.counts)
        return ReadState(state=state, opened=opened, closed=closed)

    def _inhibited(self, flags: Range) -> tuple[Range, Range]:
        """The places of an open and of a closed block by level."""
        rounded = self.arithmetic.rounded
        strength = rounded(Range.exactly(np.float64(-self.chain.inhibition_strength)))
        low, high = np.stack(rounded(flags.times(strength)))
        opened, closed = (
            rounded(Range(self.levels + low[block], self.levels + high[block])) for block in (0, 1)
        )
        return opened, closed

    def _state(self, values: Range, counts: Float64[np.ndarray, " values"]) -> State:
        with_one = Range(*(np.append(end, 1.0) for end in values))
        return State(values=with_one, counts=np.append(counts, 1.0), dim=self.chain.layout.dim)


def distance(found: Range, chain: Chain) -> float:
    """How far output places can be from the levels 0 … c_max that they should hold."""
    levels = np.arange(chain.code.highest_level + 1)
    return float(max(np.abs(found.low - levels).max(), np.abs(found.high - levels).max()))
