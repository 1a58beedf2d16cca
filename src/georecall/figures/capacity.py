"""Least dimensions against the size of the world, beside what is built and what the bits of the facts need."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from georecall.figures.theme import BLUE, INK, MUTED, ORANGE, PURPLE, VERMILION, theme
from georecall.scaling.laws import LM_BITS, CapacityPoint
from georecall.theory.bounds import one_hop_bits
from georecall.theory.sizes import one_hop_size

FLOAT_BITS = 32.0
CONSTRUCTION, REFERENCE, BOUND = "one-hop construction, R·p", "2 bits a parameter", "lower bound, 32 bits"
TICKS = [step * 10**power for power in range(5) for step in (1, 2, 5)]
NAMES = {"none": "trained", "subjects": "subjects frozen", "inputs": "inputs frozen"}
COLOURS = [BLUE, VERMILION, PURPLE, ORANGE]
Row = dict[str, Any]


def capacity_figure(
    points: Sequence[CapacityPoint], *, title: str = "Least dimension that recalls the facts"
) -> alt.HConcatChart:
    """d* against N, a panel for each R, and d* against R·log2 N; a dot for each seed, lines through the medians.

    Beside them the dimension of the one-hop construction, and those at which a model of width 4d with uniform
    attention has two bits a parameter, as was found in language models, and at most 32 bits, the lower bound for
    float32 weights, a whole number.
    """
    relations = sorted({point.n_relations for point in points})
    rows = [_row(point, value) for point in points for value in point.known]
    medians = [_row(point, point.threshold) for point in points if point.threshold is not None]
    names = list(dict.fromkeys(map(_series, points)))
    panels = [
        _panel(
            [row for row in rows if row["R"] == r],
            medians=[row for row in medians if row["R"] == r],
            references=_reference_rows(points, r),
            names=names,
            title=f"R = {r}",
        )
        for r in relations
    ]
    figure = alt.hconcat(*panels, _against_bits(rows, names), spacing=28).properties(
        title=alt.Title(title, subtitle=_subtitle(points))
    )
    figure.config = theme()
    return figure


def _row(point: CapacityPoint, dim: int) -> Row:
    n, r = point.n_subjects, point.n_relations
    return {"N": n, "R": r, "bits": r * math.log2(n), "d": dim, "series": _series(point)}


def _series(point: CapacityPoint) -> str:
    return NAMES.get(point.freeze, f"{point.freeze} frozen")


def _reference_rows(points: Sequence[CapacityPoint], r: int) -> list[Row]:
    """The references at every N of the panel; none for one subject, which is known without a bit."""
    sizes = sorted({point.n_subjects for point in points if point.n_relations == r} - {1})
    return [
        {"N": n, "R": r, "d": value, "series": name}
        for n in sizes
        for name, value in (
            (CONSTRUCTION, float(one_hop_size(n, r).dimension)),
            (REFERENCE, dimension_of_bits(n, r, LM_BITS)),
            (BOUND, float(math.ceil(dimension_of_bits(n, r, FLOAT_BITS)))),
        )
    ]


def dimension_of_bits(n_subjects: int, n_relations: int, bits: float) -> float:
    """The real d at which the parameters of a model hold the bits of all facts, at `bits` each.

    bits · ((2N + R + 7)·d + 8d²) = R·log2 N!: embeddings of subjects, relations and two positions, unembedding, and an
    MLP of width 4d with its biases.
    """
    linear, total = 2 * n_subjects + n_relations + 7, one_hop_bits(n_subjects, n_relations) / bits
    return (math.sqrt(linear**2 + 32 * total) - linear) / 16


def _panel(
    rows: list[Row], *, medians: list[Row], references: list[Row], names: list[str], title: str
) -> alt.LayerChart:
    x = alt.X(
        "N:Q",
        title="subjects N",
        scale=alt.Scale(type="log", nice=False, padding=14),
        axis=alt.Axis(values=sorted({row["N"] for row in (*rows, *references)}), labelAngle=-40),
    )
    y = alt.Y(
        "d:Q",
        title="dimension d",
        scale=alt.Scale(type="log", nice=False, domainMin=0.9),
        axis=alt.Axis(values=TICKS, format="d"),
    )
    shared = {"x": x, "y": y, "tooltip": ["series:N", "N:Q", "d:Q"]}
    dots = _chart(rows).mark_point(filled=True, size=40, opacity=0.6).encode(**shared, color=_colour(names))
    middle = _chart(medians).mark_line(strokeWidth=2).encode(**shared, color=_colour(names))
    dashes = alt.StrokeDash(
        "series:N",
        title=None,
        scale=alt.Scale(domain=[CONSTRUCTION, REFERENCE, BOUND], range=[[1, 0], [7, 4], [2, 3]]),
    )
    known = _chart(references).mark_line(color=MUTED, strokeWidth=1.5).encode(**shared, strokeDash=dashes)
    heading = alt.Title(title, fontSize=14)
    return alt.LayerChart(layer=[known, middle, dots], width=220, height=300, title=heading)


def _against_bits(rows: list[Row], names: list[str]) -> alt.LayerChart:
    dots = (
        _chart(rows)
        .mark_point(filled=True, size=45, opacity=0.6)
        .encode(
            x=alt.X("bits:Q", title="R · log2 N", scale=alt.Scale(zero=True)),
            y=alt.Y("d:Q", title="dimension d", scale=alt.Scale(zero=True)),
            color=_colour(names),
            tooltip=["series:N", "N:Q", "R:Q", "d:Q"],
        )
    )
    heading = alt.Title("All worlds", fontSize=14, color=INK)
    return alt.LayerChart(layer=[dots], width=260, height=300, title=heading)


def _chart(rows: list[Row]) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows))


def _colour(names: list[str]) -> alt.Color:
    return alt.Color("series:N", title=None, scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))


def _subtitle(points: Sequence[CapacityPoint]) -> str:
    censored = sum(point.censored for point in points)
    seeds = max(len(point.least) for point in points)
    note = f"; {censored} worlds had seeds without a threshold" if censored else ""
    return f"A dot for each of {seeds} seeds, lines through their medians{note}"
