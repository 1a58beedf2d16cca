"""C9: learned attention needs the same dimension as uniform attention, and new facts can be swapped in as well."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from georecall.claims.capacity_cells import capacity_cell
from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement, verdict_of
from georecall.claims.recipes import JUDGED
from georecall.claims.transfer import C7, accuracy, look, transfer_cell
from georecall.figures.lines import from_zero, lines, ordinal
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured
from georecall.training.capacity import CapacityCell, CapacityResult

WORLD: dict[Preset, tuple[int, int]] = {"quick": (64, 4), "standard": (256, 4), "paper": (1024, 8)}
RATES = (0.01, 0.03)
"""Learning rates at which learned attention trains; uniform attention gets the same."""
RELATIONS = 4
LEARNED = {"attention": "learned"}

Search = Measured[CapacityCell, CapacityResult]


def cells(preset: Preset) -> Sequence[Cell]:
    """A search and a transfer with each attention: uniform, learned, uniform, learned."""
    uniform = capacity_cell(preset, *WORLD[preset]).model_copy(update={"learning_rates": RATES})
    swapped = transfer_cell(preset, JUDGED, RELATIONS)
    learned = swapped.training.model_copy(update=LEARNED)
    return [
        uniform,
        uniform.model_copy(update=LEARNED),
        swapped,
        swapped.model_copy(update={"training": learned}),
    ]


def judge(results: Sequence[Measured[Any, Any]]) -> Judgement:
    """The thresholds must overlap, and both transfers meet their criterion; without thresholds nothing is decided."""
    uniform, learned = searches = results[0], results[1]
    thresholds, transfers = _thresholds(*searches), tuple(map(look, results[2:]))
    swaps = accuracy(results[3]).stated
    return Judgement(
        verdict="undecided" if thresholds.met is None else verdict_of([thresholds, *transfers]),
        key=f"d* {uniform.result.threshold} uniform, {learned.result.threshold} learned; learned swaps {swaps}",
        findings=(thresholds, *transfers),
    )


def _thresholds(uniform: Search, learned: Search) -> Finding:
    """Whether the ranges of d* over seeds overlap."""
    one, other = uniform.result.known, learned.result.known
    censored = uniform.result.censored or learned.result.censored
    return Finding(
        world=f"N = {uniform.cell.n_subjects}, R = {uniform.cell.n_relations}",
        met=None if censored else min(one) <= max(other) and min(other) <= max(one),
        quantities=tuple(
            Quantity(name=f"d* by seed with {search.cell.attention} attention", value=search.result.least)
            for search in (uniform, learned)
        ),
    )


def figure(results: Sequence[Measured[Any, Any]], stamp: str) -> alt.Chart:
    """d* of every seed, by attention."""
    rows = [
        {"attention": search.cell.attention, "d": value, "seed": f"seed {seed}"}
        for search in results[:2]
        for seed, value in enumerate(search.result.least)
    ]
    return lines(
        rows,
        x=ordinal("attention:N", "attention"),
        y=from_zero("d", "least dimension d*"),
        by="seed",
        title="Uniform and learned attention",
        subtitle=stamp,
    )


C9 = Claim(
    id="C9",
    statement="Uniform and learned attention need the same dimension, and let new facts be swapped in alike.",
    source="The paper trains with both; sizes and numbers are ours.",
    criterion=f"The ranges of d* over seeds overlap, and both meet the criterion of {C7.id}",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(36.2), "standard": Time(188.0), "paper": Time(2200.0, "estimated")},
)
