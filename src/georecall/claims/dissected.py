"""What C3 to C6 share: trained models of both recipes, dissected, judged world by world."""

from collections.abc import Callable, Mapping, Sequence

import altair as alt
import numpy as np
from altair.typing import ChartType
from jaxtyping import Float64

from georecall.claims.claim import Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.claims.recipes import JUDGED, RECIPES, SEEDS
from georecall.dissection import Dissection
from georecall.dissection.dissection_cell import DissectionCell, DissectionResult
from georecall.figures.dissection import framed, headed
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured

WORLDS: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": ((256, 2), (256, 4)),
    "standard": ((1024, 2), (1024, 4), (1024, 8)),
    "paper": ((4096, 4), (4096, 8), (4096, 16)),
}
TIMES: Mapping[Preset, Time] = {
    "quick": Time(23.0),
    "standard": Time(440.0),
    "paper": Time(4700.0, "estimated"),
}
SOURCE = (
    "The paper claims the structure; its recipe is not known to us. Judged is our recipe `coded`, with `plain` beside "
    "it; sizes and numbers are ours."
)

World = Measured[DissectionCell, DissectionResult]
Look = Callable[[Dissection], Finding]
"""Whether one world meets a criterion, and its numbers."""


def cells(preset: Preset) -> Sequence[Cell]:
    """Every world with every recipe."""
    return [
        DissectionCell(
            n_subjects=n,
            n_relations=r,
            recipe=name,
            training=recipe(r, preset=preset, seeds=SEEDS),
        )
        for name, recipe in RECIPES.items()
        for n, r in WORLDS[preset]
    ]


def judge_by(
    look: Look, key: Callable[[Sequence[Dissection]], str]
) -> Callable[[Sequence[World]], Judgement]:
    """All worlds of the judged recipe that can say must meet the criterion; the key figure is made of these."""

    def judge(results: Sequence[World]) -> Judgement:
        findings = [
            look(world.result.dissection).model_copy(
                update={
                    "world": f"{world_of(world.cell)}, recall {min(world.result.recall):.3f}",
                    "judged": world.cell.recipe == JUDGED,
                }
            )
            for world in results
        ]
        judged = [world.result.dissection for world in results if world.cell.recipe == JUDGED]
        return Judgement.of(findings, key=key(judged))

    return judge


def world_of(cell: DissectionCell) -> str:
    """Recipe, sizes and budget in words."""
    training = cell.training
    return (
        f"{cell.recipe}, N = {cell.n_subjects}, R = {cell.n_relations}, d = {training.dim}, "
        f"a = {training.out}, {training.seeds} seeds, {training.steps} steps"
    )


def drawn(
    draw: Callable[[Dissection, list[str]], ChartType | None],
    *,
    title: str,
    arrange: Callable[..., ChartType] = alt.vconcat,
) -> Callable[[Sequence[World], str], ChartType]:
    """The figure of every world that can be drawn, the worlds of one recipe below each other."""

    def figure(results: Sequence[World], stamp: str) -> ChartType:
        recipes: dict[str, list[ChartType]] = {}
        for world in results:
            names = [f"r{relation}" for relation in range(world.cell.n_relations)]
            chart = draw(world.result.dissection, names)
            if chart is not None:
                heading = alt.Title(world_of(world.cell), fontSize=14)
                recipes.setdefault(world.cell.recipe, []).append(headed(chart, heading))
        columns = [alt.vconcat(*worlds, spacing=36) for worlds in recipes.values()]
        return framed(arrange(*columns, spacing=48), title, subtitle=stamp)

    return figure


def own(
    rates: Float64[np.ndarray, "members relations relations"],
) -> Float64[np.ndarray, "members relations"]:
    """The diagonal: what a change of relation r does to r."""
    return np.diagonal(rates, axis1=1, axis2=2)


def others(
    rates: Float64[np.ndarray, "members relations relations"],
) -> Float64[np.ndarray, "members relations others"]:
    """Off the diagonal: what a change of relation r does to each other relation."""
    members, relations, _ = rates.shape
    return rates[:, ~np.eye(relations, dtype=bool)].reshape(members, relations, relations - 1)


def least(estimates: Sequence[Estimate]) -> str:
    """The one whose mean is least, in words."""
    return Quantity.of("", min(estimates, key=lambda estimate: float(estimate.mean))).stated
