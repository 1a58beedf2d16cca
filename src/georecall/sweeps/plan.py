"""What a sweep is to measure: `sweep.json` lists its cells, so that its state can be told from the files alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from georecall.errors import FolderError
from georecall.storage.files import write_text
from georecall.storage.kinds import Kind, has
from georecall.storage.locks import beside, locked
from georecall.sweeps.cells import Cell
from georecall.sweeps.json_files import json_text, read_object

SWEEP = "sweep.json"
SWEEP_FOLDER = Kind(name="a sweep", markers=(SWEEP,), is_ours=has("workers", "cells"))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The configs of all cells planned so far, by the names of their folders, and the workers of the last run."""

    workers: int
    cells: dict[str, dict[str, Any]]


def read_plan(root: Path) -> Plan:
    """The plan of the sweep in a folder.

    Raises:
        FolderError: there is none, or it is damaged.
    """
    path = root / SWEEP
    content = read_object(path, remedy="expected the folder of a sweep, with its plan; run the sweep (again)")
    workers, cells = content.get("workers"), content.get("cells")
    if not isinstance(workers, int) or workers < 1 or not isinstance(cells, dict):
        raise FolderError(f"{path}: is not the plan of a sweep; delete it and run the sweep again")
    return Plan(workers=workers, cells=cells)


def add_to_plan(root: Path, cells: Iterable[Cell], *, workers: int) -> None:
    """Add cells to what is planned already; several sweeps may do so in one folder at once.

    Raises:
        FolderError: the plan that is there is damaged.
    """
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / SWEEP, beside(root / SWEEP)):
        planned = read_plan(root).cells if (root / SWEEP).exists() else {}
        planned |= {cell.folder_name: cell.config for cell in cells}
        write_text(root / SWEEP, json_text({"workers": workers, "cells": planned}))
