"""The picture of the mechanism in the documentation is what its script draws now."""

import importlib.util
from pathlib import Path
from struct import unpack
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
SHAPES = ("fill", "fill-opacity", "opacity", "stroke", "font-weight", "text-anchor")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    """A folder in which the script has just drawn."""
    folder = tmp_path_factory.mktemp("figures")
    script = _module(ROOT / "examples" / "mechanism.py")
    script.draw(folder)
    return folder


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_mechanism", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def root(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()  # noqa: S314 - a file of our own


def content(path: Path) -> list[tuple[str, ...]]:
    """Every text and shape, but for fonts and what is measured in them."""
    return [
        (element.tag, element.text or "", *(element.get(name, "") for name in SHAPES))
        for element in root(path).iter()
    ]


def size(path: Path) -> tuple[int, int]:
    return unpack(">II", path.read_bytes()[16:24])


def test_the_svg_shows_what_the_script_draws_now(drawn):
    assert content(FIGURES / "mechanism.svg") == content(drawn / "mechanism.svg")


def test_the_png_is_the_svg_at_twice_its_size(drawn):
    svg = root(FIGURES / "mechanism.svg")
    assert size(FIGURES / "mechanism.png") == (2 * int(svg.attrib["width"]), 2 * int(svg.attrib["height"]))
    assert size(drawn / "mechanism.png") == size(FIGURES / "mechanism.png")


def test_the_svg_has_a_white_ground_so_that_it_reads_on_a_dark_page_too():
    first = root(FIGURES / "mechanism.svg")[0]
    assert (first.tag.rpartition("}")[2], first.get("fill")) == ("rect", "white")
