"""All problems of a request at once, before any work is done."""

from collections.abc import Callable
from typing import Any

import torch
from pydantic import ValidationError

from georecall.constructions.budget import memory_need
from georecall.errors import GeorecallError, TrainingError
from georecall.facts.queries import MAX_QUERIES
from georecall.models.device import device_here
from georecall.training.config import TrainConfig

COPIES = 2
"""Of every weight a run holds the value, the gradient and two moments in float32: two float64 numbers' worth."""


def check_all(*checks: Callable[[], object]) -> None:
    """Run all the checks, and raise what they found wrong as one error.

    Raises:
        TrainingError: at least one check raised a GeorecallError; the message has a line for each problem.
    """
    problems: list[str] = []
    for check in checks:
        try:
            check()
        except GeorecallError as error:
            found = str(error).split("\n  ")
            problems += found[1:] or found
    if problems:
        raise TrainingError("\n  ".join(["wrong settings", *problems]))


def checked_config(fields: dict[str, Any]) -> TrainConfig:
    """The config with these fields.

    Raises:
        TrainingError: fields are wrong; the message has a line for each of them.
    """
    try:
        return TrainConfig(**fields)
    except ValidationError as error:
        raise TrainingError("\n  ".join(["wrong settings", *problems_of(error)])) from error


def problems_of(error: ValidationError) -> list[str]:
    """One line for each problem that pydantic found: the field, what is wrong, and the value."""
    lines: list[str] = []
    for found in error.errors():
        if found["type"] == "too_short" and found["input"]:
            continue  # pydantic counts the items that are left; those that are wrong have lines of their own
        where = ".".join(str(part) for part in found["loc"])
        message = found["msg"].removeprefix("Value error, ")
        lines += [f"{where}: {message}, got {found['input']!r}"] if where else message.split("; ")
    return lines


def checked_device(name: str) -> torch.device:
    """The device of a name such as `cpu`, `cuda` or `cuda:1`.

    Raises:
        TrainingError: torch does not know it, or this machine has none.
    """
    device = device_here(name)
    if device is None:
        raise TrainingError(f"expected a device that this machine has, got {name!r}")
    return device


def check_world(subjects: int, relations: int) -> None:
    """Refuse sizes that no world has, or that are more than can be asked.

    Raises:
        TrainingError: a size is below 1, or N·R is over 10^8.
    """
    wrong = [
        f"{name} must be 1 or more, got {size}"
        for name, size in (("subjects", subjects), ("relations", relations))
        if size < 1
    ]
    if not wrong and subjects * relations > MAX_QUERIES:
        wrong = [f"subjects · relations must be at most {MAX_QUERIES:,}, got {subjects:,} · {relations:,}"]
    if wrong:
        raise TrainingError("\n  ".join(["wrong settings", *wrong]))


def check_room(config: TrainConfig, *, subjects: int, relations: int, attributes: int) -> None:
    """Refuse an ensemble that would not fit in this machine's memory while it trains.

    Raises:
        TrainingError: it needs more bytes than the machine has.
    """
    members = len(config.learning_rates) * config.seeds
    tables = (subjects + relations + config.context) * config.dim + attributes * config.out
    heads = 4 * config.dim**2 if config.attention == "learned" else 0
    weights = members * (tables + heads + config.width * (config.dim + config.out))
    need = memory_need(COPIES * weights)
    if not need.fits:
        raise TrainingError(
            f"expected an ensemble that fits in memory, got {members:,} members with {weights:,} weights: "
            f"training needs {need.needed:,} bytes, this machine has {need.available:,}"
        )
