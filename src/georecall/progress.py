"""Progress as the library reports it; the command line draws it."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""


def no_progress(task: str, done: int, total: int) -> None:
    """Show nothing."""
