"""What a page says of a claim besides its figure: what was run, with what, and how long it took."""

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from markupsafe import Markup

from georecall.claims.claim import Outcome
from georecall.claims.sizes import field_names, field_values, listed
from georecall.claims.status import NOT_RECORDED, CellStatus
from georecall.escaping import escaped


def what_was_run(outcome: Outcome) -> dict[str, str]:
    """Sizes, seeds, budget, cells and time of a claim; what its cells do not have is left out."""
    configs = [cell.cell.config for cell in outcome.cells]
    found = {
        "Model": ", ".join(field_names(configs, "model")),
        "Tables": ", ".join(field_names(configs, "example")),
        "Layers": ", ".join(
            "all" if step == 1 else f"one of {step}" for step in field_values(configs, "layer_step")
        ),
        "Folds": listed(field_values(configs, "folds")),
        "Subjects N": listed(field_values(configs, "n_subjects")),
        "Relations R": listed(field_values(configs, "n_relations")),
        "Hops k": listed(field_values(configs, "hops")),
        "Dimension d": listed(
            sorted({d for one in outcome.results for d in one.cell.dimensions(one.result)})
        ),
        "Seeds": listed(field_values(configs, "seeds")),
        "Budget": _budget(configs),
        "Cells": _cells(outcome),
        "Time": f"{duration(outcome.seconds)} of one core" if outcome.count("measured") else "",
    }
    return {name: value for name, value in found.items() if value}


def _budget(configs: Sequence[dict[str, Any]]) -> str:
    """Steps, passes and learning rates of training."""
    words = {
        "steps": "{} steps",
        "passes": "{} passes over the questions",
        "least_steps": "at least {} steps",
        "batch": "{} questions a step",
    }
    parts = [
        text.format(listed(values, last=" or "))
        for name, text in words.items()
        if (values := field_values(configs, name))
    ]
    rates = {
        rate for config in configs for rate in (config.get("training") or config).get("learning_rates", ())
    }
    if rates:
        parts.append(f"learning rates {', '.join(f'{rate:g}' for rate in sorted(rates))}")
    return ", ".join(parts)


def _cells(outcome: Outcome) -> str:
    counts = {state: outcome.count(state) for state in ("measured", "failed", "missing")}
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)


def remarks(outcome: Outcome) -> tuple[str, ...]:
    """What a reader must know of the cells: failures, and other versions of georecall."""
    failures = [cell.failure for cell in outcome.cells if cell.failure is not None]
    said = [f"Failed: {failure.summary} ({failure.folder})" for failure in failures]
    measured = [cell for cell in outcome.cells if cell.state == "measured"]
    here = version("georecall")
    for other in outcome.versions:
        if other != here:
            count = f"{sum(cell.version == other for cell in measured)} of {len(measured)} cells"
            said.append(
                f"{count} do not say which version of georecall measured them; this is {here}."
                if other == NOT_RECORDED
                else f"{count} were measured by georecall {other}; this is {here}."
            )
    return tuple(said)


def environments(outcomes: Sequence[Outcome]) -> tuple[dict[str, str], ...]:
    """The different environments in which cells were measured, with how many and when."""
    groups: dict[tuple[tuple[str, str], ...], list[CellStatus]] = {}
    unique = {cell.cell.folder_name: cell for outcome in outcomes for cell in outcome.cells}
    for cell in unique.values():
        if cell.state == "measured":
            facts = {name: value for name, value in cell.environment.items() if name != "date"}
            groups.setdefault(tuple(facts.items()), []).append(cell)
    return tuple(
        {"cells": f"{len(cells):,}", **dict(facts), "date": _dates(cells)} for facts, cells in groups.items()
    )


def _dates(cells: Sequence[CellStatus]) -> str:
    """The first and the last day."""
    days = sorted({cell.environment["date"][:10] for cell in cells if "date" in cell.environment})
    return " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""


def unbroken(text: str) -> str:
    """No line ends beside an equals sign, or within an interval."""
    return re.sub(r" ([=≤≥…]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)


def with_code(text: str) -> Markup:
    """Text with what stands between backticks as code; all of it escaped."""
    parts = escaped(text).split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def duration(seconds: int | float) -> str:
    """A time to two figures or so: < 0.1 s, 0.4 s, 47 s, 3.5 min, 12 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            value = seconds / length
            return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"
    if seconds < 0.05:
        return "< 0.1 s"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
