"""Grids of worlds for capacity sweeps, from lists as a user writes them."""

from collections.abc import Callable
from itertools import product
from typing import Any, TypeVar

from pydantic import ValidationError

from georecall.errors import GeorecallError, TrainingError
from georecall.training.capacity import CapacityCell
from georecall.training.settings import check_all, check_room, check_world, checked_device, problems_of

Item = TypeVar("Item")


def capacity_grid(
    *, subjects: str, relations: str, freeze: str, learning_rates: str, **fields: Any
) -> list[CapacityCell]:
    """A cell for every N, R and freezing of three comma-separated lists; the smallest worlds first.

    Raises:
        TrainingError: something is wrong; the message has a line for each problem.
    """
    lists: dict[str, list[Any]] = {}

    def read(name: str, text: str, kind: Callable[[str], Any]) -> None:
        lists[name] = _parsed(name, text, kind)

    check_all(
        lambda: read("subjects", subjects, int),
        lambda: read("relations", relations, int),
        lambda: read("freeze", freeze, str),
        lambda: read("learning_rates", learning_rates, float),
        lambda: checked_device(fields["device"]),
    )
    worlds = sorted(product(lists["subjects"], lists["relations"]), key=lambda world: world[0] * world[1])
    cells: list[CapacityCell] = []
    problems: dict[str, None] = {}  # as a set that keeps its order
    for (n_subjects, n_relations), what in product(worlds, lists["freeze"]):
        given = {"n_subjects": n_subjects, "n_relations": n_relations, "freeze": what}
        try:
            cell = CapacityCell(**given, learning_rates=tuple(lists["learning_rates"]), **fields)
            check_cell(cell)
            cells.append(cell)
        except ValidationError as error:
            problems |= dict.fromkeys(problems_of(error))
        except GeorecallError as error:
            problems[str(error)] = None
    if problems:
        raise TrainingError("\n  ".join(["wrong settings", *problems]))
    return cells


def check_cell(cell: CapacityCell) -> None:
    """Refuse a world that is too large to ask, or whose largest model does not fit in memory.

    Raises:
        TrainingError, ConstructionError: as `check_world` and `check_room`.
    """
    check_world(cell.n_subjects, cell.n_relations**cell.hops)
    check_room(
        cell.at(cell.most_dim).training,
        subjects=cell.n_subjects,
        relations=cell.n_relations,
        attributes=cell.n_subjects,
    )


def _parsed(name: str, text: str, kind: Callable[[str], Item]) -> list[Item]:
    try:
        return list(dict.fromkeys(kind(part.strip()) for part in text.split(",")))
    except ValueError:
        raise TrainingError(f"{name}: expected a list such as 64,128, got {text!r}") from None
