"""The page of a report in a browser: everything is drawn, fits, and runs nothing that is not its own."""

import pytest

from georecall.escaping import escaped
from georecall.report.page import write_page
from reports import NAMES, planted_report

FIGURES = ("K1", "K2", "C1")
DRAWN = "document.querySelectorAll('.drawing:not([data-drawn=yes])').length === 0"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    write_page(planted_report(), path)
    return path.as_uri()


@pytest.fixture
def opened(page_at, address):
    """The page at a width, when all of it is drawn."""

    def open_(width, **options):
        page = page_at(width, **options)
        page.goto(address)
        page.wait_for_function(DRAWN)
        return page

    return open_


def marks(page, name):
    return page.locator(f"#figure-{name} svg").first.evaluate("svg => svg.querySelectorAll('path').length")


@pytest.mark.parametrize("width", [1400, 390])
def test_every_figure_is_drawn_without_an_error_or_a_request(opened, width):
    page = opened(width)
    assert all(marks(page, name) > 10 for name in FIGURES)
    assert page.problems == []


@pytest.mark.parametrize("width", [1400, 760, 390])
def test_nothing_is_wider_than_the_window(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().right))"
    )
    assert widest <= width


def test_panels_stand_below_one_another_on_a_phone(opened):
    shape = "(svg => svg.clientWidth / svg.clientHeight)(document.querySelector('#figure-C1 svg'))"
    assert opened(1400).evaluate(shape) > 1
    assert opened(390).evaluate(shape) < 1


def test_the_theme_follows_the_system_until_it_is_toggled(opened):
    ground = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#figure-K1 svg text[fill]')).fill"
    light, dark = opened(1400), opened(1400, dark=True)
    colours = light.evaluate(ground), light.evaluate(ink)
    assert colours[0] != dark.evaluate(ground)
    assert colours[1] != dark.evaluate(ink)
    dark.click("#toggle")
    assert (dark.evaluate(ground), dark.evaluate(ink)) == colours
    dark.click("#toggle")
    assert dark.evaluate(ground) != colours[0]
    assert dark.evaluate("localStorage.length") == 0


def test_hostile_names_are_shown_as_they_are_and_run_nothing(opened):
    page = opened(1400)
    shown = page.locator("#title-K2").evaluate("title => title.textContent")
    assert shown == f"Statement of {escaped(NAMES)}"
    assert page.evaluate("document.images.length") == 0
    page.locator("#figure-K2 svg .mark-symbol path").first.hover()
    tip = page.locator("#vg-tooltip-element")
    assert "<img src=x" in tip.inner_text()
    assert tip.locator("img").count() == 0
    assert page.problems == []


def test_all_figures_are_drawn_before_printing_however_early(page_at, address):
    page = page_at(1400)
    page.add_init_script(
        "window.requestIdleCallback = () => 0; window.IntersectionObserver = class { observe() {} unobserve() {} };"
    )
    page.goto(address)
    assert page.locator(".drawing[data-drawn]").count() == 0
    printed = page.pdf()
    assert page.locator(".drawing[data-drawn=yes]").count() == len(FIGURES)
    assert printed.startswith(b"%PDF")
    assert page.problems == []


def test_print_has_no_toggle_and_a_sheet_for_each_claim(opened):
    page = opened(1400, dark=True)
    page.emulate_media(media="print")
    assert not page.locator("#toggle").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('article')).breakBefore") == "page"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_the_data_of_a_figure_are_a_table(opened):
    page = opened(390)
    page.locator("#K1 summary").click()
    assert page.locator("#K1 table.data tbody tr").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_can_be_used_in_two_seconds(page_at, address):
    page = page_at(1400)
    page.goto(address)
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert ready < 2000
