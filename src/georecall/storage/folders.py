"""Folders that appear in one step, and whose files are replaced together.

A new folder is made as a draft beside it and renamed. A folder that is there keeps its identity and the files
that are not ours: the new files are made as a draft in it, `.georecall.draft`; renaming that to
`.georecall.commit` is the moment at which they are the folder's. Then each is moved to its place. Whoever opens
the folder after a kill deletes a draft, and finishes a commit.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from georecall.errors import FolderError
from georecall.storage.drafts import DRAFT, delete, draft_of, tidy
from georecall.storage.errors import cannot_be_written, writing
from georecall.storage.kinds import Kind, is_inside
from georecall.storage.locks import SECONDS, beside, inside, locked

OURS = ".georecall."
"""So begin the names of what is in a folder only while it is written."""

COMMIT, OLD = ".georecall.commit", ".georecall.old"
"""The folder of files that are to be moved, and the list in it of files that are to be deleted."""

Found = TypeVar("Found")


@contextmanager
def whole_folder(target: Path, *, kind: Kind, replace: bool = False, wait: float = SECONDS) -> Iterator[Path]:
    """Give an empty folder to fill with files; they become `target` when the block ends without an error.

    With `replace`, the files of the kind that are there are replaced, and all others stay. An interruption at
    any moment leaves the old files or the new ones.

    Raises:
        FolderError: as `check_target`; or another command writes there for longer than `wait`; or `target` cannot
            be written, or has appeared meanwhile.
    """
    check_target(target, kind=kind, replace=replace)
    make = _renewed if target.exists() else _new
    with writing(target), make(target, kind, replace=replace, wait=wait) as draft:
        yield draft


@contextmanager
def claimed(folder: Path, *, wait: float = SECONDS) -> Iterator[None]:
    """Keep other commands from writing a folder; what a killed one left is finished or deleted first.

    Raises:
        FolderError: another command holds it for longer than `wait`, or it cannot be written.
    """
    place = _real(folder)
    with locked(folder, inside(place), wait=wait):
        with writing(folder):
            _finish(place)
            tidy(place)
        yield


def steady(folder: Path, marker: str, read: Callable[[], Found]) -> Found:
    """What `read` makes of the files of a folder: of the old ones or of the new, if they are being replaced.

    Nothing is locked and nothing written, unless they were replaced meanwhile or a kill left them half replaced.
    `marker` is replaced whenever any file is.
    """
    before = _state(folder, marker)
    if before is not None:
        try:
            found = read()
        except Exception:
            if before == _state(folder, marker):
                raise
        else:
            if before == _state(folder, marker):
                return found
    with claimed(folder):
        return read()


def check_target(target: Path, *, kind: Kind, replace: bool) -> None:
    """Refuse a folder that must not be written, before any work is done.

    Raises:
        FolderError: `target` is a file; or it exists and `replace` is not set; or it is to be replaced but is
            neither empty nor of the kind.
    """
    if not target.exists():
        return
    if not target.is_dir():
        raise FolderError(f"{target}: expected a folder to write, found a file")
    if not replace:
        raise FolderError(f"{target}: already exists; give another folder, or --force to replace it")
    is_ours = any(map(kind.includes, (target, target / COMMIT)))
    if not is_ours and any(not path.name.startswith(OURS) for path in target.iterdir()):
        raise FolderError(
            f"{target}: expected a new folder or {kind.name}, found other work: "
            f"no {' or '.join(kind.markers)} in it says that it is ours"
        )


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _real(folder: Path) -> Path:
    """The folder itself: "." has no name, and a link is not what is to be replaced."""
    return Path(os.path.realpath(folder))


@contextmanager
def _new(target: Path, kind: Kind, *, replace: bool, wait: float) -> Iterator[Path]:
    place = _real(target)
    place.parent.mkdir(parents=True, exist_ok=True)
    with locked(target, beside(place), wait=wait):
        check_target(target, kind=kind, replace=replace)  # once more, after waiting for whoever wrote there
        draft = draft_of(place)
        delete(draft)
        draft.mkdir()
        try:
            yield draft
            if os.path.lexists(place):
                raise cannot_be_written(
                    target, "something of that name has appeared meanwhile; it was left as it is"
                )
            draft.rename(place)  # no system renames a folder to one that holds anything
        finally:
            delete(draft)


@contextmanager
def _renewed(target: Path, kind: Kind, *, replace: bool, wait: float) -> Iterator[Path]:
    with claimed(target, wait=wait):
        check_target(target, kind=kind, replace=replace)
        place = _real(target)
        draft = place / DRAFT
        draft.mkdir()
        try:
            yield draft
            _commit(draft, place, kind)
        finally:
            delete(draft)


def _commit(draft: Path, target: Path, kind: Kind) -> None:
    new = {path.name for path in draft.iterdir()}
    for name in sorted(new):
        if (target / name).is_dir():
            raise cannot_be_written(target / name, "expected a file to replace, found a folder")
    old = [name for name in kind.files_in(target) if name not in new]
    (draft / OLD).write_text(json.dumps(old), encoding="utf-8")
    draft.rename(target / COMMIT)
    _finish(target)


def _finish(target: Path) -> None:
    """Bring a commit to its end, wherever it was broken off, and delete a draft."""
    commit = target / COMMIT
    if commit.is_dir() and not commit.is_symlink():
        for name in filter(is_inside, _listed(commit / OLD)):
            path = target / name
            if not path.parent.is_symlink() and not path.is_dir():
                path.unlink(missing_ok=True)
            if path.parent != target:
                with suppress(OSError):  # it holds something else, or is gone
                    path.parent.rmdir()
        for path in commit.iterdir():
            if path.name != OLD:
                path.replace(target / path.name)
        delete(commit)
    delete(target / DRAFT)


def _listed(path: Path) -> list[Any]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return listed if isinstance(listed, list) else []


def _state(folder: Path, marker: str) -> tuple[int, ...] | None:
    """Changes when files of a folder are replaced; None while they are being."""
    if (folder / COMMIT).exists():
        return None
    try:
        status = (folder / marker).stat()
    except OSError:
        return ()
    return status.st_ino, status.st_mtime_ns, status.st_size
