"""Progress over all claims: each claim weighs as much as it is expected to take."""

from collections.abc import Sequence

from georecall.claims.timing import Expectation
from georecall.progress import Progress

TASK = "all claims"
UNKNOWN_CELL = 1.0
"""Seconds that a cell counts for when nobody has measured its claim."""


class TotalProgress:
    """Passes reports on, and adds one for all claims together, in seconds of work; what is done counts at once."""

    def __init__(self, progress: Progress, expected: Sequence[Expectation]) -> None:
        self._progress = progress
        self._expected = {each.id: each for each in expected}
        self._work = {each.id: _work(each) for each in expected}
        self._done = {each.id: _share(each.own_done, each.own) for each in expected}
        self._report()

    def __call__(self, task: str, done: int, total: int, note: str = "") -> None:
        """Take note; cells shared with an earlier claim are done by now, and its own are the rest."""
        self._progress(task, done, total, note)
        if task in self._expected:
            own = self._expected[task].own
            self._done[task] = max(self._done[task], _share(done - (total - own), own))
            self._report()

    def _report(self) -> None:
        done = sum(self._done[name] * work for name, work in self._work.items())
        self._progress(TASK, round(done), round(sum(self._work.values())), "seconds of work")


def _work(expected: Expectation) -> float:
    return UNKNOWN_CELL * expected.own if expected.seconds is None else expected.seconds


def _share(done: int, total: int) -> float:
    return min(1.0, max(0.0, done / total)) if total else 1.0
