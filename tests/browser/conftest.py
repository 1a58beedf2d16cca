"""Pages in a real browser: Chromium without a screen, and pages that note what goes wrong in them."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

LOCAL = ("file:", "data:", "blob:", "about:")


class WatchedPage:
    """A page of Playwright; `problems` are the errors it reported and the requests it made of a network."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", self._see)
        page.on("dialog", self._dismiss)

    def _hear(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"{message.type}: {message.text}")

    def _see(self, request: Any) -> None:
        if not request.url.startswith(LOCAL):
            self.problems.append(f"request: {request.url}")

    def _dismiss(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def __getattr__(self, name: str) -> Any:
        """All else is the page's own."""
        return getattr(self.page, name)


PageAt = Callable[..., WatchedPage]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium as the system has it; skipped where it or Playwright is not installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page_at(browser: Any) -> Iterator[PageAt]:
    """Opens an empty page of a width in CSS pixels, light or dark; closed after the test."""
    opened: list[Any] = []

    def page(width: int, *, height: int = 900, dark: bool = False) -> WatchedPage:
        scheme = "dark" if dark else "light"
        opened.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        return WatchedPage(opened[-1].new_page())

    yield page
    for context in opened:
        context.close()
