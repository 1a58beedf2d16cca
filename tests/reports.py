"""Outcomes for reports: planted results with figures, hostile names, and claims without results."""

from typing import Any

from georecall.claims.claim import Outcome
from georecall.claims.status import CellStanding
from georecall.progress import Progress
from georecall.sweeps import Cell
from georecall.sweeps.failures import Failure

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


class PlantedCell(Cell):
    """A cell whose result is given."""

    n_subjects: int = 64
    n_relations: int = 2
    hops: int = 1
    kind_of_world: str = "planted"

    def measure(self, progress: Progress) -> dict[str, Any]:
        raise NotImplementedError


def standing(
    result: dict[str, Any] | None = None, failure: Failure | None = None, **fields: Any
) -> CellStanding:
    """A cell as it stands on disk."""
    cell = PlantedCell(**fields)
    return CellStanding(cell=cell, result=result if result is None else cell.config | result, failure=failure)


def outcome(name: str, verdict: str, *cells: CellStanding, **fields: Any) -> Outcome:
    """A claim with these cells."""
    results = tuple(cell.result for cell in cells if cell.result is not None)
    said = {
        "statement": f"Statement of {name}.",
        "source": "The paper claims it; `numbers` are ours.",
        "measured": "one thing; another = 1 (0 … 2)",
        "criterion": "all right",
        "preset": "quick",
        "seconds": 12.5,
    }
    whole = results if len(results) == len(cells) else ()
    return Outcome(id=name, verdict=verdict, results=whole, cells=tuple(cells), **(said | fields))


def one_hop() -> Outcome:
    """K1, which holds."""
    return outcome(
        "K1",
        "holds",
        *(
            standing(
                {
                    "facts": n * r,
                    "dim": 7 * r,
                    "margins": {"float32": 1.0},
                    "stock_failures": {"opt": 0, "llama": 0},
                    "seconds": 0.5,
                    "environment": ENVIRONMENT,
                },
                n_subjects=n,
                n_relations=r,
            )
            for n in (64, 256)
            for r in (2, 4)
        ),
    )


def several_hops(name: str = NAMES) -> Outcome:
    """K2, which fails, of a construction with the name given."""
    cells = (
        standing(
            {
                "kind": name,
                "wrong": 1,
                "queries": 100,
                "built": {"dimension": 10**hops},
                "seconds": 0.5,
                "environment": ENVIRONMENT,
            },
            hops=hops,
        )
        for hops in (1, 2, 3)
    )
    return outcome(
        "K2", "fails", *cells, statement=f"Statement of {name}", measured=f"[{name}] first; second"
    )


def capacity() -> Outcome:
    """C1, which is undecided, with a figure of several panels; its cells do not say what measured them."""
    cells = (
        standing(
            {
                "width": "4d",
                "freeze": "none",
                "least": [r + i for i in range(3)],
                "threshold": r + 1,
                "parameters": {"trained": 1000, "frozen": 0},
                "seconds": 90.0,
            },
            n_subjects=n,
            n_relations=r,
            kind_of_world="capacity",
        )
        for n in (32, 64, 128)
        for r in (2, 4)
    )
    return outcome("C1", "undecided", *cells)


def unmeasured() -> Outcome:
    """C8, of which one cell is measured, one failed and one is missing."""
    failure = Failure(folder="PlantedCell-1", type="RuntimeError", message=NAMES, traceback="", seconds=1.0)
    cells = (standing({"seconds": 1.0}), standing(failure=failure, hops=2), standing(hops=3))
    return outcome("C8", "not measured", *cells, measured="1 of 3 cells are measured, 1 failed")


def skipped() -> Outcome:
    """L1, for which something is lacking here."""
    return outcome("L1", "skipped", standing(), measured="the package of the model is not installed")


def planted_report() -> list[Outcome]:
    """One of each verdict."""
    return [one_hop(), several_hops(), capacity(), unmeasured(), skipped()]
