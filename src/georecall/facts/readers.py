"""Files in the usual formats become tables of facts; nothing is guessed and nothing changed in silence.

Every cell is text: `NA`, `007` and `1e5` are names. An empty cell, quoted or not, is blank. Fields of CSV and
TSV files may be quoted. Names are brought to the normal form of `names.normalise`.
"""

import os
from pathlib import Path
from typing import get_args

from georecall.errors import GeorecallError, TableError
from georecall.facts.checks import Origin
from georecall.facts.columns import ColumnNames, Form, is_long, long_columns, wide_columns
from georecall.facts.gathering import Gathering
from georecall.facts.names import normalise
from georecall.facts.relation_json import gather_relations
from georecall.facts.reports import ReadReport
from georecall.facts.sheets import OPENERS, Sheet, open_sheet
from georecall.facts.table import FactTable

_RELATIONS = ".json"


def read_table(
    path: str | os.PathLike[str],
    *,
    form: Form = "auto",
    subject: str | None = None,
    relation: str | None = None,
    object: str | None = None,  # noqa: A002 - the name of the column
    allow_missing: bool = False,
) -> tuple[FactTable, ReadReport]:
    """The table in a .csv, .tsv, .jsonl, .ndjson, .parquet or relation .json file, and how reading went.

    `subject`, `relation` and `object` name the columns of a long table, by default after themselves; its
    other columns are ignored. In a wide table `subject` names the column of subjects, by default the first.
    The form "auto" is settled by `columns.is_long`. With `allow_missing` a blank object is a missing fact. A
    file of `FactTable.write_parquet` gives back the table that was written.

    Raises TableError if the file cannot be read as asked; the message names file, line, column and value.
    """
    file = Path(path)
    given = {"subject": subject, "relation": relation, "object": object}
    names = ColumnNames(**{kind: normalise(name) for kind, name in given.items() if name is not None})
    _check(file, form)
    if file.suffix.lower() == _RELATIONS:
        if form != "auto" or names.given:
            raise TableError(f"{file}: expected no form and no column names for a relation-JSON file")
        return gather_relations(file).table(allow_missing=allow_missing)
    sheet = open_sheet(file)
    if form != "wide" and not names.given and _is_written_by_us(file):
        return FactTable.read_parquet(file), ReadReport()
    header = _normal_header(sheet)
    if is_long(header, form, names, source=str(file)):
        return _read_long(sheet, header, names, allow_missing=allow_missing)
    return _read_wide(sheet, header, names, allow_missing=allow_missing)


def _read_long(
    sheet: Sheet, header: list[str], names: ColumnNames, *, allow_missing: bool
) -> tuple[FactTable, ReadReport]:
    columns = long_columns(header, names, source=str(sheet.path))
    subject, relation, answer = names.long
    gathering = Gathering(
        Origin(source=str(sheet.path), unit=sheet.unit, subject=subject, relation=relation, object=answer)
    )
    gathering.add_long(sheet.rows(columns))
    ignored = tuple(name for position, name in enumerate(header) if position not in columns)
    return gathering.table(allow_missing=allow_missing, ignored_columns=ignored)


def _read_wide(
    sheet: Sheet, header: list[str], names: ColumnNames, *, allow_missing: bool
) -> tuple[FactTable, ReadReport]:
    columns = wide_columns(header, names, source=str(sheet.path))
    gathering = Gathering(
        Origin(source=str(sheet.path), unit=sheet.unit, subject=header[columns[0]], relation=None)
    )
    gathering.add_wide([sheet.header[column] for column in columns[1:]], sheet.rows(columns))
    return gathering.table(allow_missing=allow_missing)


def _check(file: Path, form: str) -> None:
    known = (*OPENERS, _RELATIONS)
    if form not in get_args(Form):
        raise TableError(f"expected the form {' or '.join(map(repr, get_args(Form)))}, got {form!r}")
    if not file.exists():
        raise TableError(f"{file}: no such file")
    if not file.is_file():
        raise TableError(f"{file}: expected a file, got a {'directory' if file.is_dir() else 'device'}")
    if file.suffix.lower() not in known:
        raise TableError(f"{file}: expected a file ending in {', '.join(known)}")
    if not file.stat().st_size:
        raise TableError(f"{file}: the file is empty")


def _is_written_by_us(file: Path) -> bool:
    if file.suffix.lower() != ".parquet":
        return False
    from georecall.facts.parquet import is_written_here  # noqa: PLC0415 - most tables are read without it

    return is_written_here(file)


def _normal_header(sheet: Sheet) -> list[str]:
    if not sheet.header:
        raise TableError(f"{sheet.path}: the file has no header")
    if any("\0" in name for name in sheet.header):
        raise TableError(f"{sheet.path}: NUL characters in the header (is the file UTF-16 instead of UTF-8?)")
    try:
        header = [normalise(name) for name in sheet.header]
    except GeorecallError as error:
        raise TableError(f"{sheet.path}, header: {error}") from None
    named = [name for name in header if name]
    if repeated := sorted({name for name in named if named.count(name) > 1}):
        raise TableError(
            f"{sheet.path}, header: column name more than once: {', '.join(map(repr, repeated))}"
        )
    return header
