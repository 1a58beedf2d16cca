"""Results of capacity cells as a claim gets them, with thresholds that are planted instead of measured."""

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import Any

from georecall.claims.claim import Claim, Outcome
from georecall.training.capacity import CapacityCell

Least = Sequence[int | None]


def planted(cells: Sequence[CapacityCell], least: Callable[[CapacityCell], Least]) -> list[dict[str, Any]]:
    """Configs and results; a threshold is the lower median, None if a seed has none."""
    return [cell.config | _result(cell, tuple(least(cell))) for cell in cells]


def _result(cell: CapacityCell, least: Least) -> dict[str, Any]:
    known = [value for value in least if value is not None]
    threshold = median_low(known) if len(known) == len(least) else None
    parameters = {"trained": 2 * cell.n_subjects * (threshold or 0), "frozen": 0}
    top = max([*known, cell.most_dim if None in least else 1])
    return {
        "least": list(least),
        "tried": [1, top],
        "monotone": True,
        "censored": None in least,
        "threshold": threshold,
        "recall": {"1": [0.1] * len(least), str(top): [1.0] * len(least)},
        "questions": cell.n_subjects * cell.n_relations,
        "steps": 100,
        "steps_taken": 150,
        "parameters": None if threshold is None else parameters,
        "seconds": 1.5,
    }


def outcome(claim: Claim, results: Sequence[dict[str, Any]]) -> Outcome:
    """The claim settled by these results."""
    fields = {name: getattr(claim, name) for name in ("id", "statement", "source", "criterion")}
    judgement = claim.judge(results)
    return Outcome(**fields, **vars(judgement), preset="quick", seconds=1.0, results=tuple(results))
