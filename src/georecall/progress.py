"""Progress as the library reports it; the command line draws it."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Called with what is being done, how much is done, how much there is, and how it stands, in a few words."""

    def __call__(self, task: str, done: int, total: int, note: str = "") -> None:
        """Take note."""


def no_progress(task: str, done: int, total: int, note: str = "") -> None:
    """Show nothing."""
