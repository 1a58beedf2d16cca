"""What probing a language model found, drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from altair.typing import ChartType

from georecall.figures.dissection import framed
from georecall.figures.theme import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, SKY, VERMILION
from georecall.probing.causal import SwapSummary
from georecall.probing.findings import CurvePoint, Findings
from georecall.probing.joint_fit import JointFit
from georecall.probing.probe import ProbeSummary
from georecall.statistics.estimates import Estimate

Row = dict[str, Any]

STATES, RANDOM, SHUFFLED = "hidden states", "random weights", "shuffled labels"
COLOURS = {
    STATES: BLUE,
    RANDOM: PURPLE,
    SHUFFLED: MUTED,
    "layer 0": SKY,
    "majority": "#000000",
    "character n-grams": ORANGE,
    "other relation": GREEN,
}
"""Of the palette of Okabe and Ito."""
COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, CELL = 3, 250, 170, 22
SCORES = {"classes": "accuracy", "vectors": "mean reciprocal rank"}

TITLES = {
    "layers": "What a linear probe reads off the subject, by layer",
    "heat": "Relations by layer",
    "superposition": "Hidden states as superpositions",
    "subspaces": "Where relations write",
    "swaps": "One relation's component exchanged",
}
"""The figures of one probe, by the names of their files."""


def probing_figures(found: ProbeSummary, *, subtitle: str) -> dict[str, ChartType]:
    """Every figure that the report allows, by name."""
    findings = found.findings
    figures: dict[str, ChartType] = {"layers": layers_figure(findings), "heat": heat_figure(findings)}
    if joint := findings.joint:
        figures["superposition"] = superposed_states_figure(joint)
        figures["subspaces"] = subspaces_figure(joint)
    if found.swaps:
        figures["swaps"] = swaps_figure(found.swaps)
    return {name: framed(figure, TITLES[name], subtitle=subtitle) for name, figure in figures.items()}


def layers_figure(findings: Findings) -> alt.ConcatChart:
    """Held-out score by layer with its interval, a panel a relation, and every control as a line in a band."""
    points = findings.curves
    span = findings.layers[0], findings.layers[-1]
    relations = dict.fromkeys(point.relation for point in points)
    panels = [_panel([p for p in points if p.relation == name], span) for name in relations]
    return alt.concat(*panels, columns=COLUMNS, spacing=28)


def heat_figure(findings: Findings) -> alt.Chart:
    """The held-out score of the hidden states, relations by layers."""
    rows = [
        {"relation": point.relation, "layer": point.layer, "score": point.value}
        for point in findings.curves
        if point.source == STATES
    ]
    relations = list(dict.fromkeys(point.relation for point in findings.curves))
    return (
        alt.Chart(alt.InlineData(values=rows), width=alt.Step(CELL), height=alt.Step(CELL + 8))
        .mark_rect()
        .encode(
            x=alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0, labelOverlap="greedy")),
            y=alt.Y("relation:N", title=None, sort=relations, axis=alt.Axis(labelLimit=160)),
            color=alt.Color(
                "score:Q",
                title="score",
                scale=alt.Scale(range=["#f3f7fa", BLUE], domain=[0, 1]),
                legend=alt.Legend(gradientLength=120, format=".1f"),
            ),
            tooltip=["relation:N", "layer:O", alt.Tooltip("score:Q", format=".3f")],
        )
    )


def superposed_states_figure(joint: JointFit) -> alt.HConcatChart:
    """Held-out R² of the joint fit by layer with its controls; and what each relation adds that no other explains."""
    kinds = {
        "all relations": (joint.joint, BLUE),
        "random weights": (joint.random, PURPLE),
        "shuffled facts": (joint.shuffled, MUTED),
    }
    rows = [
        {"layer": layer, "source": name} | interval.to_dict()
        for name, (explained, _) in kinds.items()
        if explained
        for layer, interval in zip(joint.layers, explained.by_layer, strict=True)
    ]
    colours = alt.Color(
        "source:N",
        title=None,
        scale=alt.Scale(domain=list(kinds), range=[colour for _, colour in kinds.values()]),
        legend=alt.Legend(orient="bottom", symbolOpacity=1),
    )
    curve = _banded(rows, colours, (joint.layers[0], joint.layers[-1]), "held-out R²").properties(
        width=360, height=240
    )
    return alt.hconcat(curve, _added(joint), spacing=48).resolve_scale(color="independent")


def subspaces_figure(joint: JointFit) -> alt.HConcatChart:
    """Mean squared cosine of the principal angles between relations at the layer chosen most often, and by chance."""
    layer = joint.usual_layer
    place = joint.layers.index(layer)
    panels = {
        f"Layer {layer}": joint.subspaces[place].overlaps,
        "Facts shuffled": joint.shuffled_subspaces[place].overlaps,
        "Random subspaces of the same ranks": joint.subspaces[place].chance_overlaps,
    }
    charts = [_overlaps(overlaps, joint.relations, title) for title, overlaps in panels.items()]
    return alt.hconcat(*charts, spacing=32)


def swaps_figure(swaps: Mapping[str, SwapSummary]) -> alt.LayerChart:
    """How far each swap moves the answers, in nats: towards the new attribute, and of the other relations."""
    kinds = {
        "towards the new attribute": VERMILION,
        "the same norm in a random direction": MUTED,
        "right answers of other relations": BLUE,
    }
    rows = []
    for relation, effect in swaps.items():
        measured = zip(kinds, (effect.towards, effect.towards_at_random, effect.others_mean), strict=True)
        rows += [
            {"relation": relation, "what": what} | summary.to_dict() for what, summary in measured if summary
        ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("relation:N", title=None, sort=list(swaps), axis=alt.Axis(labelLimit=160, grid=True)),
        yOffset=alt.YOffset("what:N", sort=list(kinds)),
        color=alt.Color(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
            legend=alt.Legend(orient="bottom", columns=1),
        ),
    )
    title = "change of log-probability (nats)"
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    mean = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title=title),
        tooltip=[
            "relation:N",
            "what:N",
            *(alt.Tooltip(f"{end}:Q", format=".3f") for end in ("value", "low", "high")),
        ],
    )
    return alt.LayerChart(layer=[interval, mean], width=460, height=alt.Step(18))


def _panel(points: Sequence[CurvePoint], span: tuple[int, int]) -> alt.LayerChart:
    """One relation: every source has a point at each layer, or one value at all of them."""
    rows = [
        point.to_dict() | {"layer": layer}
        for point in points
        for layer in (span if point.layer is None else [point.layer])
    ]
    colours = alt.Color(
        "source:N",
        title=None,
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=alt.Legend(orient="bottom", columns=4, symbolOpacity=1),
    )
    heading = alt.Title(points[0].relation, fontSize=14, fontWeight="normal", offset=8)
    chart = _banded(rows, colours, span, SCORES[points[0].kind], domain=[0.0, 1.0])
    return chart.properties(width=PANEL_WIDTH, height=PANEL_HEIGHT, title=heading)


def _banded(
    rows: Sequence[Row],
    colours: alt.Color,
    span: tuple[int, int],
    title: str,
    *,
    domain: list[float] | None = None,
) -> alt.LayerChart:
    """Lines over layers in bands from `low` to `high`."""
    chart = alt.Chart(alt.InlineData(values=list(rows)))
    x = alt.X(
        "layer:Q",
        title="layer",
        scale=alt.Scale(domain=list(span), nice=False),
        axis=alt.Axis(grid=False, format="d"),
    )
    scale = alt.Scale(domain=domain) if domain else alt.Scale(zero=True)
    band = chart.mark_area(opacity=0.15, clip=True).encode(
        x=x, y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q", color=colours
    )
    line = chart.mark_line(strokeWidth=2, clip=True).encode(
        x=x,
        y=alt.Y("value:Q", title=title, scale=scale),
        color=colours,
        tooltip=[
            "source:N",
            "layer:Q",
            *(alt.Tooltip(f"{end}:Q", format=".3f") for end in ("value", "low", "high")),
        ],
    )
    return alt.LayerChart(layer=[band, line])


def _added(joint: JointFit) -> alt.LayerChart:
    """R² of each relation alone, and what is lost without it, at the layers chosen."""
    kinds = {"alone": (joint.alone, SKY), "lost without it": (joint.unique, VERMILION)}
    rows = [
        {"relation": relation, "what": name} | explained[relation].chosen.to_dict()
        for name, (explained, _) in kinds.items()
        for relation in joint.relations
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "relation:N", title=None, sort=list(joint.relations), axis=alt.Axis(labelLimit=160, grid=True)
        ),
        color=alt.Color(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(kinds), range=[colour for _, colour in kinds.values()]),
            legend=alt.Legend(orient="bottom"),
        ),
    )
    title = "held-out R² at the layers chosen"
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    mean = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title=title),
        tooltip=["relation:N", "what:N", alt.Tooltip("value:Q", format=".3f")],
    )
    return alt.LayerChart(layer=[interval, mean], width=300, height=240)


def _overlaps(overlaps: Estimate, relations: Sequence[str], title: str) -> alt.LayerChart:
    cells = [
        {"row": row, "column": column, "overlap": float(overlaps.mean[i, j])}
        for i, row in enumerate(relations)
        for j, column in enumerate(relations)
        if i != j and not np.isnan(overlaps.mean[i, j])
    ]
    axis = alt.Axis(labelLimit=140, ticks=False, domain=False)
    base = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X(
            "column:N",
            title=None,
            sort=list(relations),
            axis=alt.Axis(labelLimit=140, labelAngle=-45, ticks=False, domain=False),
        ),
        y=alt.Y("row:N", title=None, sort=list(relations), axis=axis),
    )
    squares = base.mark_rect(stroke="white").encode(
        color=alt.Color(
            "overlap:Q",
            title="mean cos²",
            scale=alt.Scale(range=["#f3f7fa", BLUE], domain=[0, 1]),
            legend=alt.Legend(gradientLength=120),
        ),
        tooltip=["row:N", "column:N", alt.Tooltip("overlap:Q", format=".3f")],
    )
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("overlap:Q", format=".2f"),
        color=alt.condition("datum.overlap > 0.55", alt.value("white"), alt.value(INK)),
    )
    return alt.LayerChart(
        layer=[squares, numbers],
        width=alt.Step(40),
        height=alt.Step(40),
        title=alt.Title(title, fontSize=14, fontWeight="normal", offset=8),
    )
