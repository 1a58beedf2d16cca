"""Folders that appear, and replace one another, in one step."""

import ctypes
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from georecall.errors import FolderError

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def whole_folder(target: Path, *, marker: str, replace: bool = False) -> Iterator[Path]:
    """Give an empty folder to fill; it becomes `target` only when the block ends without an error.

    The work is done in a neighbour of `target`, which is renamed at the end. With `replace`, an existing
    folder is exchanged for the new one; an interruption at any moment leaves the old one or the new one.

    Raises:
        FolderError: as `check_target`, or the parent of `target` cannot be written.
    """
    check_target(target, marker=marker, replace=replace)
    target = target.resolve()  # "." has no name, and a link is not what is to be replaced
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise FolderError(f"{target}: cannot be written ({error.strerror})") from error
    try:
        draft.chmod(0o755)
        yield draft
        if target.exists():
            _exchange(draft, target)
        else:
            draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_target(target: Path, *, marker: str, replace: bool) -> None:
    """Refuse a folder that must not be written, before any work is done.

    Raises:
        FolderError: `target` is a file; or it exists and `replace` is not set; or it is to be replaced but is
            not one of our folders (it is not empty and has no file `marker`).
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise FolderError(f"{target}: expected a folder to write, found a file")
    if not replace:
        raise FolderError(f"{target}: already exists; give another folder, or --force to replace it")
    if any(target.iterdir()) and not (target / marker).is_file():
        raise FolderError(f"{target}: will not be replaced: it has no {marker}, so it may hold other work")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _exchange(draft: Path, target: Path) -> None:
    """Swap two folders: in one step where the kernel can, else by two renames."""
    swap = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    paths = (_AT_FDCWD, os.fsencode(draft), _AT_FDCWD, os.fsencode(target))
    if swap is not None and swap(*paths, _RENAME_EXCHANGE) == 0:
        return
    aside = target.with_name(f"{draft.name}-old")
    target.rename(aside)
    draft.rename(target)
    aside.rename(draft)
