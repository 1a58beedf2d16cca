"""What is read from a file of columns and rows, whatever its format: a header and rows of text."""

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from georecall.errors import TableError

Rows = Iterator[tuple[int, Sequence[str]]]

MAX_COLUMNS = 100_000

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, kw_only=True)
class TabularFile:
    """The header of a file, and `rows`, which yields some of the columns (two or more) of every row, once.

    A row comes with its number: the line on which it starts (the header is line 1) or, in Parquet, its place
    counted from 1. A missing value is an empty text. The `separator` is None where the format itself says what
    the columns are called; otherwise the first line is a header by convention alone.
    """

    path: Path
    header: tuple[str, ...]
    rows: Callable[[Sequence[int]], Rows]
    unit: str = "line"
    separator: str | None = None


def check_width(path: Path, columns: int) -> None:
    """Refuse more than 100,000 columns: a table has as many relations, or as many subjects if it is transposed."""
    if columns > MAX_COLUMNS:
        raise TableError(f"{path}: expected at most {MAX_COLUMNS:,} columns, got {columns:,}")


def not_utf8(path: Path) -> TableError:
    """The error that names the line and the byte at which a file ceases to be UTF-8."""
    data = path.read_bytes()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = len((data[: error.start] + b".").splitlines())
        place = f"line {line}, byte offset {error.start}"
        hint = " (is the file UTF-16?)" if data.startswith(_UTF16) else ""
        return TableError(f"{path}, {place}: expected UTF-8, got the byte 0x{data[error.start]:02x}{hint}")
    return TableError(f"{path}: expected UTF-8")
