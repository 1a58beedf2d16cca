"""Numbers and their intervals in words: the one place that decides how."""

import math
from collections.abc import Sequence

UNDEFINED, NONE = "–", "none"


def number(value: int | float | None, form: str = ".2f") -> str:
    """Whole numbers with commas; others by `form`, with a minus sign and without a negative zero; – for NaN."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}"
    return UNDEFINED if math.isnan(value) else f"{value:z{form}}".replace("-", "−")


def within(value: int | float | None, interval: Sequence[float] | None, form: str = ".2f") -> str:
    """A number with its interval, where it has one: 0.93 (0.91 … 0.95)."""
    said = number(value, form)
    if interval is None or said in (UNDEFINED, NONE):
        return said
    return f"{said} ({ends(interval, form)})"


def ends(interval: Sequence[float], form: str = ".2f") -> str:
    """Both ends of an interval: 0.91 … 0.95."""
    return " … ".join(number(float(end), form) for end in interval)


def layers_text(layers: Sequence[int]) -> str:
    """The layers chosen in several folds: layer 12, or layers 9–21."""
    low, high = min(layers), max(layers)
    return f"layer {low}" if low == high else f"layers {low}–{high}"
