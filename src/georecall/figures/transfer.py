"""How well new facts are recalled by models that were not trained on them."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from georecall.figures.theme import BLUE, GREEN, INK, MUTED, ORANGE, SKY, VERMILION, theme
from georecall.sweeps import Measured
from georecall.transfer.freeze_and_swap import Transfer
from georecall.transfer.transfer_cell import TransferCell, TransferResult

Row = dict[str, Any]
RELATION_COLOURS = [SKY, BLUE, GREEN, ORANGE, VERMILION]
BAR_COLOURS = {
    "coded, ridge": BLUE,
    "coded, selector": SKY,
    "plain, ridge": VERMILION,
    "plain, selector": ORANGE,
}
DOT = 110
CRITICAL = 1.0
"""Interference above which the targets of a new subject cannot all be met (docs/transfer.md)."""


def transfer_rows(results: Iterable[Measured[TransferCell, TransferResult]]) -> list[Row]:
    """A row for each cell and method: accuracy on the worlds reported, and its controls."""
    return [
        _row(measured.cell, method, found)
        for measured in results
        for method, found in measured.result.transfer.items()
    ]


def _row(cell: TransferCell, method: str, found: Transfer) -> Row:
    mean = float(found.accuracy.mean)
    low, high = found.accuracy.interval or (mean, mean)
    return {
        "n_subjects": cell.n_subjects,
        "n_relations": cell.n_relations,
        "recipe": cell.recipe,
        "attribute_dim": cell.training.out,
        "dim": cell.training.dim,
        "method": method,
        "accuracy": mean,
        "low": max(float(low), 0.0),
        "high": min(float(high), 1.0),
        "random": float(found.random.mean),
        "chance": found.chance,
        "interference": float(found.interference.mean),
    }


def recipe_figure(rows: Sequence[Row]) -> alt.HConcatChart:
    """Accuracy against the attribute dimension, a line for each R, and against interference, a dot for each cell.

    Rows are those of `transfer_rows`; bars are 95 % intervals over seeds.
    """
    marked = [row | {"relations": f"R = {row['n_relations']}"} for row in rows]
    chart = alt.Chart(alt.InlineData(values=marked)).encode(color=_relation_colour(rows))
    joined = chart.mark_line(strokeWidth=2).encode(
        x=_attribute_axis(rows),
        y=_accuracy_axis(),
        detail="recipe:N",
        strokeDash=alt.StrokeDash("method:N", legend=None),
    )
    critical = alt.Chart(alt.InlineData(values=[{"interference": CRITICAL}]))
    rule = critical.mark_rule(color=MUTED, strokeDash=[2, 3]).encode(x="interference:Q")
    interference = alt.X("interference:Q", title="interference, R · rank / d", scale=alt.Scale(zero=True))
    figure = alt.hconcat(
        _panel("Accuracy by attribute dimension", joined, *_dots(chart, _attribute_axis(rows))),
        _panel("Accuracy by interference", rule, *_dots(chart, interference)),
        spacing=48,
        title=alt.Title("New worlds swapped in", subtitle="All parameters but subject embeddings frozen"),
    )
    figure.config = theme()
    return figure


def transfer_bars(
    rows: Sequence[Row], *, title: str = "New worlds swapped in", subtitle: str
) -> alt.LayerChart:
    """Accuracy against R for every recipe and method, beside random embeddings (black ticks) and chance (dashes).

    Rows are those of `transfer_rows`; thin lines are 95 % intervals over seeds.
    """
    marked = [row | {"series": f"{row['recipe']}, {row['method']}"} for row in rows]
    names = sorted({row["series"] for row in marked})
    chart = alt.Chart(alt.InlineData(values=marked))
    x = alt.X("n_relations:O", title="relations R", axis=alt.Axis(labelAngle=0))
    offset = alt.XOffset("series:N", scale=alt.Scale(domain=names))
    colours = alt.Scale(domain=names, range=[BAR_COLOURS.get(name, MUTED) for name in names])
    bars = chart.mark_bar().encode(
        x=x,
        xOffset=offset,
        y=_accuracy_axis(),
        color=alt.Color(
            "series:N", title=None, scale=colours, legend=alt.Legend(symbolType="square", symbolSize=DOT)
        ),
        tooltip=_tooltip("series:N"),
    )
    intervals = chart.mark_rule(color=INK).encode(x=x, xOffset=offset, y="low:Q", y2="high:Q")
    random = chart.mark_tick(color=INK, thickness=2).encode(x=x, xOffset=offset, y="random:Q")
    chance = alt.Chart(alt.InlineData(values=[{"chance": row["chance"]} for row in rows[:1]]))
    line = chance.mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y="chance:Q")
    figure = alt.LayerChart(
        layer=[bars, intervals, random, line],
        width=520,
        height=320,
        title=alt.Title(title, subtitle=[subtitle, "Ticks: random embeddings; dashes: chance"]),
    )
    figure.config = theme()
    return figure


def _dots(chart: alt.Chart, x: alt.X) -> tuple[alt.Chart, alt.Chart]:
    """Intervals, and a dot for each row on them."""
    legend = alt.Legend(symbolType="circle", symbolSize=DOT, symbolStrokeWidth=0)
    dots = chart.mark_point(filled=True, size=60, opacity=0.9).encode(
        x=x,
        y=_accuracy_axis(),
        shape=alt.Shape("method:N", title=None, legend=legend),
        tooltip=_tooltip("recipe:N", "method:N", "relations:N", "dim:Q", "attribute_dim:Q", "interference:Q"),
    )
    return chart.mark_rule().encode(x=x, y="low:Q", y2="high:Q"), dots


def _panel(title: str, *layers: alt.Chart) -> alt.LayerChart:
    heading = alt.Title(title, fontSize=14, fontWeight="normal")
    return alt.LayerChart(layer=list(layers), width=340, height=300, title=heading)


def _relation_colour(rows: Sequence[Row]) -> alt.Color:
    names = [f"R = {relations}" for relations in sorted({row["n_relations"] for row in rows})]
    return alt.Color(
        "relations:N",
        title=None,
        scale=alt.Scale(domain=names, range=RELATION_COLOURS[: len(names)]),
        legend=alt.Legend(symbolType="circle", symbolSize=DOT, symbolStrokeWidth=0),
    )


def _attribute_axis(rows: Sequence[Row]) -> alt.X:
    return alt.X(
        "attribute_dim:Q",
        title="attribute dimension a",
        scale=alt.Scale(type="log", base=2, nice=False, padding=14),
        axis=alt.Axis(values=sorted({row["attribute_dim"] for row in rows}), labelAngle=0),
    )


def _accuracy_axis() -> alt.Y:
    return alt.Y("accuracy:Q", title="accuracy on all new facts", scale=alt.Scale(domain=[0, 1]))


def _tooltip(*fields: str) -> list[Any]:
    return [*fields, *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("accuracy", "random", "chance"))]
