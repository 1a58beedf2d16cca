"""Where a yes-or-no measurement of a whole number turns from no to yes, when it may waver around the turn."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from georecall.records import Record, derived

GROWTH = 1.3
"""Factor between two values tried while the turn is not yet bracketed: large values cost more than many tries."""


class Threshold(Record):
    """For each repetition (seed) the least value tried at which it succeeded, None where it never did.

    `tried` are all values tried, in order. `monotone`: no repetition failed above a value at which it had
    succeeded.
    """

    least: tuple[int | None, ...]
    tried: tuple[int, ...]
    monotone: bool

    @property
    def known(self) -> tuple[int, ...]:
        """The values of the repetitions that have one."""
        return tuple(value for value in self.least if value is not None)

    @derived
    def censored(self) -> bool:
        """Whether some repetition succeeded nowhere: its turn is above the highest value allowed."""
        return None in self.least


def find_threshold(
    succeeds: Callable[[int], Sequence[bool]], *, guess: int, lowest: int, highest: int, recheck: int
) -> Threshold:
    """Search among `lowest … highest` for the turn of each repetition; `succeeds` answers for all of them.

    From `guess` the search grows or shrinks by a factor until the turn is bracketed, and halves between; what was
    tried for one repetition serves the next. As success need not be monotone, it then tries on, below until the
    repetition failed at `recheck` values in a row, above until it succeeded at as many.
    """
    seen: dict[int, tuple[bool, ...]] = {}

    def ask(value: int) -> tuple[bool, ...]:
        if value not in seen:
            seen[value] = tuple(succeeds(value))
        return seen[value]

    first = min(max(guess, lowest), highest)
    repetitions = len(ask(first))
    tried = 0
    while len(seen) > tried:  # what is tried for one repetition may move the turn of another
        tried = len(seen)
        for one in range(repetitions):
            low, high = _bracket(seen, one, lowest, highest)
            while high - low > 1:
                ask(_between(low, high, lowest, highest))
                low, high = _bracket(seen, one, lowest, highest)
            _until_in_a_row(recheck, (not ask(value)[one] for value in range(low, lowest - 1, -1)))
            _until_in_a_row(recheck, (ask(value)[one] for value in range(high, highest + 1)))
    return _summary(seen)


def _bracket(seen: Mapping[int, Sequence[bool]], one: int, lowest: int, highest: int) -> tuple[int, int]:
    """The largest known failure below all known successes, or `lowest` − 1; the least success, or `highest` + 1."""
    high = min((value for value in seen if seen[value][one]), default=highest + 1)
    return max((value for value in seen if value < high), default=lowest - 1), high


def _between(low: int, high: int, lowest: int, highest: int) -> int:
    """The value to try next: smaller while no failure is known, larger while no success is, else in the middle."""
    if low < lowest:
        return max(lowest, min(high - 1, int(high / GROWTH)))
    if high > highest:
        return min(highest, max(low + 1, int(low * GROWTH)))
    return (low + high) // 2


def _until_in_a_row(needed: int, answers: Iterable[bool]) -> None:
    """Ask on until `needed` answers in a row are yes."""
    in_a_row = 0
    for answer in answers:
        in_a_row = in_a_row + 1 if answer else 0
        if in_a_row == needed:
            return


def _summary(seen: Mapping[int, Sequence[bool]]) -> Threshold:
    tried = tuple(sorted(seen))
    by_repetition = list(zip(*(seen[value] for value in tried), strict=True))
    return Threshold(
        least=tuple(tried[answers.index(True)] if True in answers else None for answers in by_repetition),
        tried=tried,
        monotone=all(list(answers) == sorted(answers) for answers in by_repetition),
    )
