"""A figure as a page carries it: its specification, and the same in words and tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from altair.typing import ChartType

from georecall.figures.saving import specification
from georecall.figures.theme import BLUE, GRID, INK, MUTED, theme

Spec = dict[str, Any]
PARTS = ("layer", "hconcat", "vconcat")
LONGEST_LABEL = 260
"""Pixels of a name in a legend, so that it leaves room for the figure; the tooltip has all of it."""
NAMED_COLOURS = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    BLUE: "var(--blue)",
    "#000000": "var(--ink)",
    "white": "var(--card)",
}
"""Colours that depend on whether the page is light or dark, by their names in its style."""


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """The data of one panel as text, below the headings that the panel stands under."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Embedded:
    """A figure without heading and colours of its own, which the page gives it."""

    caption: tuple[str, ...]
    label: str
    tables: tuple[DataTable, ...]
    spec: Spec


@dataclass(frozen=True, kw_only=True)
class _View:
    """One layer of marks: the titles above it, its data, and what is encoded."""

    headings: tuple[str, ...]
    data: str
    encoding: Spec


def embedded(figure: ChartType, *, stamp: str) -> Embedded:
    """A figure for the page; `stamp` is a line of its heading that the page says elsewhere."""
    spec = specification(figure)
    datasets: dict[str, list[Spec]] = spec.get("datasets", {})
    caption = tuple(line for line in _lines(spec.pop("title", None)) if line != stamp)
    spec.pop("config", None)
    views = list(_views(spec, (), "", {}))
    label = ". ".join([*caption, *_sentences(views, datasets)])
    return Embedded(
        caption=caption,
        label=label,
        tables=tuple(_tables(views, datasets)),
        spec=_recoloured(spec) | {"description": label},
    )


def page_config() -> Spec:
    """The theme of all figures in the colours of the page, on its ground."""
    config = _recoloured(theme().to_dict())
    legend = config["legend"] | {"titleColor": NAMED_COLOURS[INK], "labelLimit": LONGEST_LABEL}
    return config | {"background": "transparent", "padding": 0, "legend": legend}


def _recoloured(part: Any, name: str = "") -> Any:
    """The part with the colours of marks, titles and palettes by name.

    Those given as a `value` stay, as text on coloured cells needs them; so do gradients and the data.
    """
    if isinstance(part, dict):
        kept = {"datasets", "range"} if _is_gradient(part) else {"datasets"}
        return {key: value if key in kept else _recoloured(value, key) for key, value in part.items()}
    if isinstance(part, list):
        return [_recoloured(value, name) for value in part]
    is_colour = isinstance(part, str) and name.lower().endswith(("color", "stroke", "fill", "range"))
    return NAMED_COLOURS.get(part, part) if is_colour else part


def _is_gradient(part: Spec) -> bool:
    """Whether this is a scale between colours, which cannot be worked out from their names."""
    domain = part.get("domain")
    return isinstance(domain, list) and all(isinstance(end, int | float) for end in domain)


def _lines(title: Any) -> list[str]:
    """The lines of a title and its subtitle."""
    if title is None or isinstance(title, str):
        return [title] if title else []
    if isinstance(title, list):
        return title
    return [*_lines(title.get("text")), *_lines(title.get("subtitle"))]


def _views(spec: Spec, headings: tuple[str, ...], data: str, encoding: Spec) -> Iterator[_View]:
    """All layers in the order in which they are drawn; data and encodings come down from what they are part of."""
    headings += tuple(_lines(spec.get("title"))[:1])
    data = spec.get("data", {}).get("name", data)
    encoding = encoding | spec.get("encoding", {})
    if "mark" in spec:
        yield _View(headings=headings, data=data, encoding=encoding)
    for part in (part for name in PARTS for part in spec.get(name, ())):
        yield from _views(part, headings, data, encoding)


def _sentences(views: list[_View], datasets: dict[str, list[Spec]]) -> Iterator[str]:
    """What is drawn against what, and between which values over all panels."""
    values: dict[str, list[float]] = {}
    for view in views:
        axes = [view.encoding[name] for name in ("y", "x") if "field" in view.encoding.get(name, {})]
        candidates = [*axes, view.encoding.get("color", {})]
        measured = next((channel for channel in candidates if _is_measured(channel)), None)
        if measured is not None and len(axes) == 2:
            against = " and ".join(_title(axis) for axis in axes if axis != measured)
            found = (row.get(measured["field"]) for row in datasets.get(view.data, []))
            numbers = [value for value in found if isinstance(value, int | float)]
            values.setdefault(f"{_title(measured)} against {against}", []).extend(numbers)
    for said, numbers in values.items():
        yield f"{said}, from {_text(min(numbers))} to {_text(max(numbers))}" if numbers else said


def _is_measured(channel: Spec) -> bool:
    """Whether a channel shows numbers under a title of their own."""
    return channel.get("type") == "quantitative" and bool(channel.get("title"))


def _title(channel: Spec) -> str:
    return str(channel.get("title") or channel["field"])


def _tables(views: list[_View], datasets: dict[str, list[Spec]]) -> Iterator[DataTable]:
    """Every set of data once, below the headings of the first view that shows it."""
    first = {view.data: view.headings for view in reversed(views)}
    for view in views:
        headings = first.pop(view.data, None)
        rows = datasets.get(view.data, [])
        if headings is not None and rows:
            columns = tuple(dict.fromkeys(name for row in rows for name in row))
            yield DataTable(
                heading=", ".join(headings),
                columns=columns,
                rows=tuple(tuple(_text(row.get(name)) for name in columns) for row in rows),
            )


def _text(value: Any) -> str:
    """Whole numbers with commas, others to four digits; nothing for None."""
    if isinstance(value, int | float):
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return "" if value is None else str(value)
