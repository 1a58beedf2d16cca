"""Figures as files that need nothing else: HTML, PNG and SVG."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from altair.typing import ChartType
from altair.utils import spec_to_html

from georecall.errors import FigureError, FolderError, GeorecallError, raised_as
from georecall.escaping import escaped
from georecall.storage.files import write_bytes

FORMATS = (".html", ".png", ".svg")
PNG_SCALE = 2


def check_figure_path(path: Path) -> None:
    """Refuse a file that no figure can be written to, before any work is done.

    Raises:
        GeorecallError: the name does not end in .html, .png or .svg.
        FolderError: `path` is a folder.
    """
    if path.suffix.lower() not in FORMATS:
        raise GeorecallError(f"{path}: expected a figure that ends in {', '.join(FORMATS)}")
    if path.is_dir():
        raise FolderError(f"{path}: expected a file to write, found a folder")


def save_figure(figure: ChartType, path: Path) -> None:
    """Write a figure by the ending of its name: HTML that works offline, PNG at twice the size, or SVG.

    Raises as `check_figure_path`, FigureError where it cannot be drawn, and FolderError where the file cannot be
    written.
    """
    check_figure_path(path)
    with raised_as(FigureError, f"{path}: cannot be drawn"):
        content = _rendered(specification(figure), path.suffix.lower())
    try:
        write_bytes(path, content)
    except OSError as error:
        raise FolderError(f"{path}: cannot be written ({error.strerror})") from error


def save_figures(
    draw: Callable[[], Mapping[str, ChartType | None]],
    folder: Path,
    *,
    names: Collection[str],
    suffixes: Sequence[str],
) -> tuple[str, ...]:
    """Draw figures and write each in every format; of all `names`, files that are not written are taken away.

    Figures are drawn last, and one that fails takes no result with it: returns what went wrong, a line for each.
    """
    for path in (folder / f"{name}{suffix}" for name in names for suffix in suffixes):
        path.unlink(missing_ok=True)
    faults = []
    try:
        with raised_as(FigureError, f"{', '.join(names)}: cannot be drawn"):
            figures = {name: figure for name, figure in draw().items() if figure is not None}
    except FigureError as error:
        return (str(error),)
    for name, figure in figures.items():
        try:
            for suffix in suffixes:
                save_figure(figure, folder / f"{name}{suffix}")
        except (FigureError, FolderError) as error:
            faults.append(str(error))
    return tuple(faults)


class InScript(json.JSONEncoder):
    """JSON that may stand in a script of a page: no name in it can end the script."""

    def encode(self, o: Any) -> str:
        """The JSON of an object, without `<` in it."""
        return super().encode(o).replace("<", "\\u003c")


def specification(figure: ChartType) -> dict[str, Any]:
    """The figure in Vega-Lite, every name in it escaped: the renderers take no control characters."""
    return {str(key): _escaped(part) for key, part in figure.to_dict().items()}


def _escaped(part: Any) -> Any:
    if isinstance(part, dict):
        return {_escaped(key): _escaped(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_escaped(value) for value in part]
    return escaped(part) if isinstance(part, str) else part


def _rendered(spec: dict[str, Any], suffix: str) -> bytes:
    if suffix == ".html":
        page: str = spec_to_html(
            spec,
            mode="vega-lite",
            template="inline",
            json_kwds={"cls": InScript},
            vega_version=alt.VEGA_VERSION,
            vegalite_version=alt.VEGALITE_VERSION,
            vegaembed_version=alt.VEGAEMBED_VERSION,
        )
        return page.encode()
    if suffix == ".svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    return vl_convert.vegalite_to_png(spec, scale=PNG_SCALE)
