"""CSV and TSV files, in which fields may be quoted, read exactly or refused."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path

from georecall.errors import TableError
from georecall.facts.checks import listed, refuse
from georecall.facts.tabular_files import Rows, TabularFile, check_width, not_utf8

WITHOUT_HEADER = ("subject", "relation", "object")
"""What the fields of a file without a header are: a fact in each line."""

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}

_LOOKED_AT = 20
_LINE_END = re.compile("\r\n|\r|\n")

csv.field_size_limit(
    2**31 - 1
)  # a limit for the whole process, of 131,072 characters, that no other format has


def open_separated(path: Path, separator: str, *, has_header: bool = True) -> TabularFile:
    """A CSV or TSV file; without a header it has the three columns `WITHOUT_HEADER`.

    Raises TableError if the file is not of its kind, at once or when the row at fault is reached.
    """
    records = _records(path, separator)
    _, header = next(records, (0, [])) if has_header else (0, WITHOUT_HEADER)
    check_width(path, len(header))

    def rows(columns: Sequence[int]) -> Rows:
        pick = itemgetter(*columns)
        ragged = []
        for line, record in records:
            if len(record) == len(header):
                yield line, pick(record)
            else:
                ragged.append(f"line {line}: {len(record)} fields: {listed(record)}")
        if ragged:
            why = "as in the header" if has_header else "a subject, a relation and an object"
            refuse(str(path), f"expected {len(header)} fields, {why}", ragged)

    return TabularFile(path=path, header=tuple(header), rows=rows, separator=separator)


def other_separator(path: Path, separator: str) -> str | None:
    """A separator other than the one assumed that splits the first lines of a file into equally many fields."""
    for other in SEPARATORS.keys() - {separator}:
        try:
            widths = [len(record) for _, record in islice(_records(path, other), _LOOKED_AT)]
        except TableError:
            continue
        if len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1:
            return other
    return None


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every record and the line on which it starts; lines with nothing on them are skipped."""
    start = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator, strict=True)
            for record in reader:
                if reader.line_num > start:
                    _refuse_swallowed_rows(path, start, record, separator)
                if record:
                    yield start, record
                start = reader.line_num + 1
    except csv.Error as error:
        raise TableError(f"{path}, line {start}: {error} (is a quotation mark amiss?)") from None
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def _refuse_swallowed_rows(path: Path, line: int, record: list[str], separator: str) -> None:
    """Refuse a quoted field that was closed in a later row: then it holds the rows between, and parts of both."""
    for position, field in enumerate(record):
        if len(record) > 1 and _holds_rows(field, position, len(record), separator):
            raise TableError(
                f"{path}, line {line}, field {position + 1}: a quoted field that holds rows of the table, "
                f"{field!r:.60}: is a quotation mark amiss? (JSON lines can hold such a name)"
            )


def _holds_rows(field: str, position: int, width: int, separator: str) -> bool:
    """Whether a field is the end of one row, whole rows, and the beginning of another."""
    lines = [text.split(separator) for text in _LINE_END.split(field)]
    first, between, last = lines[0], lines[1:-1], lines[-1]
    if len(lines) == 1 or (len(first), len(last)) != (width - position, position + 1):
        return False
    whole = chain(first[1:], *between, last[:-1])
    return all(len(cells) == width for cells in between) and all(
        cell and not cell[0].isspace() for cell in whole
    )
