"""All that a report consists of, written beside its cells."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from altair.typing import ChartType

from georecall.claims.claim import Outcome
from georecall.claims.registry import CELLS
from georecall.figures.saving import save_figures
from georecall.progress import Progress, no_progress
from georecall.report.page import write_page
from georecall.report.results_table import quantities_table, results_table, write_table
from georecall.storage.files import write_text
from georecall.storage.kinds import Kind, has
from georecall.sweeps.plan import SWEEP

SUFFIXES = (".png", ".svg")
OUTCOMES, TABLE, QUANTITIES = "results.json", "results.parquet", "quantities.parquet"
FIGURES, PAGE = "figures", "index.html"

REPORT = Kind(
    name="a report",
    markers=(OUTCOMES, f"{CELLS}/{SWEEP}"),
    is_ours=lambda content: (
        has("workers", "cells")(content)
        or (isinstance(content, list) and all(map(has("id", "verdict", "measured"), content)))
    ),
)
"""A report is told by its outcomes, or before it has any by the plan of its cells."""


def write_report(
    outcomes: Sequence[Outcome], folder: Path, progress: Progress = no_progress
) -> tuple[str, ...]:
    """Write outcomes, table, page and figures of one preset; returns what went wrong with figures, a line for each.

    Figures come last, so that whatever becomes of them the results are there.
    """
    listed = [outcome.to_dict() for outcome in outcomes]
    write_text(folder / OUTCOMES, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    write_table(results_table(outcomes), folder / TABLE)
    write_table(quantities_table(outcomes), folder / QUANTITIES)
    write_page(outcomes, folder / PAGE)
    return write_figures(outcomes, folder / FIGURES, progress)


def write_figures(
    outcomes: Sequence[Outcome], folder: Path, progress: Progress = no_progress
) -> tuple[str, ...]:
    """Draw every outcome as PNG and SVG; figures of claims that have no results now are taken away."""
    faults: list[str] = []
    for place, outcome in enumerate(outcomes):
        progress("figures", place, len(outcomes), outcome.id)
        draw = partial(_drawn, outcome)
        faults += save_figures(draw, folder, names=[outcome.id], suffixes=SUFFIXES)
    progress("figures", len(outcomes), len(outcomes))
    return tuple(faults)


def _drawn(outcome: Outcome) -> dict[str, ChartType | None]:
    return {outcome.id: outcome.figure}
