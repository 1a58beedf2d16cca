"""The errors georecall raises, all of them `ValueError`s with a message meant for the user."""

from collections.abc import Iterator
from contextlib import contextmanager


class GeorecallError(ValueError):
    """Base of every error that a user's input can cause."""


class TableError(GeorecallError):
    """A table of facts cannot be read as it stands; the message names file, line, column and value."""


class UnknownNameError(GeorecallError):
    """A name is not in the table; the message suggests the nearest ones."""


class CodeError(GeorecallError):
    """No attribute code exists for the arguments given."""


class ConstructionError(GeorecallError):
    """A construction cannot be built or asked as requested."""


class TrainingError(GeorecallError):
    """A training run cannot be made as requested, or came to nothing."""


class FolderError(GeorecallError):
    """A folder or a file in it is missing, altered, or must not be overwritten."""


class MissingPackageError(GeorecallError):
    """An optional package is needed and not installed; the message says how to get it."""


class AnalysisError(GeorecallError):
    """A model cannot be dissected: it is of another kind, does not fit its table, or is not finite."""


class FigureError(GeorecallError):
    """A figure cannot be drawn, by a fault of its results or of the renderer."""


class ProbingError(GeorecallError):
    """A language model or its table cannot be probed as requested."""


@contextmanager
def raised_as(kind: type[GeorecallError], what: str) -> Iterator[None]:
    """Whatever goes wrong inside, as in a library with a foreign file, is this error: `what`, and why in a line."""
    try:
        yield
    except (GeorecallError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # what a library in Rust panics with is no Exception
        why = str(error).strip().partition("\n")[0]
        raise kind(f"{what}: {why or type(error).__name__}") from error
