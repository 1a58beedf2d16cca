"""C7: new worlds swapped into a trained model by writing subject embeddings in closed form, all else frozen."""

from collections.abc import Sequence
from statistics import fmean

from altair.typing import ChartType

from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.claims.recipes import JUDGED, RECIPES, SEEDS
from georecall.figures.transfer import transfer_bars, transfer_rows
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured
from georecall.transfer.transfer_cell import TransferCell, TransferResult

SUBJECTS: dict[Preset, int] = {"quick": 256, "standard": 1024, "paper": 4096}
RELATIONS: dict[Preset, tuple[int, ...]] = {
    "quick": (2, 4),
    "standard": (2, 4, 8, 16),
    "paper": (2, 4, 8, 16),
}
NEW_WORLDS: dict[Preset, int] = {"quick": 3, "standard": 5, "paper": 5}
LEAST = {2: 0.9, 4: 0.8}
"""Accuracy wanted for each R."""
MOST_CHANCES = 5

World = Measured[TransferCell, TransferResult]


def transfer_cell(preset: Preset, recipe: str, n_relations: int) -> TransferCell:
    """New worlds swapped into models of one recipe."""
    return TransferCell(
        n_subjects=SUBJECTS[preset],
        n_relations=n_relations,
        recipe=recipe,
        training=RECIPES[recipe](n_relations, preset=preset, seeds=SEEDS),
        worlds=NEW_WORLDS[preset],
    )


def cells(preset: Preset) -> Sequence[Cell]:
    """Every recipe and R."""
    return [transfer_cell(preset, recipe, r) for recipe in RECIPES for r in RELATIONS[preset]]


def judge(results: Sequence[World]) -> Judgement:
    """Every R that a least accuracy is wanted of must meet it."""
    findings = tuple(map(look, results))
    judged = [finding.met for finding in findings if finding.judged]
    recipe = [world for world in results if world.cell.recipe == JUDGED]
    worst = min(recipe or results, key=lambda world: float(world.result.chosen.accuracy.mean))
    return Judgement(
        verdict="holds" if judged and all(judged) else "fails",
        key=f"accuracy {accuracy(worst).stated} at R = {worst.cell.n_relations}",
        findings=findings,
    )


def look(world: World) -> Finding:
    """Whether enough new facts are recalled, and few with random embeddings; only where an accuracy is wanted."""
    cell, found = world.cell, world.result.chosen
    wanted = LEAST.get(cell.n_relations)
    few_at_random = float(found.random.mean) <= MOST_CHANCES * found.chance
    met = None if wanted is None else few_at_random and bool(found.accuracy.mean >= wanted)
    training = cell.training
    return Finding(
        world=f"{cell.recipe}, N = {cell.n_subjects:,}, R = {cell.n_relations}, d = {training.dim}, "
        f"a = {training.out}, {training.attention} attention, {training.seeds} seeds, {training.steps:,} steps, "
        f"{cell.worlds} new worlds",
        met=met,
        judged=cell.recipe == JUDGED and wanted is not None,
        quantities=(
            accuracy(world),
            Quantity(name="old facts", value=fmean(world.result.recall)),
        ),
    )


def accuracy(world: World) -> Quantity:
    """The share of new facts recalled, by the method chosen on other new worlds."""
    method, found = world.result.method, world.result.chosen
    untrained = float(world.result.untrained[method].accuracy.mean)
    return Quantity.of(
        f"new facts recalled, by {method}",
        found.accuracy,
        controls=(
            Quantity(name="random embeddings", value=float(found.random.mean), form=".4f"),
            Quantity(name="untrained model", value=untrained),
        ),
        chance=found.chance,
    )


def figure(results: Sequence[World], stamp: str) -> ChartType:
    """Accuracy on new worlds against R, by recipe and method."""
    return transfer_bars(transfer_rows(results), subtitle=stamp)


C7 = Claim(
    id="C7",
    statement="New random bijections are recalled without training: subject embeddings are written in closed form, "
    "the MLP and all else stay frozen.",
    source="The paper claims that frozen MLPs recall new bijections; recipes, solvers, sizes and numbers are ours "
    "(docs/transfer.md).",
    criterion=f"With the {JUDGED} recipe and the method that is best on other new worlds: "
    + ", ".join(f"accuracy ≥ {least} at R = {relations}" for relations, least in LEAST.items())
    + f", random embeddings ≤ {MOST_CHANCES} times chance",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(23.7), "standard": Time(2713.0), "paper": Time(4900.0, "estimated")},
)
