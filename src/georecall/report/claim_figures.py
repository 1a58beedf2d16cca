"""One figure for each claim, drawn from its outcome."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import altair as alt
from altair.typing import ChartType

from georecall.claims.claim import Outcome
from georecall.claims.dissection import world_of
from georecall.figures.capacity import TICKS, capacity_figure
from georecall.figures.dissection import (
    ablation_figure,
    dose_figure,
    framed,
    headed,
    readout_figure,
    swap_figure,
    variance_figure,
)
from georecall.figures.probing import layers_figure, superposed_states_figure
from georecall.figures.theme import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, theme
from georecall.figures.transfer import transfer_bars, transfer_rows
from georecall.scaling.laws import CapacityPoint

Row = dict[str, Any]

COLOURS = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#000000"]
"""The palette of Okabe and Ito, which the colour-blind tell apart too."""


def claim_figure(outcome: Outcome) -> ChartType | None:
    """The figure of a claim; None if it has no results, or no figure is made of them."""
    draw = FIGURES.get(outcome.id)
    return draw(outcome) if draw is not None and outcome.results else None


def stamp(outcome: Outcome) -> str:
    """The line that stands in every figure: the claim, the preset and the verdict."""
    return f"{outcome.id}, {outcome.preset}: {outcome.verdict}"


def one_hop_figure(outcome: Outcome) -> alt.Chart:
    """K1: d = R·p against N, a line for each R."""
    rows = [{"N": r["n_subjects"], "d": r["dim"], "R": f"R = {r['n_relations']}"} for r in outcome.results]
    return _lines(
        outcome,
        rows,
        x=alt.X(**_log("N", "subjects N", (row["N"] for row in rows))),
        y=alt.Y(**_log("d", "dimension d = R·p", TICKS)),
        by="R",
        title="One hop: d against N",
    )


def several_hops_figure(outcome: Outcome) -> alt.Chart:
    """K2 and K3: d against k, a line for each world and construction."""
    rows = [
        {
            "k": r["hops"],
            "d": r["built"]["dimension"],
            "world": f"{r['kind']}, N = {r['n_subjects']}, R = {r['n_relations']}",
        }
        for r in outcome.results
    ]
    return _lines(
        outcome,
        rows,
        x=alt.X("k:O", title="hops k", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(**_log("d", "dimension d", TICKS)),
        by="world",
        title="Several hops without a chain of thought: d against k",
    )


def chain_figure(outcome: Outcome) -> alt.Chart:
    """K4: d − R·p against the hop limit, a line for each world."""
    rows = [
        {
            "K": limit,
            "extra": dim - r["block_dim"],
            "world": f"{r['arch']}, N = {r['n_subjects']}, R = {r['n_relations']}",
        }
        for r in outcome.results
        for limit, dim in enumerate(r["dims"], 1)
    ]
    return _lines(
        outcome,
        rows,
        x=alt.X("K:O", title="hop limit K", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("extra:Q", title="dimensions beside the blocks, d − R·p", scale=alt.Scale(zero=True)),
        by="world",
        title="Chain of thought: what hops cost",
    )


def bounds_figure(outcome: Outcome) -> alt.Chart:
    """K5: bits a fact over the bound against N, a line for each number of levels."""
    rows = [
        {"N": r["n_subjects"], "ratio": r["bits_ratio"], "levels": f"L = {r['levels']}", "order": r["levels"]}
        for r in outcome.results
        if r["n_relations"] == min(other["n_relations"] for other in outcome.results)
    ]
    return _lines(
        outcome,
        rows,
        x=alt.X(**_log("N", "subjects N", (row["N"] for row in rows))),
        y=alt.Y("ratio:Q", title="bits a fact over the bound", scale=alt.Scale(domainMin=1, zero=False)),
        by="levels",
        title="One hop: how close the code is to the counting bound",
    )


def threshold_figure(outcome: Outcome) -> alt.HConcatChart:
    """C1 and C2: d* against N for each R and against R·log2 N, beside the construction and the bounds."""
    points = [CapacityPoint.of(r) for r in outcome.results if r["width"] == "4d"]
    figure = capacity_figure(points)
    figure.title.subtitle = [stamp(outcome), figure.title.subtitle]
    return figure


def attention_figure(outcome: Outcome) -> alt.Chart:
    """C9: d* of every seed, by attention."""
    rows = [
        {"attention": r["attention"], "d": value, "seed": f"seed {seed}"}
        for r in outcome.results
        if r["kind"] == "CapacityCell"
        for seed, value in enumerate(r["least"])
    ]
    return _lines(
        outcome,
        rows,
        x=alt.X("attention:N", title="attention", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("d:Q", title="least dimension d*", scale=alt.Scale(zero=True)),
        by="seed",
        title="Uniform and learned attention",
    )


def depth_figure(outcome: Outcome) -> alt.Chart:
    """C8: d* against k, all hops at once and with a chain of thought; one hop is the same in both."""
    names = {"direct": "all hops at once", "cot": "chain of thought"}
    rows = [
        {"k": r["hops"], "d": r["threshold"], "mode": name}
        for mode, name in names.items()
        for r in outcome.results
        if r["mode"] == mode or r["hops"] == 1
    ]
    return _lines(
        outcome,
        rows,
        x=alt.X("k:O", title="hops k", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("d:Q", title="least dimension d*", scale=alt.Scale(zero=True)),
        by="mode",
        title="What depth costs a trained model",
    )


def transfer_figure(outcome: Outcome) -> alt.LayerChart:
    """C7: accuracy on new worlds against R, by recipe and method."""
    return transfer_bars(transfer_rows(outcome.results), subtitle=stamp(outcome))


def superposition_figure(found: Row, names: list[str]) -> ChartType | None:
    """C3: shares of variance; None where there are too few subjects to judge."""
    return None if found["superposition"]["note"] else variance_figure(found["superposition"], names)


def linear_figure(found: Row, names: list[str]) -> ChartType:
    """C4: read-out of every relation."""
    return readout_figure(found["readout"], names)


def exchange_figure(found: Row, names: list[str]) -> ChartType:
    """C5: what is answered after the whole exchange, and against its scale."""
    return swap_figure(found["swap"], names) | dose_figure(found["swap"])


def silenced_figure(found: Row, names: list[str]) -> ChartType:
    """C6: recall without the units of each relation."""
    return ablation_figure(found["ablation"], names)


def dissection_figure(
    outcome: Outcome,
    *,
    title: str,
    draw: Callable[[Row, list[str]], ChartType | None],
    arrange: Callable[..., ChartType],
) -> ChartType:
    """C3 to C6: every world that can be drawn, the worlds of one recipe below each other."""
    recipes: dict[str, list[ChartType]] = {}
    for r in outcome.results:
        drawn = draw(r["dissection"], [f"r{relation}" for relation in range(r["n_relations"])])
        if drawn is not None:
            heading = alt.Title(world_of(r), fontSize=14)
            recipes.setdefault(r["recipe"], []).append(headed(drawn, heading))
    columns = [alt.vconcat(*worlds, spacing=36) for worlds in recipes.values()]
    return framed(arrange(*columns, spacing=48), title, subtitle=stamp(outcome))


def probing_figure(outcome: Outcome, *, title: str, draw: Callable[[Row], ChartType | None]) -> ChartType:
    """L1 and L2: every table of facts that can be drawn, below each other."""
    tables = []
    for r in outcome.results:
        drawn = draw(r["findings"])
        if drawn is not None:
            heading = f"{r['example']}, {r['subjects']} subjects, {r['facts']} facts"
            tables.append(headed(drawn, alt.Title(heading, fontSize=14)))
    return framed(alt.vconcat(*tables, spacing=40), title, subtitle=stamp(outcome))


def joint_figure(findings: Row) -> ChartType | None:
    """L2: the joint fit by layer, and what each relation adds; None where there are too few subjects."""
    return superposed_states_figure(findings["joint"]) if findings["joint"] else None


FIGURES: dict[str, Callable[[Outcome], ChartType]] = {
    "K1": one_hop_figure,
    "K2": several_hops_figure,
    "K3": several_hops_figure,
    "K4": chain_figure,
    "K5": bounds_figure,
    "C1": threshold_figure,
    "C2": threshold_figure,
    "C3": partial(
        dissection_figure,
        title="Shares of the variance of subject embeddings",
        draw=superposition_figure,
        arrange=alt.hconcat,
    ),
    "C4": partial(
        dissection_figure, title="Linear read-out of relations", draw=linear_figure, arrange=alt.hconcat
    ),
    "C5": partial(
        dissection_figure, title="One component exchanged", draw=exchange_figure, arrange=alt.vconcat
    ),
    "C6": partial(
        dissection_figure, title="Hidden units silenced", draw=silenced_figure, arrange=alt.vconcat
    ),
    "C7": transfer_figure,
    "C8": depth_figure,
    "C9": attention_figure,
    "L1": partial(
        probing_figure, title="What a linear probe reads off the subject, by layer", draw=layers_figure
    ),
    "L2": partial(probing_figure, title="Hidden states as superpositions", draw=joint_figure),
}


def _lines(outcome: Outcome, rows: list[Row], *, x: alt.X, y: alt.Y, by: str, title: str) -> alt.Chart:
    names = list(dict.fromkeys(row[by] for row in rows))
    chart = (
        alt.Chart(
            alt.InlineData(values=rows),
            width=520,
            height=320,
            title=alt.Title(title, subtitle=stamp(outcome)),
        )
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=45))
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                f"{by}:N",
                title=None,
                scale=alt.Scale(domain=names, range=COLOURS),
                legend=alt.Legend(orient="right"),
            ),
            tooltip=[f"{by}:N", *(alt.Tooltip(str(axis.shorthand), format=",") for axis in (x, y))],
        )
    )
    chart.config = theme()
    return chart


def _log(field: str, title: str, values: Iterable[int]) -> dict[str, Any]:
    """A logarithmic channel with ticks at these values, and labels where there is room."""
    return {
        "shorthand": f"{field}:Q",
        "title": title,
        "scale": alt.Scale(type="log", nice=False, padding=12),
        "axis": alt.Axis(values=sorted(set(values)), format=",", labelOverlap="greedy", labelSeparation=8),
    }
