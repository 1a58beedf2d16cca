"""A table of facts as one Parquet file that other programs can open and read.

Text columns subject, relation, object. First a row for every subject and relation, subject by subject, with a
null object where the answer is missing; then a row for every attribute, in order, with null subject and
relation. The metadata key `georecall` holds the digest of the table, so a file that was changed is refused.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from georecall.errors import TableError
from georecall.facts.parquet_files import first_line, read_frame, read_metadata
from georecall.facts.table import FactTable

if TYPE_CHECKING:
    import polars as pl

_MARK = "georecall"


def write_parquet(table: FactTable, path: str | os.PathLike[str]) -> None:
    """Write a table in the layout above."""
    import polars as pl  # noqa: PLC0415 - takes as long to import as all of facts

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
    with Path(path).open("wb") as file:
        rows.write_parquet(file, compression_level=1, metadata={_MARK: table.digest()})


def is_written_here(path: Path) -> bool:
    """Whether a Parquet file bears the mark of `write_parquet`."""
    return _MARK in read_metadata(path)


def read_parquet(path: str | os.PathLike[str]) -> FactTable:
    """The identical table from a file of `write_parquet`.

    Raises TableError if the file did not come from `write_parquet`, or was changed since.
    """
    import polars as pl  # noqa: PLC0415 - as above

    file = Path(path)
    digest = read_metadata(file).get(_MARK)
    if digest is None:
        raise TableError(f"{file}: expected a file of write_parquet; read_table reads other Parquet files")
    rows = read_frame(file)
    try:
        table = _table_of(rows)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise TableError(f"{file}: not as write_parquet left it: {first_line(error)}") from None
    if table.digest() != digest:
        raise TableError(
            f"{file}: not as write_parquet left it: expected digest {digest!r:.70}, got {table.digest()}"
        )
    return table


def _table_of(rows: "pl.DataFrame") -> FactTable:
    import polars as pl  # noqa: PLC0415 - as above

    if rows.schema != dict.fromkeys(("subject", "relation", "object"), pl.String):
        raise ValueError(f"expected text columns subject, relation and object, got {rows.schema}")
    is_fact = rows.get_column("subject").is_not_null()
    facts, attributes = rows.filter(is_fact), rows.filter(~is_fact).select("object")
    runs = facts.get_column("subject").rle().struct.field("len")
    n_relations = runs.item(0) if len(runs) else 1
    subjects = facts.get_column("subject").gather_every(n_relations)
    relations = facts.get_column("relation").head(n_relations)
    if relations.null_count() or attributes.null_count().item():
        raise ValueError("a fact without a relation, or an attribute without a name")
    numbered = attributes.with_row_index("answer")
    answers = facts.join(numbered, on="object", how="left", maintain_order="left").get_column("answer")
    return FactTable(
        subjects=tuple(subjects),
        relations=tuple(relations),
        attributes=tuple(attributes.get_column("object")),
        answers=answers.cast(pl.Int64).fill_null(-1).to_numpy().reshape(len(subjects), len(relations)),
    )
