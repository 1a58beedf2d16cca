"""What a claim is: a statement, the cells that settle it, and a judge of their results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from georecall.progress import Progress
from georecall.sweeps import Cell, Engine, run_sweep
from georecall.sweeps.failures import Failure

Preset = Literal["quick", "standard", "paper"]
PRESETS: tuple[Preset, ...] = ("quick", "standard", "paper")
Verdict = Literal["holds", "fails", "undecided"]
Result = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What was measured, in words and numbers, and whether it meets the criterion."""

    verdict: Verdict
    measured: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A claim as settled by the results on disk."""

    id: str
    statement: str
    source: str
    verdict: str
    measured: str
    criterion: str
    preset: str
    seconds: float
    results: tuple[Result, ...]

    def to_dict(self) -> dict[str, Any]:
        """The fields but for the results of the single cells, which have files of their own."""
        return {name: value for name, value in vars(self).items() if name != "results"}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement that cells can settle; `source` says whose it is, the paper's or ours."""

    id: str
    statement: str
    source: str
    criterion: str
    cells: Callable[[Preset], Sequence[Cell]]
    judge: Callable[[Sequence[Result]], Judgement]

    def settle(
        self, preset: Preset, root: Path, progress: Progress, *, engine: Engine, retry_failed: bool = False
    ) -> Outcome:
        """Measure what is not measured yet, then judge from the results on disk; undecided if a cell failed."""
        cells = self.cells(preset)
        report = run_sweep(
            cells, root, engine=engine, progress=progress, retry_failed=retry_failed, task=self.id
        )
        results: list[Result] = []
        if report.failed:
            judgement = _undecided(report.failed, len(cells), root)
        else:
            results = [cell.config | cell.result(root) for cell in cells]
            judgement = self.judge(results)
        return Outcome(
            id=self.id,
            statement=self.statement,
            source=self.source,
            verdict=judgement.verdict,
            measured=judgement.measured,
            criterion=self.criterion,
            preset=preset,
            seconds=round(sum((result["seconds"] for result in results), start=0.0), 3),
            results=tuple(results),
        )


def _undecided(failed: Sequence[Failure], cells: int, root: Path) -> Judgement:
    """What is said of a claim that lacks results."""
    places = ", ".join(str(root / failure.folder) for failure in failed)
    return Judgement(
        verdict="undecided",
        measured=f"{len(failed)} of {cells} cells failed, the first with {failed[0].summary}; see {places}",
    )
