"""Least dimensions against the size of the world, beside what is built and what no model can go below."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from georecall.analysis.scaling import LM_BITS, CapacityPoint
from georecall.report.figures import BLUE, INK, MUTED, VERMILION, theme
from georecall.theory.bounds import one_hop_bits, one_hop_dimension
from georecall.theory.sizes import one_hop_size

FLOAT_BITS = 32
CONSTRUCTION, BOUND, REFERENCE = "one-hop construction, R·p", "lower bound, 32 bits", "2 bits a parameter"
NAMES = {"none": "trained", "subjects": "subjects frozen", "inputs": "inputs frozen"}
COLOURS = [BLUE, VERMILION, "#cc79a7", "#e69f00"]
Row = dict[str, Any]


def capacity_figure(
    points: Sequence[CapacityPoint], *, title: str = "Least dimension that recalls the facts"
) -> alt.HConcatChart:
    """d* against N, a panel for each R, and d* against R·log2 N; a dot for each seed, lines through the medians.

    Beside them the dimension of the one-hop construction, the lower bound for float32 weights, and the dimension
    at which the model has two bits a parameter (width 4d), as was found in language models.
    """
    relations = sorted({point.n_relations for point in points})
    rows = [row for point in points for row in _rows(point)]
    lines = [row for r in relations for row in _reference_rows(points, r)]
    names = list(dict.fromkeys(row["series"] for row in rows))
    panels = [
        _panel([row for row in rows if row["R"] == r], [row for row in lines if row["R"] == r], names, r)
        for r in relations
    ]
    figure = alt.hconcat(*panels, _against_bits(rows, names), spacing=28).properties(
        title=alt.Title(title, subtitle=_subtitle(points))
    )
    figure.config = theme()
    return figure


def _rows(point: CapacityPoint) -> list[Row]:
    """A row for each seed that has a threshold."""
    return [
        {
            "N": point.n_subjects,
            "R": point.n_relations,
            "bits": point.n_relations * math.log2(point.n_subjects),
            "d": value,
            "series": NAMES.get(point.freeze, f"{point.freeze} frozen"),
        }
        for value in point.known
    ]


def _reference_rows(points: Sequence[CapacityPoint], r: int) -> list[Row]:
    sizes = sorted({point.n_subjects for point in points if point.n_relations == r})
    values: dict[str, Callable[[int], float]] = {
        CONSTRUCTION: lambda n: one_hop_size(n, r).dimension,
        BOUND: lambda n: one_hop_dimension(n, r, bits=FLOAT_BITS).least,
        REFERENCE: lambda n: _dimension_of_bits(n, r),
    }
    return [
        {"N": n, "R": r, "d": float(value(n)), "series": name}
        for name, value in values.items()
        for n in sizes
    ]


def _dimension_of_bits(n: int, r: int) -> float:
    """The d at which 2 N d + 8 d² parameters (embedding, unembedding, an MLP of width 4d) hold 2 bits each."""
    roots = np.roots([8, 2 * n, -one_hop_bits(n, r) / LM_BITS])
    return float(max(roots.real))


def _panel(rows: list[Row], lines: list[Row], names: list[str], r: int) -> alt.LayerChart:
    x = alt.X(
        "N:Q",
        title="subjects N",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=alt.Axis(values=sorted({row["N"] for row in lines}), labelAngle=-40),
    )
    y = alt.Y("d:Q", title="dimension d", scale=alt.Scale(type="log", nice=True))
    measured = alt.Chart(alt.InlineData(values=rows))
    colour = _colour(names)
    dots = measured.mark_point(filled=True, size=40, opacity=0.6).encode(
        x=x, y=y, color=colour, tooltip=["series:N", "N:Q", "d:Q"]
    )
    medians = measured.mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("median(d):Q", title="dimension d", scale=alt.Scale(type="log")), color=colour
    )
    dashes = alt.StrokeDash(
        "series:N",
        title=None,
        scale=alt.Scale(domain=[CONSTRUCTION, REFERENCE, BOUND], range=[[1, 0], [7, 4], [2, 3]]),
    )
    known = (
        alt.Chart(alt.InlineData(values=lines))
        .mark_line(color=MUTED, strokeWidth=1.5)
        .encode(x=x, y=y, strokeDash=dashes, tooltip=["series:N", "N:Q", "d:Q"])
    )
    return alt.LayerChart(
        layer=[known, medians, dots], width=220, height=300, title=alt.Title(f"R = {r}", fontSize=14)
    )


def _against_bits(rows: list[Row], names: list[str]) -> alt.LayerChart:
    chart = alt.Chart(alt.InlineData(values=rows))
    x = alt.X("bits:Q", title="R · log2 N", scale=alt.Scale(zero=True))
    dots = chart.mark_point(filled=True, size=45, opacity=0.6).encode(
        x=x,
        y=alt.Y("d:Q", title="dimension d", scale=alt.Scale(zero=True)),
        color=_colour(names),
        tooltip=["series:N", "N:Q", "R:Q", "d:Q"],
    )
    return alt.LayerChart(
        layer=[dots], width=260, height=300, title=alt.Title("All worlds", fontSize=14, color=INK)
    )


def _colour(names: list[str]) -> alt.Color:
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))


def _subtitle(points: Sequence[CapacityPoint]) -> str:
    censored = sum(point.censored for point in points)
    seeds = max(len(point.least) for point in points)
    note = f"; {censored} worlds had seeds without a threshold" if censored else ""
    return f"A dot for each of {seeds} seeds, lines through their medians{note}"
