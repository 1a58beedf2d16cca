"""Figures: what is drawn, and files that need nothing else."""

import re
from functools import cache
from struct import unpack

import altair as alt
import pytest

from georecall.errors import FolderError, GeorecallError
from georecall.figures import saving
from georecall.figures.saving import check_figure_path, save_figure, save_figures
from georecall.figures.theme import SERIES, dimension_figure, theme
from georecall.theory.size_comparison import along_hops, along_subjects, smallest_models


@cache
def figure(n_subjects=64, n_relations=3, hops=2, bits=4):
    asked = smallest_models(n_subjects, n_relations, hops, bits=bits)
    return dimension_figure(asked, by_hops=along_hops(asked), by_subjects=along_subjects(asked))


def panels(chart):
    """For each panel: its specification, the points of its lines, and where the question asked is marked."""
    spec = chart.to_dict()
    for panel in spec["hconcat"]:
        mark, _, lines = [part.get("data", panel.get("data")) for part in panel["layer"]]
        datasets = [
            spec["datasets"][data["name"]] if "name" in data else data["values"] for data in (mark, lines)
        ]
        yield panel, datasets[1], datasets[0][0]


def test_each_panel_draws_the_dimensions_of_its_results():
    asked = smallest_models(64, 3, 2, bits=4)
    sweeps = {"hops": along_hops(asked), "subjects": along_subjects(asked)}
    for (_, points, mark), (field, results) in zip(panels(figure()), sweeps.items(), strict=True):
        assert mark == {field: getattr(asked, field)}
        expected = {
            "direct, no chain of thought": [known.dimension("direct") for known in results],
            "lower bound, no chain of thought": [known.no_cot.least for known in results],
            "chain of thought": [known.dimension("chain of thought") for known in results],
        }
        for name, dimensions in expected.items():
            drawn = {point[field]: point["dimension"] for point in points if point["series"] == name}
            found = {getattr(known, field): d for known, d in zip(results, dimensions, strict=True) if d > 0}
            assert drawn == found
            assert len(drawn) > 2


def test_axes_have_titles_with_units_and_a_logarithmic_dimension():
    for panel, points, _ in panels(figure()):
        x, y = (panel["layer"][2]["encoding"][channel] for channel in "xy")
        assert y["title"] == "dimension d (coordinates of the residual stream)"
        assert x["title"] in {"hops k", "subjects N"}
        assert y["scale"]["type"] == "log"
        low, high = y["scale"]["domain"]
        assert all(low <= point["dimension"] <= high for point in points)


def test_ticks_of_the_dimension_are_labelled_with_their_own_values():
    for panel, _, _ in panels(figure(10**6, 10, 7)):
        axis = panel["layer"][2]["encoding"]["y"]["axis"]
        labels = re.findall(r"'(\w+)'", axis["labelExpr"])
        meant = {
            "1": 1,
            "10": 10,
            "100": 100,
            "1k": 10**3,
            "10k": 10**4,
            "100k": 10**5,
            "1M": 10**6,
            "1G": 10**9,
        }
        assert all(
            labels.index(text) == len(str(value)) - 1 for text, value in meant.items() if text in labels
        )
        assert max(axis["values"]) <= 10 ** (len(labels) - 1)


def test_nothing_is_drawn_where_nothing_is_proved():
    points = [point for _, points, _ in panels(figure(10, 4, 6)) for point in points]
    assert all(point["dimension"] > 0 for point in points)


def test_colours_differ_and_lines_differ_without_colour():
    assert len({series.colour for series in SERIES}) == len({tuple(s.dashes) for s in SERIES}) == len(SERIES)
    assert theme().to_dict()["background"] == "white"


@pytest.mark.parametrize(("n_subjects", "n_relations", "hops"), [(2, 1, 1), (10**12, 64, 100), (3, 2, 30)])
def test_worlds_of_all_sizes_can_be_drawn(tmp_path, n_subjects, n_relations, hops):
    path = tmp_path / "x.svg"
    save_figure(figure(n_subjects, n_relations, hops), path)
    text = path.read_text(encoding="utf-8")
    assert f"k = {hops}" in text
    assert "NaN" not in text


def test_html_works_offline(tmp_path):
    path = tmp_path / "x.html"
    save_figure(figure(), path)
    text = path.read_text(encoding="utf-8")
    assert "vegaEmbed" in text
    assert not re.search(r"<(script|link)[^>]*\b(src|href)=", text)
    assert "Dimension with and without a chain of thought" in text


def test_png_has_twice_as_many_points_as_the_svg(tmp_path):
    save_figure(figure(), tmp_path / "x.png")
    save_figure(figure(), tmp_path / "X.SVG")
    content = (tmp_path / "x.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = unpack(">II", content[16:24])
    svg = (tmp_path / "X.SVG").read_text(encoding="utf-8")
    shape = [float(re.search(rf'<svg[^>]* {side}="([\d.]+)"', svg).group(1)) for side in ("width", "height")]
    assert [width, height] == pytest.approx([2 * side for side in shape], abs=2)


@pytest.mark.parametrize("name", ["x.pdf", "x", "html", ".png.txt"])
def test_other_endings_are_refused_before_anything_is_written(tmp_path, name):
    for refuse in (check_figure_path, lambda path: save_figure(figure(), path)):
        with pytest.raises(GeorecallError, match=r"ends in \.html, \.png, \.svg"):
            refuse(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_place_that_is_a_file_are_refused(tmp_path):
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="expected a file to write, found a folder"):
        check_figure_path(tmp_path / "folder.svg")
    with pytest.raises(FolderError, match="cannot be written"):
        save_figure(figure(), tmp_path / "file" / "x.svg")


def test_an_existing_figure_is_replaced_and_no_draft_stays(tmp_path):
    path = tmp_path / "x.svg"
    path.write_text("old")
    save_figure(figure(), path)
    assert path.read_text(encoding="utf-8").startswith("<svg")
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_in_a_figure_cannot_end_the_script_of_its_page(tmp_path):
    hostile = "</script><script>alert(1)</script>"
    figure = alt.Chart(alt.InlineData(values=[{"name": hostile}])).mark_point().encode(x="name:N")
    save_figure(figure, tmp_path / "figure.html")
    assert hostile not in (tmp_path / "figure.html").read_text(encoding="utf-8")


AWKWARD = "a\x0bb\x1b[31m\ufffe\udcff\u202e"


def named(name: str) -> alt.Chart:
    """A figure with a name in its data, its title, a scale and an axis."""
    rows = alt.InlineData(values=[{"name": name, "x": 1}, {"name": "plain", "x": 2}])
    colour = alt.Color("name:N", scale=alt.Scale(domain=[name, "plain"], range=["red", "blue"]))
    return (
        alt.Chart(rows, title=name).mark_point().encode(x=alt.X("name:N", sort=[name]), y="x:Q", color=colour)
    )


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_a_name_that_xml_cannot_hold_is_drawn_escaped(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    save_figure(named(AWKWARD), path)
    content = path.read_bytes()
    assert b"\x1b[31m" not in content
    if suffix != ".png":
        assert "a\\x0bb\\x1b[31m".replace("\\", "\\\\" * (suffix == ".html") or "\\") in content.decode()


class Panic(BaseException):
    """As a renderer in Rust panics: no Exception."""


@pytest.mark.parametrize("error", [ValueError("bad"), Panic("bad")])
def test_a_figure_that_fails_does_not_keep_others_from_being_drawn(tmp_path, monkeypatch, error):
    sound = saving.vl_convert.vegalite_to_svg

    def render(spec):
        if spec["title"] == "ill":
            raise error
        return sound(spec)

    monkeypatch.setattr(saving.vl_convert, "vegalite_to_svg", render)
    for name in ("ill", "old", "well"):
        (tmp_path / f"{name}.svg").write_text("of before")
    faults = save_figures(
        lambda: {"ill": named("ill"), "well": named("well"), "old": None},
        tmp_path,
        names=["ill", "old", "well"],
        suffixes=[".svg"],
    )
    assert faults == (f"{tmp_path / 'ill.svg'}: cannot be drawn: bad",)
    assert [path.name for path in tmp_path.iterdir()] == ["well.svg"]


def test_figures_that_cannot_be_made_are_one_fault(tmp_path):
    def draw():
        raise KeyError("joint")

    assert save_figures(draw, tmp_path, names=["a", "b"], suffixes=[".svg"]) == (
        "a, b: cannot be drawn: 'joint'",
    )
