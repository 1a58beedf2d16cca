"""All that a report consists of, written beside its cells."""

import json
from collections.abc import Sequence
from pathlib import Path

from georecall.claims.claim import Outcome
from georecall.claims.registry import CELLS
from georecall.figures.theme import save_figure
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


def write_report(outcomes: Sequence[Outcome], folder: Path, progress: Progress = no_progress) -> Path:
    """Write outcomes, table, figures and page of one preset; returns the page."""
    listed = [outcome.to_dict() for outcome in outcomes]
    write_text(folder / OUTCOMES, json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
    write_table(results_table(outcomes), folder / TABLE)
    write_table(quantities_table(outcomes), folder / QUANTITIES)
    write_figures(outcomes, folder / FIGURES, progress)
    write_page(outcomes, folder / PAGE)
    return folder / PAGE


def write_figures(outcomes: Sequence[Outcome], folder: Path, progress: Progress = no_progress) -> None:
    """Draw every outcome as PNG and SVG; figures of claims that have no results now are taken away."""
    for place, outcome in enumerate(outcomes):
        progress("figures", place, len(outcomes), outcome.id)
        figure = outcome.figure
        for path in (folder / f"{outcome.id}{suffix}" for suffix in SUFFIXES):
            if figure is None:
                path.unlink(missing_ok=True)
            else:
                save_figure(figure, path)
    progress("figures", len(outcomes), len(outcomes))
