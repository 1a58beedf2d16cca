"""One page of all claims: it opens from disk, and needs no network."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined

from georecall.claims.claim import FAMILIES, Outcome
from georecall.claims.judgement import VERDICTS
from georecall.errors import FigureError, raised_as
from georecall.escaping import escaped_text
from georecall.report.embedded import Embedded, embedded, page_config
from georecall.report.page_text import (
    environments,
    remarks,
    unbroken,
    what_was_run,
    with_code,
)
from georecall.storage.files import write_text

VEGA = "window.vegaEmbed = vegaEmbed;"
"""What the page's own script needs of the libraries."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A claim as the page shows it."""

    outcome: Outcome
    run: dict[str, str]
    remarks: tuple[str, ...]
    figure: Embedded | None


def write_page(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the page of these outcomes, all of one preset."""
    write_text(path, page_html(outcomes))


def page_html(outcomes: Sequence[Outcome]) -> str:
    """The page as text: what it is, a summary, a section for each claim, and the environments.

    Whatever stands in an outcome is text and never markup. Scripts are admitted by their hashes, and nothing is
    fetched, so that even markup that got in would run nothing.
    """
    templates = Environment(
        loader=PackageLoader("georecall.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escaped_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"unbroken": unbroken, "with_code": with_code}
    scripts = [_vega(), _source(templates, "page.js")]
    verdicts = [outcome.verdict for outcome in outcomes]
    return templates.get_template("page.html").render(
        families=_families([_section(outcome) for outcome in outcomes]),
        counts={verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts},
        environments=environments(outcomes),
        presets=list(dict.fromkeys(outcome.preset for outcome in outcomes)),
        version=version("georecall"),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        config=page_config(),
        style=_source(templates, "page.css"),
        scripts=scripts,
        hashes=" ".join(map(_hash, scripts)),
    )


def _section(outcome: Outcome) -> Section:
    figure, faults = _figure(outcome)
    return Section(
        outcome=outcome,
        run=what_was_run(outcome),
        remarks=(*remarks(outcome), *faults),
        figure=figure,
    )


def _figure(outcome: Outcome) -> tuple[Embedded | None, tuple[str, ...]]:
    """The figure, and what went wrong with it."""
    try:
        with raised_as(FigureError, f"The figure of {outcome.id} cannot be drawn"):
            figure = outcome.figure
            return None if figure is None else embedded(figure, stamp=outcome.stamp), ()
    except FigureError as error:
        return None, (str(error),)


def _families(sections: Sequence[Section]) -> dict[str, list[Section]]:
    found: dict[str, list[Section]] = {}
    for section in sections:
        found.setdefault(FAMILIES.get(section.outcome.id[0], "Other claims"), []).append(section)
    return found


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, once for all figures."""
    return vl_convert.javascript_bundle(VEGA).replace("</script", "<\\/script")


def _source(templates: Environment, name: str) -> str:
    source: Any = templates.loader
    return source.get_source(templates, name)[0]


def _hash(script: str) -> str:
    """How the page's policy names a script that may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
