"""What a claim is: a statement, the cells that settle it, a judge of their results, and a figure of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from altair.typing import ChartType

from georecall.claims.judgement import Judgement, Verdict
from georecall.claims.status import CellStatus, State, cell_statuses
from georecall.progress import Progress
from georecall.sweeps import Cell, Engine, Measured, run_sweep

Preset = Literal["quick", "standard", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "standard", "paper")
FAMILIES = {"K": "Constructions", "C": "Trained models", "L": "Language models"}
"""The families of claims by the first letter of their ids, in order."""

Results = Sequence[Measured[Any, Any]]


class Time(NamedTuple):
    """Seconds of one core of the reference machine of `claims.timing` for all cells, and how they are known."""

    seconds: float
    how: Literal["measured", "estimated"] = "measured"


def nothing() -> str | None:
    """Of a claim that can be measured anywhere."""
    return None


def no_figure(results: Results, stamp: str) -> None:
    """For a claim that is not drawn."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement that cells can settle; `source` says whose it is, the paper's or ours.

    `figure` is made of the results and a line that says what it is of; None if they cannot be drawn. `times` are what
    measuring takes. `missing` says what cannot be had on this machine that measuring needs, such as a package; listing
    the cells needs nothing.
    """

    id: str
    statement: str
    source: str
    criterion: str
    cells: Callable[[Preset], Sequence[Cell]]
    judge: Callable[[Sequence[Measured[Any, Any]]], Judgement]
    figure: Callable[[Sequence[Measured[Any, Any]], str], ChartType | None] = no_figure
    times: Mapping[Preset, Time] = field(default_factory=dict)
    missing: Callable[[], str | None] = nothing

    @property
    def order(self) -> tuple[int, str, int]:
        """Where it stands among all: by family, then by number."""
        family, number = self.id[:1], self.id[1:]
        known = list(FAMILIES)
        return (
            known.index(family) if family in known else len(known),
            family,
            int(number) if number.isdecimal() else 0,
        )

    def measure(
        self, preset: Preset, root: Path, progress: Progress, *, engine: Engine, retry_failed: bool = False
    ) -> None:
        """Measure the cells that are not measured yet; nothing must be missing here.

        Raises:
            FolderError: a file of a cell is damaged.
        """
        cells = self.cells(preset)
        run_sweep(cells, root, engine=engine, progress=progress, retry_failed=retry_failed, task=self.id)

    def outcome(self, preset: Preset, root: Path) -> "Outcome":
        """Judge from the results on disk whose config is the present one, and measure nothing.

        Raises:
            FolderError: a file of a cell is damaged.
        """
        cells = cell_statuses(self.cells(preset), root)
        found = tuple(cell.measured for cell in cells if cell.measured is not None)
        results = found if len(found) == len(cells) else ()
        judgement = self.judge(results) if results else self._unjudged(cells, root)
        return Outcome(claim=self, preset=preset, judgement=judgement, results=results, cells=cells)

    def _unjudged(self, cells: Sequence[CellStatus], root: Path) -> Judgement:
        """What is said of a claim without all its results."""
        failures = [cell.failure for cell in cells if cell.failure is not None]
        measured = sum(cell.state == "measured" for cell in cells)
        if len(failures) + measured < len(cells) or not failures:
            reason = self.missing()
            if reason is not None:
                return Judgement.saying("skipped", reason)
            said = f"{measured} of {len(cells)} cells are measured"
            if failures:
                said += f", {len(failures)} failed, the first with {failures[0].summary}"
            return Judgement.saying("not measured", said)
        said = f"{len(failures)} of {len(cells)} cells failed, the first with {failures[0].summary}"
        places = ", ".join(str(root / failure.folder) for failure in failures)
        return Judgement.saying("undecided", said, f"see {places}")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A claim as settled by the results on disk; `results` are complete, or none."""

    claim: Claim
    preset: str
    judgement: Judgement
    results: tuple[Measured[Any, Any], ...] = ()
    cells: tuple[CellStatus, ...] = ()

    @property
    def id(self) -> str:
        """That of the claim."""
        return self.claim.id

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds."""
        return self.judgement.verdict

    @property
    def measured(self) -> str:
        """All that was measured, in words."""
        return self.judgement.measured

    @property
    def seconds(self) -> float:
        """What the cells that are measured took."""
        return round(sum((cell.measured.about.seconds for cell in self.cells if cell.measured), start=0.0), 3)

    @property
    def stamp(self) -> str:
        """The line that stands in every figure: the claim, the preset and the verdict."""
        return f"{self.id}, {self.preset}: {self.verdict}"

    @property
    def figure(self) -> ChartType | None:
        """The figure; None without results, or if none is made of them."""
        return self.claim.figure(self.results, self.stamp) if self.results else None

    def count(self, state: State) -> int:
        """How many of the cells are in this state."""
        return sum(cell.state == state for cell in self.cells)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of georecall that measured the cells."""
        return tuple(sorted({cell.version for cell in self.cells if cell.state == "measured"}))

    def to_dict(self) -> dict[str, Any]:
        """What is said of the claim, and of the cells only their numbers and versions: they have files of their own."""
        said = {name: getattr(self.claim, name) for name in ("id", "statement", "source", "criterion")}
        return {
            **said,
            "preset": self.preset,
            **self.judgement.to_dict(),
            "measured": self.measured,
            "seconds": self.seconds,
            "cells": {state: self.count(state) for state in ("measured", "failed", "missing")},
            "versions": list(self.versions),
        }
