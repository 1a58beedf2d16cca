"""A small folder of every kind that we write, and what is read from it."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cases import WORLDS
from georecall.claims.bounds import BoundCell
from georecall.facts.worlds import random_bijections
from georecall.language_models.prompts import Template
from georecall.language_models.state_cache import StateCache
from georecall.memory import FactMemory
from georecall.progress import Progress, no_progress
from georecall.report.comparing import compare_reports
from georecall.storage.files import write_text
from georecall.sweeps import SerialEngine, run_sweep, sweep_status
from georecall.sweeps.cells import Cell
from georecall.training.config import TrainConfig
from georecall.training.runs import continue_run, describe_run, load_run, start_run

FACTS = WORLDS["family"].table
WORLD = random_bijections(6, 2, rng=np.random.default_rng(0))
RECIPE = TrainConfig(dim=4, width=7, seeds=2, steps=12, check_every=4, margin=None)
CLAIMED = {"margin", "exact_dtypes", "basis", "asked", "steps"}
"""What `info` takes from the certificate on trust."""
STATES = np.arange(2 * 5 * 3, dtype=np.float32).reshape(2, 5, 3)


class FailingCell(Cell):
    """Leaves a failure."""

    def measure(self, progress: Progress) -> dict[str, Any]:  # noqa: ARG002
        raise RuntimeError("no luck")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How a folder is made, and what is read from it; if it is `hashed`, that is the same or nothing.

    `reseal` makes all hashes right again after a file was changed.
    """

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    hashed: bool
    reseal: Callable[[Path], None] | None = None


def seal(folder: Path) -> None:
    """What an attacker does: the hashes of a memory become those of what is there, as far as it can be read."""
    path = folder / "certificate.json"
    with suppress(OSError, ValueError, RecursionError, TypeError, AttributeError):
        sealed = json.loads(path.read_bytes())
        with suppress(AttributeError, KeyError, OSError):
            for name in [name for name, digest in sealed["files"].items() if digest]:
                sealed["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        sealed.pop("sha256", None)
        sealed["sha256"] = hashlib.sha256(text_of(sealed).encode()).hexdigest()
        path.write_bytes(text_of(sealed).encode())


def text_of(sealed: dict[str, Any]) -> str:
    """A certificate as it is written."""
    return json.dumps(sealed, indent=2, ensure_ascii=False) + "\n"


def read_memory(folder: Path) -> object:
    """Sizes, tensors, and answers before and after an edit; not what is claimed of them, which `verify` proves."""
    memory = FactMemory.load(folder)
    info = memory.info().to_dict()
    return (
        {name: value for name, value in info.items() if name not in CLAIMED},
        {name: tensor.tolist() for name, tensor in memory.tensors.items()},
        memory.ask("Alice", "wife", "mother"),
        memory.edit("Alice", "wife", "Grace").ask("Alice", "wife"),
    )


def memory(**options: Any) -> Kind:
    def make(folder: Path) -> None:
        FactMemory.compile(FACTS, **options).save(folder)

    return Kind(make=make, read=read_memory, hashed=True, reseal=seal)


def make_edited(folder: Path) -> None:
    FactMemory.compile(FACTS).forget("Alice", "job").edit("Alice", "wife", "Grace").save(folder)


def make_half(folder: Path) -> None:
    start_run(folder, WORLD, RECIPE)
    continue_run(folder, until=4)


def make_run(folder: Path) -> None:
    start_run(folder, WORLD, RECIPE)
    continue_run(folder)


def read_run(folder: Path) -> object:
    found = load_run(folder)
    return found.config, found.table, describe_run(folder), [look.to_dict() for look in continue_run(folder)]


def bound_cells() -> list[Cell]:
    return [BoundCell(n_subjects=64, n_relations=2, levels=levels) for levels in (2, 3)]


def make_sweep(folder: Path) -> None:
    run_sweep([*bound_cells(), FailingCell()], folder, engine=SerialEngine(), progress=no_progress)


def read_sweep(folder: Path) -> object:
    return sweep_status(folder), [cell.result(folder) for cell in bound_cells() if cell.is_measured(folder)]


def make_report(folder: Path) -> None:
    run_sweep(bound_cells(), folder / "cells", engine=SerialEngine(), progress=no_progress)
    outcome = {"id": "K5", "verdict": "holds", "measured": "all", "preset": "quick", "seconds": 1.5}
    write_text(folder / "results.json", json.dumps([outcome, outcome | {"id": "K1"}]))


def states(folder: Path) -> object:
    """States and arrays that are made if they are not there."""
    cache = StateCache(folder, chunk=3)
    entry = cache.entry("digest", torch.float32, "abcde", Template("{subject}"), shape=STATES.shape)
    for number, part in enumerate(entry.parts):
        if not entry.holds(number):
            entry.keep(number, STATES[:, part])
    values = cache.remembered({"asked": "facts"}, lambda: {"values": STATES[0], "known": STATES[0] > 3})
    return [entry.state(layer).tolist() for layer in range(2)], {
        name: array.tolist() for name, array in values.items()
    }


KINDS = {
    "opt": memory(hops=2),
    "llama": memory(arch="llama", dtype="bfloat16", rotate=3),
    "edited": Kind(make=make_edited, read=read_memory, hashed=True, reseal=seal),
    "run": Kind(make=make_run, read=read_run, hashed=False),
    "half a run": Kind(
        make=make_half, read=lambda folder: [look.step for look in continue_run(folder)], hashed=False
    ),
    "sweep": Kind(make=make_sweep, read=read_sweep, hashed=False),
    "report": Kind(
        make=make_report, read=lambda folder: compare_reports(folder, folder).to_dict(), hashed=False
    ),
    "states": Kind(make=states, read=states, hashed=True),
}
