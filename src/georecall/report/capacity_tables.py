"""Every run of a capacity sweep as a table for the user's own analysis."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from georecall.report.results_table import write_table
from georecall.sweeps import Measured
from georecall.training.capacity import CapacityCell, CapacityResult

SETTINGS = (
    *("n_subjects", "n_relations", "freeze", "width", "attention", "heads", "hops", "mode", "residual"),
    *("target", "passes", "least_steps", "batch", "learning_rates", "world_seed"),
)


def tried(results: Sequence[Measured[CapacityCell, CapacityResult]]) -> pl.DataFrame:
    """A row for every world, d tried and seed: the recall reached, and the seed's least d that reached the target."""
    rows = [
        world.cell.model_dump(mode="json", include=set(SETTINGS))
        | {
            "steps": world.result.steps,
            "censored": world.result.censored,
            "threshold": world.result.threshold,
        }
        | {"dim": dim, "seed": seed, "recall": share, "least_of_seed": world.result.least[seed]}
        for world in results
        for dim, shares in world.result.recall.items()
        for seed, share in enumerate(shares)
    ]
    least = {"threshold": pl.Int64, "least_of_seed": pl.Int64}  # which may be unknown in every row
    return pl.DataFrame(rows, schema_overrides=least, infer_schema_length=None)


def write_tried(results: Sequence[Measured[CapacityCell, CapacityResult]], path: Path) -> None:
    """Write the table as Parquet."""
    write_table(tried(results), path)
