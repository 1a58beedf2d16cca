"""One process at a time for each cell: hidden lock files beside the folders, which a kill releases."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

_DRAFT = re.compile(r"\.(?P<folder>\w+-[0-9a-f]{16})-.+")


def lock_path(folder: Path) -> Path:
    """The hidden file beside a folder on which its lock is taken."""
    return folder.with_name(f".{folder.name}.lock")


@contextmanager
def alone(folder: Path, *, done: str) -> Iterator[None]:
    """Hold the lock of a folder, and wait for whoever holds it.

    The lock file is taken away once the folder holds the file `done`: whoever waited for it, or makes it again,
    then finds that there is nothing left to do. Otherwise two processes could hold an old and a new file of one
    name, so it stays.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = lock_path(folder)
    with FileLock(path):
        try:
            yield
        finally:
            if (folder / done).is_file():
                path.unlink(missing_ok=True)


def is_held(folder: Path) -> bool:
    """Whether some process holds the lock of a folder now."""
    if not lock_path(folder).is_file():
        return False
    try:
        with FileLock(lock_path(folder), timeout=0):
            return False
    except Timeout:
        return True


def tidy(root: Path, *, done: str) -> None:
    """Take away what killed processes left: drafts that nobody writes, and locks of folders that hold `done`."""
    for draft in root.glob(".*"):
        found = _DRAFT.fullmatch(draft.name)
        if found:
            with suppress(Timeout), FileLock(lock_path(root / found["folder"]), timeout=0):
                shutil.rmtree(draft, ignore_errors=True)
    for path in root.glob(".*.lock"):
        if (root / path.name[1 : -len(".lock")] / done).is_file():
            path.unlink(missing_ok=True)
