"""The theme of all figures, and the figure of dimensions."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import altair as alt

from georecall.figures.numbers import bits_text, count_text
from georecall.theory.size_comparison import SizeComparison

INK, MUTED, GRID = "#222222", "#5f6368", "#e6e6e6"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
"""From the palette of Okabe and Ito, which the colour-blind tell apart too."""


class Series(NamedTuple):
    """A line of a figure: its name, colour and dashes, and the number it shows of a result."""

    name: str
    colour: str
    dashes: list[int]
    value: Callable[[SizeComparison], int]


SERIES = (
    Series("direct, no chain of thought", VERMILION, [1, 0], lambda known: known.dimension("direct")),
    Series("lower bound, no chain of thought", MUTED, [2, 3], lambda known: known.no_cot.least),
    Series("chain of thought", BLUE, [9, 4], lambda known: known.dimension("chain of thought")),
)
MOST_TICKS, MOST_POINTS = 9, 12


def theme() -> alt.Config:
    """Dark text of a readable size on white, faint grid lines, no frames."""
    return alt.Config(
        background="white",
        padding=16,
        font="Helvetica, Arial, Liberation Sans, sans-serif",
        title=alt.TitleConfig(
            anchor="start", fontSize=17, subtitleFontSize=13, subtitleColor=MUTED, color=INK, offset=14
        ),
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            labelFontSize=13,
            titleFontSize=13,
            titleFontWeight="normal",
            labelColor=INK,
            titleColor=INK,
            titlePadding=10,
            gridColor=GRID,
            domainColor=MUTED,
            tickColor=MUTED,
            labelFlush=False,
        ),
        legend=alt.LegendConfig(
            orient="top",
            labelFontSize=13,
            labelColor=INK,
            labelLimit=0,
            symbolType="stroke",
            symbolSize=500,
            symbolStrokeWidth=2.5,
            columnPadding=24,
        ),
    )


def dimension_figure(
    asked: SizeComparison, *, by_hops: Sequence[SizeComparison], by_subjects: Sequence[SizeComparison]
) -> alt.HConcatChart:
    """Dimension against k and against N, with and without a chain of thought, on logarithmic scales.

    `by_hops` differ from `asked` in k, `by_subjects` in N; a grey line in each panel marks `asked`. A bound of
    0, for which a logarithmic scale has no place, is left out.
    """
    hops, subjects = f"k = {asked.hops:,}", f"N = {count_text(asked.subjects)}"
    figure = alt.hconcat(
        _panel(by_hops, asked, x=_hops_axis(by_hops), title=f"{subjects}, any k", mark=hops),
        _panel(by_subjects, asked, x=_subjects_axis(by_subjects), title=f"{hops}, any N", mark=subjects),
        spacing=48,
    ).properties(
        title=alt.Title(
            "Dimension with and without a chain of thought",
            subtitle=[
                f"R = {count_text(asked.relations)} relations, a code of {asked.levels} levels. The bound: "
                f"{bits_text(asked.bits)} a parameter, P = {count_text(asked.other_parameters)} other parameters; it "
                "counts trees of",
                "questions, and proves less where R^k leaves no longer fit among N subjects.",
            ],
        )
    )
    figure.config = theme()
    return figure


def _panel(
    results: Sequence[SizeComparison], asked: SizeComparison, *, x: alt.X, title: str, mark: str
) -> alt.LayerChart:
    field = str(x.shorthand).partition(":")[0]
    rows: list[dict[str, Any]] = [
        {field: float(getattr(known, field)), "dimension": float(value), "series": series.name}
        for series in SERIES
        for known in results
        if (value := series.value(known)) > 0
    ]
    names = [series.name for series in SERIES]
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(
            strokeWidth=2.5, point=alt.OverlayMarkDef(size=50) if len(results) <= MOST_POINTS else False
        )
        .encode(
            x=x,
            y=_dimension_axis([row["dimension"] for row in rows]),
            color=alt.Color(
                "series:N", title=None, scale=_scale(names, [series.colour for series in SERIES])
            ),
            strokeDash=alt.StrokeDash(
                "series:N", title=None, scale=_scale(names, [series.dashes for series in SERIES])
            ),
            tooltip=[
                "series:N",
                alt.Tooltip(f"{field}:Q", format=","),
                alt.Tooltip("dimension:Q", format=","),
            ],
        )
    )
    here = alt.Chart(alt.InlineData(values=[{field: float(getattr(asked, field))}])).encode(x=x)
    rule = here.mark_rule(color=MUTED, strokeWidth=1, opacity=0.6)
    label = here.mark_text(color=MUTED, fontSize=12, dy=-15).encode(text=alt.value(mark), y=alt.value(0))
    heading = alt.Title(title, fontSize=14, fontWeight="normal", offset=26)
    return alt.LayerChart(layer=[rule, label, lines], width=380, height=320, title=heading)


def _scale(names: list[str], values: list[Any]) -> alt.Scale:
    return alt.Scale(domain=names, range=values)


def _hops_axis(results: Sequence[SizeComparison]) -> alt.X:
    values = [known.hops for known in results]
    step = -(-len(values) // MOST_TICKS)
    margin = (values[-1] - values[0]) / 25
    return alt.X(
        "hops:Q",
        title="hops k",
        scale=alt.Scale(domain=[values[0] - margin, values[-1] + margin], nice=False, zero=False),
        axis=alt.Axis(values=values[::step], format=",d", grid=False),
    )


def _subjects_axis(results: Sequence[SizeComparison]) -> alt.X:
    values = [known.subjects for known in results]
    low, high = math.ceil(math.log10(values[0])), math.floor(math.log10(values[-1]))
    return alt.X(
        "subjects:Q",
        title="subjects N",
        scale=alt.Scale(type="log", domain=[float(values[0]), float(values[-1])], nice=False),
        axis=_decades(low, high, grid=False),
    )


def _dimension_axis(values: Sequence[float]) -> alt.Y:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return alt.Y(
        "dimension:Q",
        title="dimension d (coordinates of the residual stream)",
        scale=alt.Scale(type="log", domain=[10.0**low, 10.0**high], nice=False),
        axis=_decades(low, high, grid=True),
    )


def _decades(low: int, high: int, *, grid: bool) -> alt.Axis:
    """Ticks at powers of ten from 10^low to 10^high, labelled by `_power`."""
    labels = [_power(exponent) for exponent in range(high + 1)]
    return alt.Axis(
        values=[10.0**exponent for exponent in range(low, high + 1, -(-(high - low + 1) // MOST_TICKS))],
        labelExpr=f"{labels}[round(log(datum.value) / LN10)]",
        grid=grid,
    )


def _power(exponent: int) -> str:
    """10^exponent in ASCII, as not every font has every superscript: 100, 1k, 10k, …, 100T, 1e15, …"""
    thousands, zeros = divmod(exponent, 3)
    return f"1{'0' * zeros}{' kMGT'[thousands].strip()}" if thousands < 5 else f"1e{exponent}"
