"""Files in the usual formats become tables of facts; nothing is guessed and nothing changed in silence.

Every cell is text: `NA`, `007` and `1e5` are names. An empty cell, quoted or not, is blank. Fields of CSV and
TSV files may be quoted. Names are brought to the normal form of `names.normalise`.
"""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from georecall.errors import GeorecallError, TableError
from georecall.facts.checks import Origin, listed
from georecall.facts.columns import ColumnNames, Form, is_long, long_columns, wide_columns
from georecall.facts.header_doubts import refuse_facts_as_header, refuse_other_formats, refuse_repeated_header
from georecall.facts.json_lines import open_json_lines
from georecall.facts.names import normalise
from georecall.facts.parquet_files import open_parquet
from georecall.facts.relation_json import read_relations
from georecall.facts.reports import ReadReport
from georecall.facts.separated_text import open_separated
from georecall.facts.table import FactTable
from georecall.facts.table_builder import TableBuilder
from georecall.facts.table_files import is_written_here, read_parquet
from georecall.facts.tabular_files import TabularFile

_RELATIONS, _PARQUET = ".json", ".parquet"
_SEPARATED = {".csv": ",", ".tsv": "\t"}
_OPENERS: dict[str, Callable[[Path], TabularFile]] = {
    **{suffix: partial(open_separated, separator=separator) for suffix, separator in _SEPARATED.items()},
    ".jsonl": open_json_lines,
    ".ndjson": open_json_lines,
    _PARQUET: open_parquet,
}


def read_table(path: str | os.PathLike[str], **options: Any) -> FactTable:
    """The table in a file; the options are those of `read_with_report`, whose notes become warnings."""
    table, report = read_with_report(path, **options)
    for note in report.notes():
        warnings.warn(f"{os.fspath(path)}: {note}", stacklevel=2)
    return table


def read_with_report(
    path: str | os.PathLike[str],
    *,
    form: Form = "auto",
    subject: str | None = None,
    relation: str | None = None,
    object: str | None = None,  # noqa: A002 - the name of the column
    has_header: bool = True,
    allow_missing: bool = False,
) -> tuple[FactTable, ReadReport]:
    """The table in a .csv, .tsv, .jsonl, .ndjson, .parquet or relation .json file, and how reading went.

    `subject`, `relation` and `object` name the columns of a long table, by default after themselves; its
    other columns are ignored. In a wide table `subject` names the column of subjects, by default the first.
    The form "auto" is settled by `columns.is_long`. A CSV or TSV file that has no header holds a subject, a
    relation and an object in each line. With `allow_missing` a blank object is a missing fact. A file of
    `write_parquet` gives back the table that was written.

    Raises TableError if the file cannot be read as asked; the message names file, line, column and value.
    """
    file = Path(path)
    given = {"subject": subject, "relation": relation, "object": object}
    names = ColumnNames(**{kind: normalise(name) for kind, name in given.items() if name is not None})
    suffix = _checked_suffix(file, form)
    asks_for_columns = form != "auto" or names.given
    if not has_header:
        return _read_triples(file, suffix, asks_for_columns=asks_for_columns, allow_missing=allow_missing)
    if suffix == _RELATIONS:
        if asks_for_columns:
            raise TableError(f"{file}: expected no form and no column names for a relation-JSON file")
        return _built(read_relations(file), allow_missing=allow_missing)
    if suffix == _PARQUET and form != "wide" and not names.given and is_written_here(file):
        return read_parquet(file), ReadReport()
    tabular = _OPENERS[suffix](file)
    header = _normal_header(tabular)
    if is_long(header, form, names, source=str(file)):
        return _read_long(tabular, header, names, allow_missing=allow_missing)
    return _read_wide(tabular, header, form, names, allow_missing=allow_missing)


def _read_triples(
    file: Path, suffix: str, *, asks_for_columns: bool, allow_missing: bool
) -> tuple[FactTable, ReadReport]:
    """The table in a file without a header."""
    if suffix not in _SEPARATED:
        raise TableError(f"{file}: expected a .csv or .tsv file without a header; others name what they hold")
    if asks_for_columns:
        raise TableError(f"{file}: expected no form and no column names for a file without a header")
    tabular = open_separated(file, _SEPARATED[suffix], has_header=False)
    return _read_long(tabular, tabular.header, ColumnNames(), allow_missing=allow_missing)


def _read_long(
    tabular: TabularFile, header: Sequence[str], names: ColumnNames, *, allow_missing: bool
) -> tuple[FactTable, ReadReport]:
    columns = long_columns(header, names, source=str(tabular.path))
    subject, relation, answer = names.long
    builder = TableBuilder(
        Origin(source=str(tabular.path), unit=tabular.unit, subject=subject, relation=relation, object=answer)
    )
    builder.add_long(tabular.rows(columns))
    if tabular.separator:
        refuse_repeated_header(builder.coded())
    return _built(builder, allow_missing=allow_missing, ignored_columns=_without(header, columns))


def _read_wide(
    tabular: TabularFile, header: Sequence[str], form: Form, names: ColumnNames, *, allow_missing: bool
) -> tuple[FactTable, ReadReport]:
    if tabular.separator and names.subject is None:
        refuse_other_formats(tabular)
    columns = wide_columns(header, names, source=str(tabular.path))
    builder = TableBuilder(
        Origin(source=str(tabular.path), unit=tabular.unit, subject=header[columns[0]], relation=None)
    )
    builder.add_wide([tabular.header[column] for column in columns[1:]], tabular.rows(columns))
    if tabular.separator:
        refuse_repeated_header(builder.coded())
        if form == "auto" and names.subject is None:
            refuse_facts_as_header(builder.coded())
    return _built(builder, allow_missing=allow_missing, ignored_columns=_without(header, columns))


def _without(header: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    """The names of the columns that are left."""
    read = set(columns)
    return tuple(name for position, name in enumerate(header) if position not in read)


def _built(
    builder: TableBuilder, *, allow_missing: bool, ignored_columns: tuple[str, ...] = ()
) -> tuple[FactTable, ReadReport]:
    content, report = builder.build(allow_missing=allow_missing, ignored_columns=ignored_columns)
    return FactTable(*content), report


def _checked_suffix(file: Path, form: str) -> str:
    known = (*_OPENERS, _RELATIONS)
    suffix = file.suffix.lower()
    if form not in get_args(Form):
        raise TableError(f"expected the form {' or '.join(map(repr, get_args(Form)))}, got {form!r}")
    if not file.exists():
        raise TableError(f"{file}: no such file")
    if not file.is_file():
        raise TableError(f"{file}: expected a file, got a {'directory' if file.is_dir() else 'device'}")
    if suffix not in known:
        raise TableError(f"{file}: expected a file ending in {', '.join(known)}")
    if not file.stat().st_size:
        raise TableError(f"{file}: the file is empty")
    return suffix


def _normal_header(tabular: TabularFile) -> list[str]:
    path = tabular.path
    if not tabular.header:
        raise TableError(f"{path}: the file has no header")
    if any("\0" in name for name in tabular.header):
        raise TableError(f"{path}: NUL characters in the header (is the file UTF-16 instead of UTF-8?)")
    try:
        header = [normalise(name) for name in tabular.header]
    except GeorecallError as error:
        raise TableError(f"{path}, header: {error}") from None
    repeated = sorted(name for name, times in Counter(header).items() if name and times > 1)
    if repeated:
        raise TableError(f"{path}, header: column name more than once: {listed(repeated)}")
    return header
