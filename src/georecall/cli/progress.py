"""Progress on standard error: bars on a terminal, elsewhere a plain line a minute."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from georecall.cli.output import err, print_line
from georecall.escaping import escaped
from georecall.progress import Progress as Report

SPEED_SECONDS = 3600
"""So far back the speed of work is looked at: one step may take many minutes."""

SECONDS_BETWEEN_LINES = 60


@contextmanager
def progress_bars() -> Iterator[Report]:
    """Shows what is reported: on a terminal as a bar for each thing being done, with the time left."""
    if not err.is_terminal:
        yield ProgressLines()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err, transient=True, speed_estimate_period=SPEED_SECONDS) as bars:

        def report(task: str, done: int, total: int, note: str = "") -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(escaped(task), total=total, note="")
            bars.update(tasks[task], completed=done, total=total, note=escaped(note))

        yield report


class ProgressLines:
    """Prints, at most once a minute, how far everything is that is not at its end."""

    def __init__(self) -> None:
        self._unfinished: dict[str, str] = {}
        self._printed = time.monotonic()

    def __call__(self, task: str, done: int, total: int, note: str = "") -> None:
        """Take note, and print if a minute has passed."""
        self._unfinished.pop(task, None)
        if done < total:
            self._unfinished[task] = f"{task} {done:,} of {total:,}" + (f" ({note})" if note else "")
        if self._unfinished and (now := time.monotonic()) - self._printed >= SECONDS_BETWEEN_LINES:
            self._printed = now
            print_line("; ".join(self._unfinished.values()), to=err)
