"""C8: what depth costs a trained model, with all hops at once or with a chain of thought."""

from collections.abc import Sequence

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.sweeps import Cell
from georecall.training.capacity import CapacityCell
from georecall.training.config import Mode

WORLD: dict[Preset, tuple[int, int]] = {"quick": (16, 2), "standard": (32, 2), "paper": (64, 3)}
BUDGET: dict[Preset, tuple[int, int, int]] = {
    "quick": (500, 2000, 48),
    "standard": (500, 4000, 96),
    "paper": (1000, 8000, 256),
}
"""Passes over the questions, steps at least, and the largest d tried."""
HOPS = (1, 2, 3)
RATES = (0.003, 0.01)
FLAT = 1.5


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


def thresholds(results: Sequence[Result], mode: Mode) -> dict[int, int | None]:
    """d* for each number of hops; one hop is the same in both modes."""
    return {r["hops"]: r["threshold"] for r in results if r["mode"] == mode or r["hops"] == 1}


def _judge(results: Sequence[Result]) -> Judgement:
    relations, deepest = results[0]["n_relations"], HOPS[-1]
    direct, chain = thresholds(results, "direct"), thresholds(results, "cot")
    first = direct[1]
    if first is None:
        return Judgement(verdict="undecided", measured="one hop was not learned with any dimension tried")
    tallest = {r["mode"]: max(r["tried"]) for r in results if r["hops"] == deepest}
    at_once = (direct[deepest] or tallest["direct"]) / first
    step_by_step = (chain[deepest] or tallest["cot"]) / first
    wanted = relations ** (deepest - 1) / 2
    return Judgement(
        verdict="holds" if at_once >= wanted and chain[deepest] and step_by_step <= FLAT else "fails",
        measured=f"N = {results[0]['n_subjects']}, R = {relations}, d* for k = {', '.join(map(str, HOPS))}: at once "
        f"{_listed(direct, tallest['direct'])}, {at_once:.1f} times as much for k = {deepest} as for 1; chain of "
        f"thought {_listed(chain, tallest['cot'])}, {step_by_step:.1f} times; R^{deepest - 1} is "
        f"{relations ** (deepest - 1)}",
    )


def _listed(found: dict[int, int | None], tallest: int) -> str:
    return ", ".join(f"none up to {tallest}" if value is None else str(value) for value in found.values())


C8 = Claim(
    id="C8",
    statement="Asked for k hops at once, training needs a dimension that grows like R^k; with a chain of thought it "
    "stays nearly flat.",
    source="The paper claims d = Õ(R^k) without and Õ(R + k) with a chain of thought; sizes and numbers are ours.",
    criterion="d* for k = 3 over that for k = 1: at least R²/2 at once (or not learned at any d tried), "
    f"at most {FLAT} with a chain of thought",
    cells=_cells,
    judge=_judge,
)
