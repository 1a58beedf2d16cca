"""`georecall compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.output import (
    LISTED,
    JsonOption,
    print_heading,
    print_json,
    print_line,
    print_pairs,
    print_table,
)

if TYPE_CHECKING:
    from georecall.report.comparing import CellDifference, ClaimPair, ReportPair

ReportArgument = Annotated[Path, typer.Argument(help="Folder of a report.", show_default=False)]


def run(first: ReportArgument, second: ReportArgument, json: JsonOption = False) -> None:
    """Compare two reports: verdicts, what was measured, and every number of the cells that both have.

    Example: `georecall compare report/ other-report/`
    """
    from georecall.report.comparing import compare_reports

    pair = compare_reports(first, second)
    if json:
        print_json(pair.to_dict())
        return
    print_table(
        ("claim", f"verdict in {first}", f"verdict in {second}", "seconds", "seconds", "changed"),
        map(_claim_row, pair.claims),
    )
    for claim in pair.claims:
        if "measured" in claim.changed:
            print_heading(claim.id)
            print_pairs({str(path): _field(side, "measured") for path, side in _sides(claim, first, second)})
    print_line()
    print_pairs(_cells(pair, first, second))
    if pair.differing:
        print_line()
        print_table(
            ("cell", "number", str(first), str(second), "more"), map(_difference_row, pair.differing[:LISTED])
        )


def _claim_row(claim: "ClaimPair") -> tuple[str, ...]:
    sides = (claim.first, claim.second)
    verdicts = [_field(side, "verdict") for side in sides]
    times = [_field(side, "seconds") for side in sides]
    return (claim.id, *verdicts, *times, ", ".join(claim.changed) or "nothing")


def _field(side: dict[str, object] | None, name: str) -> str:
    return "–" if side is None else str(side.get(name, "–"))


def _sides(
    claim: "ClaimPair", first: Path, second: Path
) -> tuple[tuple[Path, dict[str, object] | None], tuple[Path, dict[str, object] | None]]:
    return (first, claim.first), (second, claim.second)


def _cells(pair: "ReportPair", first: Path, second: Path) -> dict[str, str]:
    """How many cells are where, and who measured them."""
    return {
        "equal cells": f"{len(pair.equal):,}",
        "differing cells": f"{len(pair.differing):,}",
        f"only in {first}": f"{len(pair.only_first):,}",
        f"only in {second}": f"{len(pair.only_second):,}",
        f"versions in {first}": ", ".join(pair.versions[0]) or "–",
        f"versions in {second}": ", ".join(pair.versions[1]) or "–",
    }


def _difference_row(difference: "CellDifference") -> tuple[str, ...]:
    """The first number that differs; a cell may differ in words alone."""
    name, (one, other) = next(iter(difference.numbers.items()), ("no number", (None, None)))
    more = len(difference.numbers) - 1
    values = ("–" if value is None else repr(value) for value in (one, other))
    return (difference.cell, name, *values, f"and {more:,} more" if more > 0 else "")
