"""What a dissection found, drawn: matrices of relations, doses, hidden units, shares."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType
from jaxtyping import Float64

from georecall.dissection import Dissection
from georecall.dissection.ablation import Ablation
from georecall.dissection.readout import Readout
from georecall.dissection.relation_patching import Patching
from georecall.dissection.superposition import Superposition
from georecall.dissection.swap import Swap
from georecall.figures.theme import BLUE, INK, MUTED, VERMILION, theme
from georecall.statistics.estimates import Estimate

Row = dict[str, Any]

MATRIX, LARGEST_CELL, SMALLEST_CELL = 480, 48, 3
CELL_WITH_TEXT, SMALLEST_LABEL = 26, 16
"""Sizes in points: a matrix fills `MATRIX` at most, with numbers in its cells, and all names, where there is room."""
UNITS_WIDTH = 560
SHADES = ["#f3f7fa", BLUE]

TITLES = {
    "variance": "Subject embeddings as superpositions",
    "readout": "Linear read-out of every relation",
    "swap": "One relation's component exchanged",
    "doses": "Dose and response of the exchange",
    "patching": "Another relation patched in at the input of the MLP",
    "ablation": "Hidden units of one relation ablated",
    "units": "Activity of hidden units by relation",
}
"""The figures of one dissection, by the names of their files."""


def dissection_figures(found: Dissection, relations: Sequence[str], *, subtitle: str) -> dict[str, ChartType]:
    """Every figure that the analyses allow, by name; that of units is of the first member."""
    figures: dict[str, ChartType] = {}
    if found.superposition and (figure := variance_figure(found.superposition, relations)) is not None:
        figures["variance"] = figure
    if found.readout:
        figures["readout"] = readout_figure(found.readout, relations)
    if found.swap:
        figures["swap"] = swap_figure(found.swap, relations)
        figures["doses"] = dose_figure(found.swap)
    if found.patching:
        figures["patching"] = patching_figure(found.patching, relations)
    if found.ablation:
        figures["ablation"] = ablation_figure(found.ablation, relations)
    if found.selectivity and found.selectivity.shares is not None:
        figures["units"] = units_figure(found.selectivity.shares[0], relations)
    return {name: framed(figure, TITLES[name], subtitle=subtitle) for name, figure in figures.items()}


def framed(figure: ChartType, title: str, *, subtitle: str) -> ChartType:
    """A figure with its heading and the theme of all figures."""
    whole = headed(figure, alt.Title(title, subtitle=subtitle))
    whole.config = theme()
    return whole


def headed(figure: ChartType, title: alt.Title) -> ChartType:
    """A figure below a title; nothing is copied, which for nested figures would take long."""
    whole = figure if isinstance(figure, alt.HConcatChart | alt.VConcatChart) else alt.vconcat(figure)
    whole.title = title
    return whole


def variance_figure(part: Superposition, relations: Sequence[str]) -> alt.LayerChart | None:
    """The share of the variance of e_s that each relation's component has; None where there is no R² to judge by."""
    if part.held_out_r2 is None or part.shuffled_r2 is None or part.shares is None:
        return None
    r2, control = float(part.held_out_r2.mean), float(part.shuffled_r2.mean)
    rows = _by_relation(part.shares, relations)
    return _strip([(rows, BLUE)], relations, title="share of the variance of e_s").properties(
        title=_heading(f"Held-out R² {r2:.2f}, with shuffled facts {control:.2f}")
    )


def readout_figure(part: Readout, relations: Sequence[str]) -> alt.LayerChart:
    """The rate at which each relation is read off linearly, with shuffled facts, and chance as a dashed line."""
    rates = _by_relation(part.rates, relations)
    shuffled = _by_relation(part.shuffled, relations)
    strip = _strip([(shuffled, MUTED), (rates, BLUE)], relations, title="top-1 rate on held-out subjects")
    chance = (
        alt.Chart(alt.InlineData(values=[{"rate": part.chance}]))
        .mark_rule(color=VERMILION, strokeDash=[4, 3])
        .encode(x="rate:Q")
    )
    heading = _heading(f"Blue: facts; grey: shuffled facts; dashes: chance, {part.chance:.4f}")
    return alt.LayerChart(layer=[chance, *strip.layer], title=heading, width=strip.width)


def swap_figure(part: Swap, relations: Sequence[str]) -> alt.HConcatChart:
    """After the whole change of r: how often r' answers b, and how often it keeps its own answer."""
    swap = part.swap
    return alt.hconcat(
        _matrix(swap.became, relations, "Answers the new attribute", rows="swapped", columns="asked"),
        _matrix(swap.kept, relations, "Keeps its answer", rows="swapped", columns="asked"),
        spacing=40,
    )


def patching_figure(part: Patching, relations: Sequence[str]) -> alt.HConcatChart:
    """Asked for r with the contribution of r': how often the answer is that of r', and that of r."""
    return alt.hconcat(
        _matrix(
            part.became, relations, "Answers the relation patched in", rows="asked", columns="patched in"
        ),
        _matrix(part.kept, relations, "Answers the relation asked", rows="asked", columns="patched in"),
        spacing=40,
    )


def ablation_figure(part: Ablation, relations: Sequence[str]) -> alt.HConcatChart:
    """Recall without the units of a relation, and without as many random units."""
    return alt.hconcat(
        _matrix(part.ablated, relations, "Recall without its units", rows="ablated", columns="asked"),
        _matrix(
            part.random,
            relations,
            "Recall without as many random units",
            rows="as many as of",
            columns="asked",
        ),
        spacing=40,
    )


def dose_figure(part: Swap) -> alt.LayerChart:
    """How often the answer follows and the others stay against the scale of the change, with bands over members."""
    colours = {"the answer follows": VERMILION, "the other relations stay": BLUE}
    rows = [
        {"scale": scale, "what": what} | _summary(rates.at())
        for place, what in enumerate(colours)
        for scale, dose in zip(part.scales, part.doses, strict=True)
        if (rates := (dose.follow, dose.stay)[place]) is not None
    ]
    colour = alt.Color(
        "what:N",
        title=None,
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=alt.Legend(orient="bottom", symbolOpacity=1),
    )
    chart = alt.Chart(alt.InlineData(values=rows))
    x = alt.X(
        "scale:Q",
        title="scale of the change",
        axis=alt.Axis(values=list(part.scales), grid=False, format="~g"),
    )
    rate: dict[str, Any] = {"scale": _whole(), "title": "rate, mean over relations"}
    band = chart.mark_area(opacity=0.18, clip=True).encode(
        x=x, y=alt.Y("low:Q", **rate), y2="high:Q", color=colour
    )
    line = chart.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=50)).encode(
        x=x, y=alt.Y("mean:Q", **rate), color=colour, tooltip=["what:N", "scale:Q", _rounded("mean")]
    )
    return alt.LayerChart(layer=[band, line], width=420, height=260)


def units_figure(shares: Float64[np.ndarray, "relations units"], relations: Sequence[str]) -> alt.Chart:
    """The share of each hidden unit's activity by relation; units sorted by their relation, then by that share."""
    active = shares[:, ~np.isnan(shares).any(axis=0)]
    order = np.lexsort((-active.max(axis=0), active.argmax(axis=0)))
    rows = [
        {"unit": place, "end": place + 1, "relation": name, "share": float(active[number, unit])}
        for number, name in enumerate(relations)
        for place, unit in enumerate(order)
    ]
    silent = shares.shape[1] - active.shape[1]
    return (
        alt.Chart(
            alt.InlineData(values=rows),
            width=UNITS_WIDTH,
            height=alt.Step(max(SMALLEST_CELL, min(34, MATRIX // len(relations)))),
            title=_heading(f"{active.shape[1]} units of one member, and {silent} that are silent"),
        )
        .mark_rect()
        .encode(
            x=alt.X(
                "unit:Q",
                title="hidden units, sorted by the relation they are most active for",
                scale=alt.Scale(domain=[0, active.shape[1]], nice=False),
                axis=alt.Axis(grid=False, format="d"),
            ),
            x2="end:Q",
            y=alt.Y("relation:N", title=None, sort=list(relations), axis=_names()),
            color=_shade("share", "share of activity"),
            tooltip=["relation:N", "unit:Q", _rounded("share")],
        )
    )


def _matrix(
    estimate: Estimate, relations: Sequence[str], title: str, *, rows: str, columns: str
) -> alt.LayerChart:
    """Rates [r, r'] as a heat map, means over members."""
    means = estimate.mean
    cells = [
        {"row": row, "column": column, "rate": float(means[i, j])}
        for i, row in enumerate(relations)
        for j, column in enumerate(relations)
    ]
    size = max(SMALLEST_CELL, min(LARGEST_CELL, MATRIX // len(relations)))
    crowded = size < SMALLEST_LABEL
    turned = any(len(name) > 4 for name in relations)
    base = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X(
            "column:N",
            title=columns,
            sort=list(relations),
            axis=_names(crowded=crowded, labelAngle=-45 if turned else 0),
        ),
        y=alt.Y("row:N", title=rows, sort=list(relations), axis=_names(crowded=crowded)),
    )
    squares = base.mark_rect(stroke="white", strokeWidth=1 if size > 8 else 0).encode(
        color=_shade("rate", "rate"),
        tooltip=[
            alt.Tooltip("row:N", title=rows),
            alt.Tooltip("column:N", title=columns),
            _rounded("rate"),
        ],
    )
    numbers = base.mark_text(fontSize=12 if size > 36 else 10).encode(
        text=alt.Text("rate:Q", format=".2f"),
        color=alt.condition("datum.rate > 0.55", alt.value("white"), alt.value(INK)),
    )
    return alt.LayerChart(
        layer=[squares, numbers] if size >= CELL_WITH_TEXT else [squares],
        width=alt.Step(size),
        height=alt.Step(size),
        title=_heading(title),
    )


def _strip(
    groups: Sequence[tuple[Sequence[Row], str]], relations: Sequence[str], *, title: str
) -> alt.LayerChart:
    """A dot and an interval for each relation, a colour for each group."""
    y = alt.Y("relation:N", title=None, sort=list(relations), axis=_names(grid=True))
    layers: list[alt.Chart] = []
    for rows, colour in groups:
        chart = alt.Chart(alt.InlineData(values=rows))
        layers += [
            chart.mark_rule(color=colour, strokeWidth=2, clip=True).encode(
                y=y, x=alt.X("low:Q", title=title, scale=_whole()), x2="high:Q"
            ),
            chart.mark_point(color=colour, filled=True, size=70, opacity=1).encode(
                y=y,
                x=alt.X("mean:Q", title=title, scale=_whole()),
                tooltip=["relation:N", _rounded("mean"), _rounded("low"), _rounded("high")],
            ),
        ]
    return alt.LayerChart(layer=layers, width=360)


def _by_relation(rates: Estimate, relations: Sequence[str]) -> list[Row]:
    return [{"relation": name} | _summary(rates.at(place)) for place, name in enumerate(relations)]


def _summary(estimate: Estimate) -> Row:
    """Mean and interval; the mean for both ends where there are too few members."""
    low, high = estimate.interval or (estimate.mean, estimate.mean)
    return {"mean": float(estimate.mean), "low": float(low), "high": float(high)}


def _heading(text: str) -> alt.Title:
    return alt.Title(text, fontSize=14, fontWeight="normal", offset=10)


def _names(*, crowded: bool = False, **options: Any) -> alt.Axis:
    """An axis of relations, all of them named unless they are too many."""
    return alt.Axis(
        labelLimit=140,
        labelPadding=8,
        labelOverlap="greedy" if crowded else False,
        ticks=False,
        domain=False,
        **options,
    )


def _whole() -> alt.Scale:
    return alt.Scale(domain=[0, 1])


def _shade(field: str, title: str) -> alt.Color:
    legend = alt.Legend(
        orient="right", gradientLength=120, format=".1f", titleFontSize=12, titleFontWeight="normal"
    )
    return alt.Color(f"{field}:Q", title=title, scale=alt.Scale(range=SHADES, domain=[0, 1]), legend=legend)


def _rounded(field: str) -> alt.Tooltip:
    return alt.Tooltip(f"{field}:Q", format=".3f")
