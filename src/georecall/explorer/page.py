"""The page: one file, with its style, its program and, where it stands alone, all weights in it."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment

from georecall.errors import GeorecallError
from georecall.escaping import escaped_text
from georecall.explorer.view import View
from georecall.storage.files import check_file, pointed_to, whole_file

PROGRAM = ("names", "words", "model", "providers", "drawing", "combobox", "stages", "editing", "main")
"""Parts of the program, in the order in which they build on one another."""

LARGEST = 4_000_000
"""Numbers of the embedding and the unembedding that a page holds at most: 16 MB."""


def served_page(view: View) -> str:
    """The page that asks its server for rows and names."""
    return _render(view, weights=None, connect="'self'")


def standalone_page(view: View) -> str:
    """The page that holds all weights and asks nobody.

    Raises:
        GeorecallError: they are more than a page should hold.
    """
    if view.weights > LARGEST:
        raise GeorecallError(
            f"expected at most {LARGEST:,} numbers in the embedding and the unembedding of a page that stands "
            f"alone, got {view.weights:,}; explore it without --export"
        )
    return _render(view, weights=view.all_weights(), connect="'none'")


def export_page(view: View, path: Path, *, replace: bool = False) -> None:
    """Write the page that stands alone; it appears when it is whole.

    Raises:
        FolderError: the file exists and `replace` is not set, it is a folder, or it cannot be written.
        GeorecallError: as `standalone_page`.
    """
    check_file(path, replace=replace)
    page = standalone_page(view)
    with whole_file(pointed_to(path), replace=replace) as draft:
        draft.write_bytes(page.encode())


def policy(*, connect: str) -> str:
    """The content security policy: this style and this program, and connections to `connect`, nothing else."""
    return (
        f"default-src 'none'; style-src '{_digest(_style())}'; script-src '{_digest(_program())}'; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _render(view: View, *, weights: dict[str, Any] | None, connect: str) -> str:
    """Jinja escapes every text, and in JSON also what could end the element that holds it."""
    template = Environment(autoescape=True, finalize=escaped_text).from_string(_asset("page.html"))
    return template.render(
        title=view.about.title,
        policy=policy(connect=connect),
        style=_style(),
        program=_program(),
        data={**view.page_data(), "weights": weights},
    )


@cache
def _style() -> str:
    return _asset("explorer.css")


@cache
def _program() -> str:
    parts = "\n".join(_asset(f"{name}.js") for name in PROGRAM)
    return f'"use strict";\n{parts}'


def _asset(name: str) -> str:
    return (files("georecall.explorer") / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
