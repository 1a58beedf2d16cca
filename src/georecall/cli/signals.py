"""A command that is asked to end tidies up as after Ctrl-C, and says by its exit code what ended it."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from georecall.cli.output import print_error

ENDING = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__]
"""What asks a process to end; Windows has no SIGHUP."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Unwind the block as a KeyboardInterrupt at a signal, then exit with 128 and its number.

    A signal that was ignored before, as by nohup, is ignored.
    """
    received: list[signal.Signals] = []

    def unwind(number: int, _frame: FrameType | None) -> None:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()
    heard = [each for each in ENDING if in_main_thread and signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, unwind) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if received:
            print_error(f"ended by {received[0].name}")
            sys.exit(128 + received[0])
