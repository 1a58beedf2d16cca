"""Outcomes for reports: planted results with figures, hostile names, and claims without results."""

from dataclasses import replace
from typing import Any

import altair as alt

from georecall.claims import CLAIMS
from georecall.claims.claim import Claim, Outcome
from georecall.claims.judgement import Finding, Judgement
from georecall.claims.one_hop import OneHopCell, OneHopResult
from georecall.claims.status import CellStatus
from georecall.figures.lines import from_zero, lines, ordinal
from georecall.progress import Progress
from georecall.records import Record
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured
from georecall.sweeps.cells import About
from georecall.sweeps.failures import Failure
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.recall_cell import Parameters

MARKUP = "<img src=x onerror=\"alert('1')\"></script><script>alert(2)</script>"
NAMES = f'{MARKUP} {{{{ 7 * 7 }}}} "quoted"\nnext line \u202eright to left\u202c\u2028 &amp;'
"""A name that tries to be markup, a script, a template, a line of its own and a direction of its own."""
ENVIRONMENT = {
    "georecall": "0.0.7",
    "torch": "2.6.0",
    "numpy": "2.0.0",
    "python": "3.11.9",
    "machine": "a processor, 2 cores",
    "date": "2026-01-31T10:00:00+00:00",
}
KNOWN = {claim.id: claim for claim in CLAIMS}


class Planted(Record):
    """A result that is given."""

    dimension: int = 0


class PlantedCell(Cell[Planted]):
    """A cell whose result is given."""

    n_subjects: int = 64
    n_relations: int = 2
    hops: int = 1
    kind_of_world: str = "planted"

    def measure(self, progress: Progress) -> Planted:
        raise NotImplementedError


def cell_status(
    cell: Cell, result: Record | None = None, failure: Failure | None = None, **about: Any
) -> CellStatus:
    """A cell as it stands on disk."""
    measured = None
    if result is not None:
        measured = Measured(cell=cell, result=result, about=About(**{"seconds": 0.5} | about))
    return CellStatus(cell=cell, measured=measured, failure=failure)


def outcome(name: str, verdict: str, *cells: CellStatus, **fields: Any) -> Outcome:
    """A claim with these cells; `judgement` and `figure` may be given, and what it says."""
    judgement = fields.pop("judgement", None) or Judgement(
        verdict=verdict,
        key="one thing",
        findings=(
            Finding(note="one thing"),
            Finding(quantities=(Quantity(name="another", value=1.0, interval=(0.0, 2.0)),)),
        ),
    )
    said = {
        "statement": f"Statement of {name}.",
        "source": "The paper claims it; `numbers` are ours.",
        "criterion": "all right",
    }
    claim: Claim = replace(KNOWN.get(name, KNOWN["K1"]), id=name, **(said | fields))
    found = tuple(cell.measured for cell in cells if cell.measured is not None)
    return Outcome(
        claim=claim,
        preset="quick",
        judgement=judgement,
        results=found if len(found) == len(cells) else (),
        cells=tuple(cells),
    )


def one_hop() -> Outcome:
    """K1, which holds."""
    cells = [
        cell_status(
            OneHopCell(n_subjects=n, n_relations=r),
            OneHopResult(
                facts=n * r,
                dim=7 * r,
                code_length=7,
                margins=dict.fromkeys(("float32", "bfloat16", "float16"), 1.0),
                stock_failures={"opt": 0, "llama": 0},
            ),
            seconds=3.125,
            environment=ENVIRONMENT,
        )
        for n in (64, 256)
        for r in (2, 4)
    ]
    judgement = KNOWN["K1"].judge([cell.measured for cell in cells if cell.measured is not None])
    return outcome("K1", "holds", *cells, judgement=judgement)


def several_hops(name: str = NAMES) -> Outcome:
    """K2, which fails, of a world with the name given."""
    cells = (
        cell_status(PlantedCell(hops=hops), Planted(dimension=10**hops), environment=ENVIRONMENT)
        for hops in (1, 2, 3)
    )

    def figure(results: Any, stamp: str) -> alt.Chart:
        rows = [{"k": r.cell.hops, "d": r.result.dimension, "world": f"{name}, N = 64"} for r in results]
        return lines(
            rows, x=ordinal("k:O", "hops"), y=from_zero("d", "d"), by="world", title="Hops", subtitle=stamp
        )

    quantities = tuple(Quantity(name=what, value=1) for what in ("first", "second"))
    judgement = Judgement(
        verdict="fails", key=name, findings=(Finding(world=name, met=False, quantities=quantities),)
    )
    return outcome(
        "K2", "fails", *cells, statement=f"Statement of {name}", judgement=judgement, figure=figure
    )


def capacity() -> Outcome:
    """C1, which is undecided, with a figure of several panels; its cells do not say what measured them."""
    cells = (
        cell_status(
            CapacityCell(n_subjects=n, n_relations=r),
            CapacityResult(
                least=(r, r + 1, r + 2),
                tried=(r, r + 1, r + 2),
                monotone=True,
                threshold=r + 1,
                recall={r + 2: (1.0, 1.0, 1.0)},
                questions=n * r,
                steps=10,
                steps_taken=10,
                parameters=Parameters(trained=1000, frozen=0),
            ),
            seconds=90.0,
        )
        for n in (32, 64, 128)
        for r in (2, 4)
    )
    return outcome("C1", "undecided", *cells)


def unmeasured() -> Outcome:
    """C8, of which one cell is measured, one failed and one is missing."""
    failure = Failure(folder="PlantedCell-1", type="RuntimeError", message=NAMES, traceback="", seconds=1.0)
    cells = (
        cell_status(PlantedCell(), Planted(), seconds=1.0),
        cell_status(PlantedCell(hops=2), failure=failure),
        cell_status(PlantedCell(hops=3)),
    )
    said = Judgement.saying("not measured", "1 of 3 cells are measured, 1 failed")
    return outcome("C8", "not measured", *cells, judgement=said)


def skipped() -> Outcome:
    """L1, for which something is lacking here."""
    said = Judgement.saying("skipped", "the package of the model is not installed")
    return outcome("L1", "skipped", cell_status(PlantedCell()), judgement=said)


def planted_report() -> list[Outcome]:
    """One of each verdict."""
    return [one_hop(), several_hops(), capacity(), unmeasured(), skipped()]
