"""Parquet files, opened so that a damaged one is an error: never an abort, and never another file.

polars takes a path for a pattern, and its Rust core panics where a page belies its header. So it is given open
files only, after a look at their structure, and a panic is an error like any other.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from georecall.errors import TableError
from georecall.facts.parquet_footer import DamagedParquetError, check_structure
from georecall.facts.tabular_files import Rows, TabularFile, check_width

if TYPE_CHECKING:
    import polars as pl

_SLICE = 100_000
_STDERR = 2


def open_parquet(path: Path) -> TabularFile:
    """A Parquet file; columns of text, categories and whole numbers can be read.

    Raises TableError if the file is no Parquet file, or a column is of another type.
    """
    schema = read_schema(path)
    header = tuple(schema)

    def rows(columns: Sequence[int]) -> Rows:
        wanted = [header[number] for number in columns]
        for column in wanted:
            _check_type(path, column, schema[column])
        yield from _rows_of(read_frame(path, sorted(columns)), wanted)

    return TabularFile(path=path, header=header, rows=rows, unit="row")


def read_schema(path: Path) -> "dict[str, pl.DataType]":
    """The columns of a Parquet file and their types; TableError as `read_frame`."""
    import polars as pl  # noqa: PLC0415 - takes as long to import as all of facts

    with _sound(path) as file:
        return dict(pl.read_parquet_schema(file))


def read_metadata(path: Path) -> dict[str, str]:
    """What a Parquet file says of itself; TableError as `read_frame`."""
    import polars as pl  # noqa: PLC0415 - as above

    with _sound(path) as file:
        return pl.read_parquet_metadata(file)


def read_frame(path: Path, columns: list[int] | None = None) -> "pl.DataFrame":
    """A Parquet file, or some of its columns by position.

    Raises TableError if the file is missing, damaged, or no Parquet file.
    """
    import polars as pl  # noqa: PLC0415 - as above

    with _sound(path) as file:
        return pl.read_parquet(file, columns=columns)


def first_line(error: Exception) -> str:
    """What an error says, without the plans and stacks that polars adds."""
    return str(error).partition("\n")[0]


@contextmanager
def _sound(path: Path) -> Iterator[BinaryIO]:
    """An open Parquet file whose structure was looked at; what polars has to say about it is one TableError."""
    import polars as pl  # noqa: PLC0415 - as above

    try:
        check_width(path, check_structure(path))
        with path.open("rb") as file, _panics_unheard():
            yield file
    except OSError as error:
        raise TableError(f"{path}: expected a Parquet file: {error.strerror}") from None
    except (DamagedParquetError, pl.exceptions.PolarsError) as error:
        raise TableError(f"{path}: expected a Parquet file: {first_line(error)}") from None
    except pl.exceptions.PanicException:
        raise TableError(f"{path}: expected a Parquet file: its pages cannot be decoded") from None


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Without what Rust writes to the terminal before a panic becomes an exception."""
    kept = os.dup(_STDERR)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def _check_type(path: Path, column: str, kind: "pl.DataType") -> None:
    import polars as pl  # noqa: PLC0415 - as above

    if not (kind.is_integer() or isinstance(kind, pl.String | pl.Categorical | pl.Enum | pl.Null)):
        raise TableError(f"{path}, column {column!r}: expected text or whole numbers, got {kind}")


def _rows_of(frame: "pl.DataFrame", columns: Sequence[str]) -> Rows:
    import polars as pl  # noqa: PLC0415 - as above

    # Renamed first: polars would take a column's name like "^.*$" for a pattern.
    cells = [frame.get_column(column).alias("cell") for column in columns]
    texts = [cell.cast(pl.String).fill_null("") for cell in cells]
    for start in range(0, frame.height, _SLICE):
        slices = (text.slice(start, _SLICE).to_list() for text in texts)
        yield from enumerate(zip(*slices, strict=True), start + 1)
