"""C7: new worlds swapped into a trained model by writing subject embeddings in closed form, all else frozen."""

from collections.abc import Sequence
from statistics import fmean

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.claims.recipes import JUDGED, RECIPES, SEEDS
from georecall.claims.trained_cells import TransferCell
from georecall.sweeps import Cell

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


def transfer_cell(preset: Preset, recipe: str, n_relations: int) -> TransferCell:
    """New worlds swapped into models of one recipe."""
    return TransferCell(
        n_subjects=SUBJECTS[preset],
        n_relations=n_relations,
        recipe=recipe,
        training=RECIPES[recipe](n_relations, preset=preset, seeds=SEEDS),
        worlds=NEW_WORLDS[preset],
    )


def _cells(preset: Preset) -> Sequence[Cell]:
    return [transfer_cell(preset, recipe, r) for recipe in RECIPES for r in RELATIONS[preset]]


def chosen_method(result: Result) -> str:
    """The method that is best on the worlds drawn for choosing, which are not those reported."""
    choosing = result["choosing"]
    return max(choosing, key=lambda method: choosing[method]["accuracy"]["mean"])


def _judge(results: Sequence[Result]) -> Judgement:
    judged = [r for r in results if r["recipe"] == JUDGED and r["n_relations"] in LEAST]
    first = results[0]
    return Judgement(
        verdict="holds" if judged and all(map(meets, judged)) else "fails",
        measured=f"N = {first['n_subjects']:,}, {first['training']['seeds']} seeds, {first['worlds']} new worlds, "
        f"{first['training']['steps']:,} steps, chance {1 / first['n_subjects']:.4f}: "
        + "; ".join(stated(result) for result in results),
    )


def meets(result: Result) -> bool:
    """Whether enough new facts are recalled, and few with random embeddings."""
    found = result["transfer"][chosen_method(result)]
    low_enough = found["random"]["mean"] <= MOST_CHANCES * found["chance"]
    return low_enough and found["accuracy"]["mean"] >= LEAST[result["n_relations"]]


def stated(result: Result) -> str:
    """One cell in words and numbers."""
    training, method = result["training"], chosen_method(result)
    found, untrained = result["transfer"][method], result["untrained"][method]
    dim = training["dim"]
    accuracy, interval = found["accuracy"]["mean"], found["accuracy"]["interval"]
    between = "" if interval is None else f" ({interval[0]:.3f} … {interval[1]:.3f})"
    return (
        f"{result['recipe']}, R = {result['n_relations']}, d = {dim}, a = {training['attribute_dim'] or dim}: "
        f"{accuracy:.3f}{between} by {method}, old facts {fmean(result['recall']):.3f}, random embeddings "
        f"{found['random']['mean']:.4f}, untrained model {untrained['accuracy']['mean']:.3f}"
    )


C7 = Claim(
    id="C7",
    statement="New random bijections are recalled without training: subject embeddings are written in closed form, "
    "the MLP and all else stay frozen.",
    source="The paper claims that frozen MLPs recall new bijections; recipes, writers, sizes and numbers are ours "
    "(docs/transfer.md).",
    criterion="With the coded recipe and the method that is best on other new worlds: "
    + ", ".join(f"accuracy ≥ {least} at R = {relations}" for relations, least in LEAST.items())
    + f", random embeddings ≤ {MOST_CHANCES} times chance",
    cells=_cells,
    judge=_judge,
)
