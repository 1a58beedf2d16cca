"""Files of columns and rows in which every cell is text: CSV, TSV, JSON lines and Parquet."""

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from georecall.errors import TableError
from georecall.facts.checks import refuse
from georecall.facts.json_text import cell_text, parse

Rows = Iterator[tuple[int, Sequence[str]]]
_SLICE = 100_000


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The header of a file, and `rows`, which yields some of the columns (two or more) of every row, once.

    A row comes with its number: the line on which it starts (the header is line 1) or, in Parquet, its place
    counted from 1. A missing value is an empty text.
    """

    path: Path
    header: tuple[str, ...]
    rows: Callable[[Sequence[int]], Rows]
    unit: str = "line"


def open_sheet(path: Path) -> Sheet:
    """The sheet in a file, by the file's extension, one of `OPENERS`.

    Raises TableError if the file is not of its kind, at once or when the row at fault is reached.
    """
    return OPENERS[path.suffix.lower()](path)


def not_utf8(path: Path) -> TableError:
    """The error that names the line and the byte at which a file ceases to be UTF-8."""
    data = path.read_bytes()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = len((data[: error.start] + b".").splitlines())
        place = f"line {line}, byte offset {error.start}"
        return TableError(f"{path}, {place}: expected UTF-8, got the byte 0x{data[error.start]:02x}")
    return TableError(f"{path}: expected UTF-8")


def _open_separated(path: Path, delimiter: str) -> Sheet:
    records = _records(path, delimiter)
    _, header = next(records, (0, []))

    def rows(columns: Sequence[int]) -> Rows:
        pick = itemgetter(*columns)
        ragged = []
        for line, record in records:
            if len(record) == len(header):
                yield line, pick(record)
            else:
                ragged.append(f"line {line}: {len(record)} fields: {', '.join(map(repr, record))}")
        if ragged:
            refuse(str(path), f"expected {len(header)} fields, as in the header", ragged)

    return Sheet(path=path, header=tuple(header), rows=rows)


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every record and the line on which it starts; lines with nothing on them are skipped."""
    start = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for record in reader:
                if record:
                    yield start, record
                start = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{path}, line {start}: {error} (is a quotation mark amiss?)") from None
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _open_json_lines(path: Path) -> Sheet:
    first = next(_json_objects(path), (0, {}))[1]
    header = tuple(first)

    def rows(columns: Sequence[int]) -> Rows:
        keys = [header[column] for column in columns]
        ragged, nested = [], []
        for line, record in _json_objects(path):
            if record.keys() != first.keys():
                ragged.append(f"line {line}: {', '.join(map(repr, record))}")
                continue
            cells = [cell_text(record[key]) for key in keys]
            texts = [cell for cell in cells if cell is not None]
            if len(texts) == len(cells):
                yield line, texts
            else:
                nested.append(f"line {line}, column {keys[cells.index(None)]!r}")
        if ragged:
            refuse(
                str(path), f"expected the keys {', '.join(map(repr, header))}, as in the first line", ragged
            )
        if nested:
            refuse(str(path), "expected text, a number, true, false or null; got an array or object", nested)

    return Sheet(path=path, header=header, rows=rows)


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every JSON object and its line; blank lines are skipped."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for line, text in enumerate(file, 1):
                if not text.isspace():
                    record = parse(text.rstrip(), path=path, line=line)
                    if not isinstance(record, dict):
                        raise TableError(
                            f"{path}, line {line}: expected a JSON object, got {text.strip():.60}"
                        )
                    yield line, record
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _open_parquet(path: Path) -> Sheet:
    import polars as pl  # noqa: PLC0415 - most tables are read without it

    try:
        schema = pl.read_parquet_schema(path)
    except pl.exceptions.PolarsError as error:
        raise TableError(f"{path}: expected a Parquet file: {error}") from None
    header = tuple(schema)

    def rows(columns: Sequence[int]) -> Rows:
        for column in (header[number] for number in columns):
            kind = schema[column]
            if not (kind.is_integer() or isinstance(kind, pl.String | pl.Categorical | pl.Enum | pl.Null)):
                raise TableError(f"{path}, column {column!r}: expected text or whole numbers, got {kind}")
        try:
            frame = pl.read_parquet(path, columns=sorted(columns))
        except pl.exceptions.PolarsError as error:
            raise TableError(f"{path}: expected a whole Parquet file: {error}") from None
        # Renamed first: polars would take a column's name like "^.*$" for a pattern.
        cells = [frame.get_column(header[number]).alias("cell") for number in columns]
        texts = [cell.cast(pl.String).fill_null("") for cell in cells]
        for start in range(0, frame.height, _SLICE):
            slices = (text.slice(start, _SLICE).to_list() for text in texts)
            yield from enumerate(zip(*slices, strict=True), start + 1)

    return Sheet(path=path, header=header, rows=rows, unit="row")


OPENERS: dict[str, Callable[[Path], Sheet]] = {
    ".csv": partial(_open_separated, delimiter=","),
    ".tsv": partial(_open_separated, delimiter="\t"),
    ".jsonl": _open_json_lines,
    ".ndjson": _open_json_lines,
    ".parquet": _open_parquet,
}
