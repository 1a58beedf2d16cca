"""What a claim is: a statement, the cells that settle it, and a judge of their results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from georecall.claims.status import CellStanding, State, cell_standings
from georecall.progress import Progress
from georecall.sweeps import Cell, Engine, run_sweep

Preset = Literal["quick", "standard", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "standard", "paper")
Verdict = Literal["holds", "fails", "undecided", "skipped", "not measured"]
Result = dict[str, Any]
VERDICTS: tuple[Verdict, ...] = ("holds", "fails", "undecided", "skipped", "not measured")


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was measured, in words and numbers, and whether it meets the criterion."""

    verdict: Verdict
    measured: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A claim as settled by the results on disk; `results` are complete, or none."""

    id: str
    statement: str
    source: str
    verdict: str
    measured: str
    criterion: str
    preset: str
    seconds: float
    results: tuple[Result, ...]
    cells: tuple[CellStanding, ...] = ()

    def count(self, state: State) -> int:
        """How many of the cells are in this state."""
        return sum(cell.state == state for cell in self.cells)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of georecall that measured the cells."""
        return tuple(sorted({cell.version for cell in self.cells if cell.state == "measured"}))

    def to_dict(self) -> dict[str, Any]:
        """The fields, and of the cells only their numbers and versions: they have files of their own."""
        fields = {name: value for name, value in vars(self).items() if name not in {"results", "cells"}}
        counts = {state: self.count(state) for state in ("measured", "failed", "missing")}
        return fields | {"cells": counts, "versions": list(self.versions)}


def nothing() -> str | None:
    """What a claim lacks that can be measured anywhere."""
    return None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement that cells can settle; `source` says whose it is, the paper's or ours.

    `lacks` says what is missing on this machine to measure the cells, such as a package; listing them needs nothing.
    """

    id: str
    statement: str
    source: str
    criterion: str
    cells: Callable[[Preset], Sequence[Cell]]
    judge: Callable[[Sequence[Result]], Judgement]
    lacks: Callable[[], str | None] = nothing

    def measure(
        self, preset: Preset, root: Path, progress: Progress, *, engine: Engine, retry_failed: bool = False
    ) -> None:
        """Measure the cells that are not measured yet; the claim must lack nothing here.

        Raises:
            FolderError: a file of a cell is damaged.
        """
        cells = self.cells(preset)
        run_sweep(cells, root, engine=engine, progress=progress, retry_failed=retry_failed, task=self.id)

    def standing(self, preset: Preset, root: Path) -> Outcome:
        """Judge from the results on disk whose config is the present one, and measure nothing.

        Raises:
            FolderError: a file of a cell is damaged.
        """
        cells = cell_standings(self.cells(preset), root)
        found = [cell.result for cell in cells if cell.result is not None]
        results = found if len(found) == len(cells) else []
        judgement = self.judge(results) if results else self._unjudged(cells, root)
        return Outcome(
            id=self.id,
            statement=self.statement,
            source=self.source,
            verdict=judgement.verdict,
            measured=judgement.measured,
            criterion=self.criterion,
            preset=preset,
            seconds=round(sum((result["seconds"] for result in found), start=0.0), 3),
            results=tuple(results),
            cells=cells,
        )

    def _unjudged(self, cells: Sequence[CellStanding], root: Path) -> Judgement:
        """What is said of a claim that lacks results."""
        failures = [cell.failure for cell in cells if cell.failure is not None]
        measured = sum(cell.state == "measured" for cell in cells)
        if len(failures) + measured < len(cells) or not failures:
            reason = self.lacks()
            if reason is not None:
                return Judgement(verdict="skipped", measured=reason)
            said = f"{measured} of {len(cells)} cells are measured"
            if failures:
                said += f", {len(failures)} failed, the first with {failures[0].summary}"
            return Judgement(verdict="not measured", measured=said)
        places = ", ".join(str(root / failure.folder) for failure in failures)
        return Judgement(
            verdict="undecided",
            measured=f"{len(failures)} of {len(cells)} cells failed, the first with {failures[0].summary}; "
            f"see {places}",
        )
