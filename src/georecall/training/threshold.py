"""Where a yes-or-no measurement of a whole number turns from no to yes, when it may waver around the turn."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

GROWTH = 1.3
"""Factor between two values tried while the turn is not yet bracketed."""


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """For each repetition (seed) the least value at which it succeeded, None where it never did.

    `tried` are all values tried, in order. `censored`: at the largest value tried, the largest allowed, some
    repetition failed. `monotone`: no repetition failed above a value at which it had succeeded.
    """

    least: tuple[int | None, ...]
    tried: tuple[int, ...]
    censored: bool
    monotone: bool

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def find_threshold(
    succeeds: Callable[[int], Sequence[bool]], *, guess: int, lowest: int, highest: int, recheck: int
) -> Threshold:
    """Search among `lowest … highest` for the turn of `succeeds`, which says it for every repetition.

    A value counts as high if most repetitions succeed. From `guess` the search grows or shrinks by a factor
    until a low and a high value are known, and halves between them. As success need not be monotone, it then
    tries on, below until every repetition failed at `recheck` values in a row, above until every one succeeded
    at as many.
    """
    seen: dict[int, tuple[bool, ...]] = {}

    def ask(value: int) -> tuple[bool, ...]:
        if value not in seen:
            seen[value] = tuple(succeeds(value))
        return seen[value]

    def is_high(value: int) -> bool:
        answers = ask(value)
        return 2 * sum(answers) > len(answers)

    turn = _halve(is_high, *_bracket(is_high, guess, lowest, highest))
    _until_settled(range(turn - 1, lowest - 1, -1), lambda value: not any(ask(value)), recheck)
    _until_settled(range(turn, highest + 1), lambda value: all(ask(value)), recheck)
    return _summary(seen, highest)


def _bracket(is_high: Callable[[int], bool], guess: int, lowest: int, highest: int) -> tuple[int, int]:
    """A low value (or `lowest` − 1) and a high one above it (or `highest` + 1)."""
    value = min(max(guess, lowest), highest)
    if is_high(value):
        while value > lowest:
            below = max(lowest, min(value - 1, int(value / GROWTH)))
            if not is_high(below):
                return below, value
            value = below
        return lowest - 1, lowest
    while value < highest:
        above = min(highest, max(value + 1, int(value * GROWTH)))
        if is_high(above):
            return value, above
        value = above
    return highest, highest + 1


def _halve(is_high: Callable[[int], bool], low: int, high: int) -> int:
    """The least high value between a low and a high one."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_high(middle) else (middle, high)
    return high


def _until_settled(values: range, settled: Callable[[int], bool], needed: int) -> None:
    """Try values in turn until `needed` of them in a row are settled."""
    in_a_row = 0
    for value in values:
        in_a_row = in_a_row + 1 if settled(value) else 0
        if in_a_row == needed:
            return


def _summary(seen: dict[int, tuple[bool, ...]], highest: int) -> Threshold:
    tried = tuple(sorted(seen))
    repetitions = range(len(seen[tried[0]]))
    least = tuple(next((value for value in tried if seen[value][one]), None) for one in repetitions)
    return Threshold(
        least=least,
        tried=tried,
        censored=highest in seen and not all(seen[highest]),
        monotone=all(
            seen[value][one]
            for one, turn in zip(repetitions, least, strict=True)
            if turn is not None
            for value in tried
            if value > turn
        ),
    )
