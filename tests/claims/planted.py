"""Results of cells as a claim gets them, with numbers that are planted instead of measured."""

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import Any

from georecall.claims.claim import Claim, Outcome
from georecall.records import Record
from georecall.sweeps import Cell, Measured
from georecall.sweeps.cells import About
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.recall_cell import Parameters

Least = Sequence[int | None]


def measured(cell: Cell, result: Record) -> Measured[Any, Any]:
    """A cell as if it had been measured."""
    return Measured(cell=cell, result=result, about=About(seconds=1.5))


def planted(
    cells: Sequence[CapacityCell], least: Callable[[CapacityCell], Least]
) -> list[Measured[CapacityCell, CapacityResult]]:
    """Searches with these thresholds by seed; that of all is the lower median, None if a seed has none."""
    return [measured(cell, _result(cell, tuple(least(cell)))) for cell in cells]


def _result(cell: CapacityCell, least: Least) -> CapacityResult:
    known = [value for value in least if value is not None]
    threshold = median_low(known) if len(known) == len(least) else None
    parameters = Parameters(trained=2 * cell.n_subjects * (threshold or 0), frozen=0)
    top = max([*known, cell.most_dim if None in least else 1])
    return CapacityResult(
        least=least,
        tried=(1, top),
        monotone=True,
        threshold=threshold,
        recall={1: [0.1] * len(least), top: [1.0] * len(least)},
        questions=cell.n_subjects * cell.n_relations,
        steps=100,
        steps_taken=150,
        parameters=None if threshold is None else parameters,
    )


def outcome(claim: Claim, results: Sequence[Measured[Any, Any]]) -> Outcome:
    """The claim settled by these results."""
    return Outcome(claim=claim, preset="quick", judgement=claim.judge(results), results=tuple(results))
