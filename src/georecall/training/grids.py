"""Grids of worlds for capacity sweeps, from lists as a user writes them."""

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, TypeVar

from pydantic import ValidationError

from georecall.errors import GeorecallError, TrainingError
from georecall.facts.queries import MAX_QUERIES
from georecall.training.capacity import CapacityCell
from georecall.training.settings import check_room, checked_device, problems_of

Item = TypeVar("Item")


def capacity_grid(
    *, subjects: str, relations: str, freeze: str, learning_rates: str, device: str = "cpu", **fields: Any
) -> list[CapacityCell]:
    """A cell for every N, R and freezing of three comma-separated lists; the smallest worlds first.

    Raises:
        TrainingError: something is wrong; the message has a line for each problem.
    """
    problems: dict[str, None] = {}  # as a set that keeps its order

    def attempt(make: Callable[[], list[Item]]) -> list[Item]:
        """What `make` gives; nothing where it is refused, and the problems are noted."""
        try:
            return make()
        except ValidationError as error:
            problems.update(dict.fromkeys(problems_of(error)))
        except GeorecallError as error:
            problems[str(error)] = None
        return []

    # in place of a list that cannot be read stands a sound one, so that the rest is checked all the same
    sizes = attempt(lambda: _parsed("subjects", subjects, int, "64,128")) or [1]
    counts = attempt(lambda: _parsed("relations", relations, int, "2,4")) or [1]
    rates = attempt(lambda: _parsed("learning_rates", learning_rates, float, "0.03,0.1")) or [0.1]
    frozen = _parsed("freeze", freeze, str, "none,subjects")
    attempt(lambda: [checked_device(device)])
    common = fields | {"learning_rates": tuple(rates), "device": device}
    worlds = sorted(product(sizes, counts), key=lambda world: world[0] * world[1])
    cells: list[CapacityCell] = []
    for (n_subjects, n_relations), what in product(worlds, frozen):
        given = {"n_subjects": n_subjects, "n_relations": n_relations, "freeze": what}
        cells += attempt(partial(_checked_cells, **given, **common))
    if problems:
        raise TrainingError("\n  ".join(["wrong settings", *problems]))
    return cells


def _checked_cells(**fields: Any) -> list[CapacityCell]:
    cell = CapacityCell(**fields)
    check_cell(cell)
    return [cell]


def check_cell(cell: CapacityCell) -> None:
    """Refuse a world with more questions than can be asked, or whose largest model does not fit in memory.

    Raises:
        TrainingError: as said.
        ValidationError: hops, mode and attention do not fit together.
    """
    n_subjects, n_relations, hops = cell.n_subjects, cell.n_relations, cell.hops
    digits = math.log10(n_subjects) + hops * math.log10(n_relations)  # the power itself may be huge
    if digits > 9 or n_subjects * n_relations**hops > MAX_QUERIES:
        raise TrainingError(
            f"subjects · relations^hops must be at most {MAX_QUERIES:,}, "
            f"got {n_subjects:,} · {n_relations:,}^{hops:,}"
        )
    check_room(
        cell.at(cell.most_dim).training,
        subjects=n_subjects,
        relations=n_relations,
        attributes=n_subjects,
    )


def _parsed(name: str, text: str, kind: Callable[[str], Item], example: str) -> list[Item]:
    try:
        return list(dict.fromkeys(kind(part.strip()) for part in text.split(",")))
    except ValueError:
        raise TrainingError(f"{name}: expected a list such as {example}, got {text!r}") from None
