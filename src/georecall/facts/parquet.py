"""A table of facts as one Parquet file that other programs can open and read.

Text columns subject, relation, object. First a row for every subject and relation, subject by subject, with a
null object where the answer is missing; then a row for every attribute, in order, with null subject and
relation. The metadata key `georecall` holds the digest of the table, so a file that was changed is refused.
"""

from pathlib import Path

import numpy as np
import polars as pl

from georecall.errors import TableError
from georecall.facts.table import FactTable

_MARK = "georecall"


def write(table: FactTable, path: Path) -> None:
    """Write a table in the layout above."""
    n_subjects, n_relations = table.answers.shape
    answers = pl.Series(table.answers.reshape(-1))
    attributes = pl.Series(table.attributes, dtype=pl.String)
    facts = pl.DataFrame(
        {
            "subject": pl.Series(table.subjects)[np.repeat(np.arange(n_subjects), n_relations)],
            "relation": pl.Series(table.relations)[np.tile(np.arange(n_relations), n_subjects)],
            "object": attributes.gather(answers.set(answers < 0, None)),
        }
    )
    rows = pl.concat([facts, pl.DataFrame({"object": attributes})], how="diagonal")
    rows.write_parquet(path, compression_level=1, metadata={_MARK: table.digest()})


def is_written_here(path: Path) -> bool:
    """Whether a Parquet file bears the mark of `write`."""
    return _MARK in pl.read_parquet_metadata(path)


def read(path: Path) -> FactTable:
    """The identical table from a file of `write`.

    Raises TableError if the file did not come from `write`, or was changed since.
    """
    try:
        digest = pl.read_parquet_metadata(path).get(_MARK)
        rows = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise TableError(f"{path}: expected a Parquet file: {error}") from None
    if digest is None:
        raise TableError(f"{path}: expected a file of write_parquet; from_file reads other Parquet files")
    try:
        table = _table_of(rows)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise TableError(f"{path}: not as write_parquet left it: {error}") from None
    if table.digest() != digest:
        raise TableError(
            f"{path}: not as write_parquet left it: expected digest {digest}, got {table.digest()}"
        )
    return table


def _table_of(rows: pl.DataFrame) -> FactTable:
    is_fact = rows.get_column("subject").is_not_null()
    facts, attributes = rows.filter(is_fact), rows.filter(~is_fact).select("object")
    subjects = facts.get_column("subject").unique(maintain_order=True)
    relations = facts.get_column("relation").unique(maintain_order=True)
    numbered = attributes.with_row_index("answer")
    answers = facts.join(numbered, on="object", how="left", maintain_order="left").get_column("answer")
    return FactTable(
        subjects=tuple(subjects),
        relations=tuple(relations),
        attributes=tuple(attributes.get_column("object")),
        answers=answers.cast(pl.Int64).fill_null(-1).to_numpy().reshape(len(subjects), len(relations)),
    )
