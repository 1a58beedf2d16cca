"""A picture drawn by hand on a page of pixels: boxes, lines and words as the layers of one figure."""

from dataclasses import dataclass, field
from typing import Any

import altair as alt

from georecall.figures.theme import INK, theme

Row = dict[str, Any]
Pixels = int | float
ROUND, HEAD = 2, 5
"""Radius of the corners of boxes, and length of the heads of arrows, in pixels."""


@dataclass(frozen=True)
class Drawing:
    """What is to be drawn, in pixels from the top left corner; boxes lie below lines, and words above both."""

    boxes: list[Row] = field(default_factory=list)
    lines: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)

    def box(
        self, x: Pixels, y: Pixels, width: Pixels, height: Pixels, *, fill: str, opacity: float = 1.0
    ) -> None:
        """A filled box by its top left corner."""
        self.boxes.append(
            {"x": x, "y": y, "x2": x + width, "y2": y + height, "colour": fill, "opacity": opacity}
        )

    def line(
        self, x: Pixels, y: Pixels, x2: Pixels, y2: Pixels, *, colour: str = INK, thickness: Pixels = 1.5
    ) -> None:
        """A straight line."""
        self.lines.append({"x": x, "y": y, "x2": x2, "y2": y2, "colour": colour, "thickness": thickness})

    def arrow(self, x: Pixels, y: Pixels, y2: Pixels, *, colour: str = INK, thickness: Pixels = 1.5) -> None:
        """A straight line downwards, with a head at its end."""
        self.line(x, y, x, y2, colour=colour, thickness=thickness)
        for side in (-HEAD, HEAD):
            self.line(x + side, y2 - HEAD, x, y2, colour=colour, thickness=thickness)

    def text(
        self,
        x: Pixels,
        y: Pixels,
        text: str,
        *,
        size: int = 13,
        bold: bool = False,
        align: str = "left",
        colour: str = INK,
        limit: Pixels = 0,
    ) -> None:
        """A line of words on the middle line y, cut with an ellipsis at `limit` pixels if that is not 0."""
        row = {"x": x, "y": y, "text": text, "colour": colour, "align": align, "limit": limit, "size": size}
        self.words.append(row | {"weight": "bold" if bold else "normal"})

    def figure(self, width: int, height: int, *, title: alt.Title, description: str) -> alt.LayerChart:
        """The figure, in the theme of all figures; the description is for those who do not see it."""
        boxes = _layer(self.boxes, width, height).mark_rect(cornerRadius=ROUND, aria=False)
        lines = _layer(self.lines, width, height).mark_rule(
            strokeWidth=_own("thickness"), strokeCap="round", aria=False
        )
        words = _layer(self.words, width, height).mark_text(
            baseline="middle",
            align=_own("align"),
            fontSize=_own("size"),
            fontWeight=_own("weight"),
            limit=_own("limit"),
            aria=False,
        )
        figure = alt.LayerChart(
            layer=[
                boxes.encode(opacity=alt.Opacity("opacity:Q", scale=None), x2="x2:Q", y2="y2:Q"),
                lines.encode(x2="x2:Q", y2="y2:Q"),
                words.encode(text="text:N"),
            ],
            width=width,
            height=height,
            title=title,
            description=description,
        )
        figure.config = theme()
        return figure


def _layer(rows: list[Row], width: int, height: int) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False)),
        y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], nice=False, reverse=True)),
        color=alt.Color("colour:N", scale=None),
    )


def _own(name: str) -> alt.ExprRef:
    """A property that every row has for itself."""
    return alt.ExprRef(f"datum.{name}")
