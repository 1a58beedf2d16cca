"""Timing in pairs: what is compared is run in turns, so that a machine's drift falls on both sides."""

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def median_seconds(work: Callable[[], object], *, runs: int = 5) -> float:
    """Median time of several calls after one that is not counted."""
    work()
    return statistics.median(seconds(work) for _ in range(runs))


def paired_ratio(slow: Callable[[], object], quick: Callable[[], object], *, runs: int = 5) -> float:
    """Median of time(slow) / time(quick) over runs in turns, after one of each that is not counted."""
    slow(), quick()
    return statistics.median(seconds(slow) / seconds(quick) for _ in range(runs))


def report(name: str, value: str, goal: str) -> None:
    """One line of the results."""
    print(f"{name:<58} {value:>16}   goal {goal}", flush=True)
