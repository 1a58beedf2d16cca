"""C8: what depth costs a trained model, with all hops at once or with a chain of thought."""

from collections.abc import Sequence

import altair as alt

from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.figures.lines import from_zero, lines, ordinal
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.config import Mode

WORLD: dict[Preset, tuple[int, int]] = {"quick": (16, 3), "standard": (32, 4), "paper": (64, 4)}
BUDGET: dict[Preset, tuple[int, int, int]] = {
    "quick": (500, 2000, 48),
    "standard": (500, 4000, 96),
    "paper": (1000, 8000, 256),
}
"""Passes over the questions, steps at least, and the largest d tried."""
HOPS = (1, 2, 3)
RATES = (0.003, 0.01)
MODES: dict[Mode, str] = {"direct": "at once", "cot": "by chain of thought"}
Results = Sequence[Measured[CapacityCell, CapacityResult]]
Thresholds = dict[int, int | None]
"""d* for each number of hops, None where it was not found."""
FLAT = 1.5
"""At most so much larger is d* for the most hops than for one, to count as nearly flat."""


def _cell(preset: Preset, hops: int, mode: Mode) -> CapacityCell:
    n_subjects, n_relations = WORLD[preset]
    passes, least_steps, most_dim = BUDGET[preset]
    return CapacityCell(
        n_subjects=n_subjects,
        n_relations=n_relations,
        hops=hops,
        mode=mode,
        attention="learned",
        heads=hops if mode == "direct" else 1,
        residual=True,
        passes=passes,
        least_steps=least_steps,
        learning_rates=RATES,
        most_dim=most_dim,
    )


def cells(preset: Preset) -> Sequence[Cell]:
    """Every number of hops in both modes; one hop is the same in both."""
    direct = [_cell(preset, hops, "direct") for hops in HOPS]
    return [*direct, *(_cell(preset, hops, "cot") for hops in HOPS[1:])]


def thresholds(results: Results, mode: Mode) -> Thresholds:
    """d* for each number of hops."""
    return {
        search.cell.hops: search.result.threshold
        for search in results
        if search.cell.mode == mode or search.cell.hops == 1
    }


def judge(results: Results) -> Judgement:
    """By how many times d* grows from one hop to the most, in both modes."""
    cell = results[0].cell
    found = {mode: thresholds(results, mode) for mode in MODES}
    finding = Finding(
        world=f"N = {cell.n_subjects}, R = {cell.n_relations}, d up to {cell.most_dim}",
        met=_met(found["direct"], found["cot"], most=cell.most_dim, wanted=wanted(cell.n_relations)),
        quantities=(
            *(quantity for mode in MODES for quantity in _stated(found[mode], mode, most=cell.most_dim)),
            Quantity(name=f"R^{HOPS[-1] - 1}", value=cell.n_relations ** (HOPS[-1] - 1)),
        ),
    )
    grown = {name: _grown(found[mode]) for mode, name in MODES.items()}
    said = ", ".join(f"{'not learned' if g is None else f'{g:.1f}'} {name}" for name, g in grown.items())
    return Judgement.of([finding], key=f"d* for k = {HOPS[-1]} over k = 1: {said}")


def wanted(n_relations: int) -> float:
    """By how many times d* must grow at once."""
    return n_relations ** (HOPS[-1] - 1) / 2


def _met(direct: Thresholds, chain: Thresholds, *, most: int, wanted: float) -> bool | None:
    """A d* that was not found is above all tried; without one for one hop, nothing can be said."""
    first, at_once, step_by_step = direct[1], direct[HOPS[-1]], chain[HOPS[-1]]
    if first is None:
        return None
    grows = at_once is None or at_once >= wanted * first
    if grows and step_by_step is not None and step_by_step <= FLAT * first:
        return True
    return None if at_once is None or at_once > (step_by_step or most) else False


def _grown(found: Thresholds) -> float | None:
    """How many times as much the most hops need as one; None where one of the two was not learned."""
    first, last = found[1], found[HOPS[-1]]
    return None if first is None or last is None else last / first


def _stated(found: Thresholds, mode: Mode, *, most: int) -> tuple[Quantity, Quantity]:
    """d* for each number of hops, and how many times the first the last is, or at least is."""
    name, first, last = MODES[mode], found[1], found[HOPS[-1]]
    times = None if first is None else (last or most) / first
    over = f"k = {HOPS[-1]} over k = 1 {name}{', more than' if first and last is None else ''}"
    return (
        Quantity(name=f"d* for k = {', '.join(map(str, HOPS))} {name}", value=tuple(found.values())),
        Quantity(name=over, value=times, form=".1f"),
    )


def figure(results: Results, stamp: str) -> alt.Chart:
    """d* against k, all hops at once and with a chain of thought."""
    names = {"direct": "all hops at once", "cot": "chain of thought"}
    rows = [
        {"k": search.cell.hops, "d": search.result.threshold, "mode": name}
        for mode, name in names.items()
        for search in results
        if search.cell.mode == mode or search.cell.hops == 1
    ]
    return lines(
        rows,
        x=ordinal("k:O", "hops k"),
        y=from_zero("d", "least dimension d*"),
        by="mode",
        title="What depth costs a trained model",
        subtitle=stamp,
    )


C8 = Claim(
    id="C8",
    statement="Asked for k hops at once, training needs a dimension that grows like R^k; with a chain of thought it "
    "stays nearly flat.",
    source="The paper claims d = Õ(R^k) without and Õ(R + k) with a chain of thought; sizes and numbers are ours.",
    criterion=f"d* for k = {HOPS[-1]} over that for k = 1: at least R^{HOPS[-1] - 1}/2 at once, or not learned at "
    f"any d tried; at most {FLAT} with a chain of thought; undecided if it only grows more at once",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(105.9), "standard": Time(250.0), "paper": Time(910.0, "estimated")},
)
