"""C8: what depth costs a trained model, with all hops at once or with a chain of thought."""

from collections.abc import Sequence

from georecall.claims.claim import Claim, Judgement, Preset, Result, Verdict
from georecall.sweeps import Cell
from georecall.training.capacity import CapacityCell
from georecall.training.config import Mode

WORLD: dict[Preset, tuple[int, int]] = {"quick": (16, 3), "standard": (32, 4), "paper": (64, 4)}
BUDGET: dict[Preset, tuple[int, int, int]] = {
    "quick": (500, 2000, 48),
    "standard": (500, 4000, 96),
    "paper": (1000, 8000, 256),
}
"""Passes over the questions, steps at least, and the largest d tried."""
HOPS = (1, 2, 3)
RATES = (0.003, 0.01)
Thresholds = dict[int, int | None]
"""d* for each number of hops, None where it was not found."""
FLAT = 1.5
"""At most so much larger is d* for the most hops than for one, to count as nearly flat."""


def _cell(preset: Preset, hops: int, mode: Mode) -> CapacityCell:
    n_subjects, n_relations = WORLD[preset]
    passes, least_steps, most_dim = BUDGET[preset]
    return CapacityCell(
        n_subjects=n_subjects,
        n_relations=n_relations,
        hops=hops,
        mode=mode,
        attention="learned",
        heads=hops if mode == "direct" else 1,
        residual=True,
        passes=passes,
        least_steps=least_steps,
        learning_rates=RATES,
        most_dim=most_dim,
    )


def _cells(preset: Preset) -> Sequence[Cell]:
    direct = [_cell(preset, hops, "direct") for hops in HOPS]
    return [*direct, *(_cell(preset, hops, "cot") for hops in HOPS[1:])]


def thresholds(results: Sequence[Result], mode: Mode) -> Thresholds:
    """d* for each number of hops; one hop is the same in both modes."""
    return {r["hops"]: r["threshold"] for r in results if r["mode"] == mode or r["hops"] == 1}


def _judge(results: Sequence[Result]) -> Judgement:
    n_subjects, n_relations, most = (results[0][name] for name in ("n_subjects", "n_relations", "most_dim"))
    direct, chain = thresholds(results, "direct"), thresholds(results, "cot")
    if direct[1] is None:
        return Judgement(verdict="undecided", measured=f"one hop was not learned up to d = {most}")
    return Judgement(
        verdict=_verdict(direct, chain, most=most, wanted=n_relations ** (HOPS[-1] - 1) / 2),
        measured=f"N = {n_subjects}, R = {n_relations}, d* for k = {', '.join(map(str, HOPS))}: at once "
        f"{_stated(direct, most)}; chain of thought {_stated(chain, most)}; "
        f"R^{HOPS[-1] - 1} is {n_relations ** (HOPS[-1] - 1)}",
    )


def _verdict(direct: Thresholds, chain: Thresholds, *, most: int, wanted: float) -> Verdict:
    """By how many times d* grows from one hop to the most; a d* that was not found is above all tried."""
    first, at_once, step_by_step = direct[1] or most, direct[HOPS[-1]], chain[HOPS[-1]]
    grows = at_once is None or at_once >= wanted * first
    if grows and step_by_step is not None and step_by_step <= FLAT * first:
        return "holds"
    return "undecided" if at_once is None or at_once > (step_by_step or most) else "fails"


def _stated(found: Thresholds, most: int) -> str:
    """d* for each number of hops, and how many times the first the last is."""
    first, last = found[1], found[HOPS[-1]]
    listed = ", ".join(f"none up to {most}" if value is None else str(value) for value in found.values())
    times = f"{(last or most) / (first or most):.1f} times as much for k = {HOPS[-1]} as for 1"
    return f"{listed}, {'more than ' if last is None else ''}{times}"


C8 = Claim(
    id="C8",
    statement="Asked for k hops at once, training needs a dimension that grows like R^k; with a chain of thought it "
    "stays nearly flat.",
    source="The paper claims d = Õ(R^k) without and Õ(R + k) with a chain of thought; sizes and numbers are ours.",
    criterion="d* for k = 3 over that for k = 1: at least R²/2 at once, or not learned at any d tried; "
    f"at most {FLAT} with a chain of thought; undecided if it only grows more at once",
    cells=_cells,
    judge=_judge,
)
