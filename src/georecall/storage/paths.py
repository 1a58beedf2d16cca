"""Paths that every library takes."""

from pathlib import Path

from georecall.errors import FolderError


def check_utf8(path: Path) -> None:
    """Refuse a path that is not UTF-8: the libraries for tokenizers and tensors do not open it.

    Raises:
        FolderError: as said.
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        raise FolderError(f"{path}: expected a path in UTF-8; give the folders other names") from None
