"""JSON lines: an object in each line, all with the same keys."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from georecall.errors import TableError
from georecall.facts.checks import listed, refuse
from georecall.facts.json_text import cell_text, parse
from georecall.facts.tabular_files import Rows, TabularFile, check_width, not_utf8


def open_json_lines(path: Path) -> TabularFile:
    """A file of JSON lines; numbers keep their literal digits.

    Raises TableError if the file is not of its kind, at once or when the row at fault is reached.
    """
    first = next(_objects(path), (0, {}))[1]
    header = tuple(first)
    check_width(path, len(header))

    def rows(columns: Sequence[int]) -> Rows:
        keys = [header[column] for column in columns]
        ragged, nested = [], []
        for line, record in _objects(path):
            if record.keys() != first.keys():
                ragged.append(f"line {line}: {listed(record)}")
                continue
            cells = [cell_text(record[key]) for key in keys]
            texts = [cell for cell in cells if cell is not None]
            if len(texts) == len(cells):
                yield line, texts
            else:
                nested.append(f"line {line}, column {keys[cells.index(None)]!r}")
        if ragged:
            refuse(str(path), f"expected the keys {listed(header)}, as in the first line", ragged)
        if nested:
            refuse(str(path), "expected text, a number, true, false or null; got an array or object", nested)

    return TabularFile(path=path, header=header, rows=rows)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
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
