"""What settles the claims, and the results of all cells, as tables for those who go on with the numbers."""

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from georecall.claims.claim import Outcome
from georecall.claims.status import CellStatus
from georecall.statistics.quantities import Quantity
from georecall.storage.files import write_bytes

Row = dict[str, Any]
SIZES = ("n_subjects", "n_relations", "hops")
ENVIRONMENT = ("georecall", "torch", "numpy", "python", "machine", "date")
SCHEMA: dict[str, type[pl.DataType] | pl.DataType] = {
    "claim": pl.String,
    "preset": pl.String,
    "kind": pl.String,
    "key": pl.String,
    "state": pl.String,
    **dict.fromkeys(SIZES, pl.Int64),
    "seconds": pl.Float64,
    **dict.fromkeys(ENVIRONMENT, pl.String),
    "failure": pl.String,
    "config": pl.String,
    "numbers": pl.List(pl.Struct({"name": pl.String, "value": pl.Float64})),
}


QUANTITIES: dict[str, type[pl.DataType] | pl.DataType] = {
    "claim": pl.String,
    "preset": pl.String,
    "verdict": pl.String,
    "world": pl.String,
    "met": pl.Boolean,
    "judged": pl.Boolean,
    "quantity": pl.String,
    "control": pl.String,
    "values": pl.List(pl.Float64),
    "low": pl.Float64,
    "high": pl.Float64,
    "words": pl.String,
}


def quantities_table(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """A row for each quantity that settles a claim, and for each control beside it; `control` is null for the first."""
    rows = [
        {"claim": outcome.id, "preset": outcome.preset, "verdict": outcome.verdict}
        | {"world": finding.world, "met": finding.met, "judged": finding.judged}
        | {"quantity": quantity.name, "control": None if stated is quantity else stated.name}
        | _stated(stated)
        for outcome in outcomes
        for finding in outcome.judgement.findings
        for quantity in finding.quantities
        for stated in (quantity, *quantity.controls)
    ]
    return pl.DataFrame(rows, schema=QUANTITIES)


def _stated(quantity: Quantity) -> Row:
    values = quantity.value if isinstance(quantity.value, tuple) else (quantity.value,)
    low, high = quantity.interval or (None, None)
    numbers = [None if value is None else float(value) for value in values]
    return {"values": numbers, "low": low, "high": high, "words": quantity.stated}


def results_table(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """A row for each cell of each claim; `config` is JSON, `numbers` are the numbers of the result by their places.

    In long form: `table.explode("numbers").unnest("numbers")`.
    """
    return pl.DataFrame(
        [_row(outcome, cell) for outcome in outcomes for cell in outcome.cells], schema=SCHEMA
    )


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table as Parquet."""
    content = BytesIO()
    table.write_parquet(content)
    write_bytes(path, content.getvalue())


def _row(outcome: Outcome, cell: CellStatus) -> Row:
    config, measured = cell.cell.config, cell.measured
    numbers = {} if measured is None else measured.result.to_dict()
    return {
        "claim": outcome.id,
        "preset": outcome.preset,
        "kind": config["kind"],
        "key": cell.cell.key,
        "state": cell.state,
        **{name: config.get(name) for name in SIZES},
        "seconds": None if measured is None else measured.about.seconds,
        **{name: cell.environment.get(name) for name in ENVIRONMENT},
        "failure": None if cell.failure is None else cell.failure.summary,
        "config": json.dumps(config, ensure_ascii=False),
        "numbers": [{"name": name, "value": float(value)} for name, value in numbers_of(numbers)],
    }


def numbers_of(value: Any, name: str = "") -> Iterator[tuple[str, int | float]]:
    """The numbers in a result with their places in it, such as `dissection.readout.chance`; false is 0."""
    if isinstance(value, int | float):
        yield name, value
    elif isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from numbers_of(part, f"{name}.{key}" if name else str(key))
