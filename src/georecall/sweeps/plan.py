"""What a sweep is to measure: `sweep.json` lists its cells, so that its state can be told from the files alone."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from georecall.storage.files import write_text
from georecall.storage.json_files import Stored, json_text, read_json_model
from georecall.storage.kinds import Kind, has
from georecall.storage.locks import beside, locked
from georecall.sweeps.cells import Cell

SWEEP = "sweep.json"
SWEEP_FOLDER = Kind(name="a sweep", markers=(SWEEP,), is_ours=has("workers", "cells"))
CELL_FOLDER = r"^\w+-[0-9a-f]{16}$"


class Plan(Stored):
    """The configs of all cells planned so far, by the names of their folders, and the workers of the last run."""

    workers: Annotated[int, Field(ge=1)]
    cells: dict[Annotated[str, Field(pattern=CELL_FOLDER)], dict[str, Any]]


def read_plan(root: Path) -> Plan:
    """The plan of the sweep in a folder.

    Raises:
        FolderError: there is none, or it is damaged.
    """
    return read_json_model(root / SWEEP, Plan, remedy="expected the plan of a sweep; run the sweep (again)")


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
