"""One writer at a time: hidden lock files, which a kill releases.

A lock file is beside what it locks (`.name.georecall.lock`), or in a folder that is there already. It is taken
away with the lock; whoever waited for a file that is gone makes a new one (filelock looks whether it is gone).
"""

import errno
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from georecall.errors import FolderError
from georecall.storage.errors import writing

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = ".georecall.lock"
SECONDS = 60.0
"""How long a short piece of work of another command is waited for."""

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
"""What a file system without locks says."""

_LOOK = 30.0
"""How often whoever waits without end looks whether the holder can be seen from here."""


def beside(path: Path) -> Path:
    """The lock of a file, or of a folder that may not be there."""
    return path.with_name(f".{path.name}{LOCK}")


def inside(folder: Path) -> Path:
    """The lock of a folder that is there."""
    return folder / LOCK


@contextmanager
def locked(path: Path, lock_file: Path, *, wait: float | None = SECONDS) -> Iterator[None]:
    """Hold the lock of `path`, again if this thread holds it already; None waits as long as its holder lives.

    Where the file system has no locks they are files that say who holds them (`filelock.SoftFileLock`). Then it
    may be that the holder is gone and cannot be known to be, as on another machine.

    Raises:
        FolderError: it is held after `wait` seconds, or by somebody who cannot be seen from here, or cannot be
            taken.
    """
    from filelock import FileLock, SoftFileLock  # noqa: PLC0415 - whoever only reads does without

    lock = FileLock(lock_file, is_singleton=True)
    soft = SoftFileLock(lock_file.with_name(f"{lock_file.name}.soft"), is_singleton=True)
    again = lock.is_locked or soft.is_locked
    with writing(path):
        lock_file.parent.stat()  # filelock would make it
        try:
            held = _acquired(soft if soft.is_locked else lock, path, wait)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            held = _acquired(soft, path, wait)
    try:
        yield
    finally:
        if not again:
            _take_away(lock_file)
        held.release()


def is_held(lock_file: Path) -> bool:
    """Whether another process or thread holds a lock now."""
    try:
        with locked(lock_file, lock_file, wait=0.0) if lock_file.is_file() else nullcontext():
            return False
    except FolderError:
        return True


def _acquired(lock: "BaseFileLock", path: Path, wait: float | None) -> "BaseFileLock":
    from filelock import Timeout  # noqa: PLC0415 - as above

    while True:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "flock not supported", UserWarning)
                lock.acquire(timeout=_LOOK if wait is None else wait)
            return lock
        except Timeout as timeout:
            _, elsewhere, holder = str(timeout).partition("held by ")
            if elsewhere:
                remedy = f"delete {lock.lock_file} if it no longer runs"
                raise FolderError(f"{path}: in use by {holder.rstrip('.')}; {remedy}") from None
            if wait is not None:
                raise FolderError(f"{path}: in use by another command; try again when it has ended") from None


def _take_away(lock_file: Path) -> None:
    """Delete a lock file that is held, unless it says by whom: then filelock deletes it when it is released."""
    with suppress(OSError):  # Windows deletes it when it is released, and not before
        if lock_file.stat().st_size == 0:
            lock_file.unlink()
