"""Unfinished files and folders: hidden, with fixed names, so that what a killed process left is found."""

import shutil
from contextlib import suppress
from pathlib import Path

from georecall.errors import FolderError
from georecall.storage.locks import LOCK, beside, locked

DRAFT = ".georecall.draft"


def draft_of(path: Path) -> Path:
    """The draft beside a file or folder; whoever holds the lock `beside(path)` may write or delete it."""
    return path.with_name(f".{path.name}{DRAFT}")


def delete(path: Path) -> None:
    """Delete a file, a link or a folder, if it is there; nothing behind a link is touched."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def tidy(folder: Path) -> None:
    """Delete the drafts and locks in a folder whose owners are gone."""
    for suffix in (DRAFT, LOCK):
        for found in folder.glob(f".*{suffix}"):
            path = found.with_name(found.name[1 : -len(suffix)])
            with suppress(FolderError), locked(path, beside(path), wait=0.0):
                delete(draft_of(path))
