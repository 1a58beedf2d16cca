"""What goes wrong in writing, as one error that names the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from georecall.errors import FolderError

IN_RUST = "(os error "
"""So do libraries written in Rust (Polars, tokenizers) end the message of an error of the system."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let a full disk, missing rights and the like be errors of `path`.

    Raises:
        FolderError: the system refused to write.
    """
    try:
        yield
    except OSError as error:
        raise cannot_be_written(path, error.strerror or str(error) or type(error).__name__) from error
    except Exception as error:
        why, is_of_the_system, _ = str(error).rpartition(IN_RUST)
        if not is_of_the_system:
            raise
        raise cannot_be_written(path, why.rpartition(": ")[-1].strip()) from error


def cannot_be_written(path: Path, why: str) -> FolderError:
    """The error for a file or folder that cannot be written."""
    return FolderError(f"{path}: cannot be written ({why})")
