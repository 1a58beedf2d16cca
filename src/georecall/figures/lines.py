"""Lines of one colour each: a number against a size, for every world or kind."""

from collections.abc import Iterable
from typing import Any

import altair as alt

from georecall.figures.theme import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, theme

Row = dict[str, Any]
COLOURS = [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#000000"]
"""The palette of Okabe and Ito, which the colour-blind tell apart too."""


def lines(rows: list[Row], *, x: alt.X, y: alt.Y, by: str, title: str, subtitle: str) -> alt.Chart:
    """A line with its points for each value of the field `by`."""
    names = list(dict.fromkeys(row[by] for row in rows))
    chart = (
        alt.Chart(
            alt.InlineData(values=rows), width=520, height=320, title=alt.Title(title, subtitle=subtitle)
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


def ordinal(field: str, title: str) -> alt.X:
    """An axis of a few kinds or small numbers."""
    return alt.X(field, title=title, axis=alt.Axis(labelAngle=0))


def from_zero(field: str, title: str) -> alt.Y:
    """An axis of numbers that begins at 0."""
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=True))


def logarithmic(field: str, title: str, values: Iterable[int]) -> dict[str, Any]:
    """A logarithmic channel with ticks at these values, and labels where there is room."""
    return {
        "shorthand": f"{field}:Q",
        "title": title,
        "scale": alt.Scale(type="log", nice=False, padding=12),
        "axis": alt.Axis(values=sorted(set(values)), format=",", labelOverlap="greedy", labelSeparation=8),
    }
