"""Single files that are replaced in one step. Who may read them is for the umask to say."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from georecall.errors import FolderError
from georecall.storage.drafts import delete, draft_of
from georecall.storage.errors import writing
from georecall.storage.locks import beside, locked


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, as `whole_file` does."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, as `whole_file` does."""
    with whole_file(path) as draft:
        draft.write_bytes(content)


@contextmanager
def whole_file(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """Give the path of a draft, which becomes `path` when the block ends without an error.

    Whatever happens, `path` is the old file or the new one. A link is replaced, not followed.

    Raises:
        FolderError: `path` is a folder, or is there and not to be replaced, or cannot be written.
    """
    with writing(path):
        check_file(path, replace=replace)
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path, beside(path)):
            draft = draft_of(path)
            delete(draft)
            try:
                yield draft
                check_file(path, replace=replace)
                draft.replace(path)
            finally:
                delete(draft)


def pointed_to(path: Path) -> Path:
    """The file that a user means who names a link: what it points to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def check_file(path: Path, *, replace: bool) -> None:
    """Refuse, before any work is done, a file that must not be written.

    Raises:
        FolderError: it is a folder, or is there and `replace` is not set.
    """
    if path.is_dir():
        raise FolderError(f"{path}: expected a file to write, found a folder")
    if path.exists() and not replace:
        raise FolderError(f"{path}: already exists; give another name, or --force to replace it")
