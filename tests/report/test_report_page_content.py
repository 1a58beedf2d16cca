"""The page says all that is known of the claims, as text, in one file that fetches nothing."""

import json
import re
from html.parser import HTMLParser

import altair as alt
import pytest

from georecall.claims.judgement import Finding, Judgement
from georecall.escaping import escaped
from georecall.report.embedded import embedded
from georecall.report.page import page_html, write_page
from georecall.report.page_text import duration, environments, remarks, what_was_run
from georecall.statistics.quantities import Quantity
from reports import (
    MARKUP,
    NAMES,
    Planted,
    PlantedCell,
    capacity,
    cell_status,
    one_hop,
    outcome,
    planted_report,
    several_hops,
    unmeasured,
)


class Text(HTMLParser):
    """The tags of a page, and its text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] not in {"script", "style"}:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """Words with one space between them."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    return page_html(planted_report())


@pytest.fixture(scope="module")
def read(page) -> Text:
    return Text(page)


def test_every_claim_has_a_row_that_leads_to_its_section(read):
    ids = {attributes.get("id") for _, attributes in read.tags}
    links = [attributes["href"] for attributes in read.all("a")]
    assert {f"#{name}" for name in ("K1", "K2", "C1", "C8", "L1")} <= set(links)
    assert all(link[1:] in ids for link in links)


def test_every_verdict_is_a_word_and_not_only_a_colour(page):
    for verdict in ("holds", "fails", "undecided", "not measured", "skipped"):
        assert page.count(f'<span class="badge {verdict.replace(" ", "-")}">{verdict}</span>') == 3


@pytest.mark.parametrize(
    "said",
    [
        "0 wrong of 1,920 facts, margin 1",
        "1 of 3 cells are measured, 1 failed",
        "1 measured, 1 failed, 1 missing",
        "Failed: RuntimeError: <img src=x onerror=",
        "the package of the model is not installed",
        "4 of 4 cells were measured by georecall 0.0.7; this is",
        "6 of 6 cells do not say which version of georecall measured them",
        "Subjects N 64, 256",
        "12 s of one core",
        "a processor, 2 cores",
        "2026-01-31",
    ],
)
def test_what_is_known_of_a_claim_is_said(read, said):
    assert said in read.text


def test_names_are_text_and_never_markup(read):
    assert read.all("img") == []
    assert "{{ 7 * 7 }}" in read.text
    assert " ".join(MARKUP.split()) in read.text
    assert [script for script in read.all("script") if "src" in script] == []


def test_specifications_come_back_as_they_were(page):
    found = re.search(r'id="spec-K2">(.*?)</script>', page, flags=re.DOTALL)
    assert found is not None
    (rows,) = json.loads(found[1])["datasets"].values()
    assert rows[0]["world"].startswith(escaped(NAMES))


def test_nothing_is_fetched_and_only_the_scripts_of_the_page_may_run(read):
    addresses = [
        value
        for tag, attributes in read.tags
        for name, value in attributes.items()
        if name in {"src", "href"} and value and tag != "a"
    ]
    assert addresses == ["data:,"]
    (policy,) = [meta["content"] for meta in read.all("meta") if meta.get("http-equiv")]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2]


def test_the_libraries_are_there_once(page):
    assert page.count("window.vegaEmbed") == 1
    assert len(page) < 2_000_000


def test_every_figure_has_its_data_as_text(read):
    drawings = [div for div in read.all("div") if div.get("class") == "drawing"]
    assert [drawing["id"] for drawing in drawings] == ["figure-K1", "figure-K2", "figure-C1"]
    assert all(drawing["aria-label"] for drawing in drawings)
    assert "Data of this figure" in read.text


def test_a_report_without_results_has_a_page(tmp_path):
    write_page([unmeasured()], tmp_path / "index.html")
    assert "not measured" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_figure_is_described_from_its_data():
    figure = one_hop().figure
    assert figure is not None
    found = embedded(figure, stamp=one_hop().stamp)
    assert found.caption == ("One hop: d against N",)
    assert found.label == "One hop: d against N. dimension d = R·p against subjects N, from 14 to 28"
    (table,) = found.tables
    assert table.columns == ("N", "d", "R")
    assert table.rows[0] == ("64", "14", "R = 2")


def test_every_set_of_data_is_one_table_under_the_heading_of_its_panel():
    figure = capacity().figure
    assert figure is not None
    found = embedded(figure, stamp=capacity().stamp)
    assert [table.heading for table in found.tables] == ["R = 2"] * 3 + ["R = 4"] * 3 + ["All worlds"]
    assert found.caption[0] == "Least dimension that recalls the facts"


def test_colours_get_names_where_the_page_decides_and_stay_where_a_cell_does():
    rows = alt.InlineData(values=[{"x": 1, "colour": "white"}])
    chart = (
        alt.Chart(rows, title="white")
        .mark_text(color="#222222")
        .encode(x="x:Q", color=alt.condition("datum.x > 0", alt.value("white"), alt.value("#222222")))
    )
    spec = embedded(chart, stamp="").spec
    assert spec["mark"]["color"] == "var(--ink)"
    assert spec["encoding"]["color"] == {
        "condition": {"test": "datum.x > 0", "value": "white"},
        "value": "#222222",
    }
    assert next(iter(spec["datasets"].values())) == [{"x": 1, "colour": "white"}]


def test_what_was_measured_is_a_list_below_each_world():
    finding = Finding(
        world="N = 8, R = 2", quantities=(Quantity(name="first", value=1), Quantity(name="a; b", value=2))
    )
    judgement = Judgement(verdict="holds", key="", findings=(Finding(note="in all 3"), finding))
    text = Text(page_html([outcome("S1", "holds", judgement=judgement)])).text
    assert "in all 3 N = 8, R = 2 first 1 a; b 2" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_what_cells_do_not_have_is_left_out():
    found = what_was_run(outcome("S1", "holds", cell_status(PlantedCell(), Planted(), seconds=12.5)))
    assert found == {
        "Subjects N": "64",
        "Relations R": "2",
        "Hops k": "1",
        "Cells": "1 measured",
        "Time": "12 s of one core",
    }


def test_environments_are_counted_over_cells_and_not_over_claims():
    first, second = environments([one_hop(), one_hop(), capacity()])
    assert (first["cells"], first["georecall"], first["date"]) == ("4", "0.0.7", "2026-01-31")
    assert second == {"cells": "6", "date": ""}


def test_a_claim_of_this_version_needs_no_remark():
    assert remarks(outcome("S1", "holds")) == ()
    assert len(remarks(several_hops())) == 1


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "< 0.1 s"),
        (47.3, "47 s"),
        (89.0, "89 s"),
        (200.0, "3.3 min"),
        (4000.0, "67 min"),
        (9000.0, "2.5 h"),
        (90_000.0, "25 h"),
    ],
)
def test_times_are_said_to_two_figures(seconds, said):
    assert duration(seconds) == said
