"""`georecall reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from georecall.cli.engine_options import ENGINES, AddressOption, RetryFailedOption, WorkersOption
from georecall.cli.output import (
    JsonOption,
    Styled,
    err,
    print_heading,
    print_json,
    print_line,
    print_note,
    print_notes,
    print_pairs,
    print_table,
)
from georecall.cli.progress import progress_bars
from georecall.errors import FolderError, GeorecallError

if TYPE_CHECKING:
    from georecall.claims import Claim, Outcome
    from georecall.sweeps import Engine

COLOURS = {
    "holds": "bold green",
    "fails": "bold red",
    "undecided": "bold yellow",
    "skipped": "dim",
    "not measured": "dim",
}
A_CLAIM_FAILS, INTERRUPTED = 3, 130
DEFAULT_ENGINE = "processes"


def run(
    preset: Annotated[
        str, typer.Option(help="quick, standard or paper: how large the worlds are.")
    ] = "quick",
    claims: Annotated[
        str | None, typer.Option(help="Claims to settle, e.g. K1,K4; all by default.", show_default=False)
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the claims, their sizes and times, and stop.")
    ] = False,
    show: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM", help="Show all that is on disk of one claim, and stop.", show_default=False
        ),
    ] = None,
    plot_only: Annotated[
        bool, typer.Option("--plot-only", help="Measure nothing: judge and draw what is on disk.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the report.")] = Path("report"),
    engine: Annotated[
        str | None, typer.Option(help=f"{ENGINES} By default {DEFAULT_ENGINE}.", show_default=False)
    ] = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
    retry_failed: RetryFailedOption = False,
    json: JsonOption = False,
) -> None:
    """Settle the claims by measuring them; finished cells are kept, and exit code 3 says that a claim fails.

    Example: `georecall reproduce --preset quick --claims K1,K4 -o report/`
    """
    from georecall.claims import reproduce, select, settled_outcomes
    from georecall.claims.registry import CELLS
    from georecall.report.writing import PAGE, REPORT, write_report
    from georecall.storage.folders import check_target
    from georecall.sweeps import choose_engine

    chosen = select(claims)
    check_target(output, kind=REPORT, replace=True)
    if (plot_only or show is not None) and not (output / CELLS).is_dir():
        raise FolderError(f"{output}: expected the folder of a report, found no {CELLS} in it")
    if show is not None:
        _show_one(select(show), preset, output, json=json)
        return
    chosen_engine = choose_engine(engine or DEFAULT_ENGINE, workers=workers, address=address, cells=1)
    if list_only:
        _list(chosen, preset, output, engine=chosen_engine, json=json)
        return
    try:
        with progress_bars() as progress:
            outcomes = (
                settled_outcomes(preset, output)
                if plot_only
                else reproduce(
                    chosen, preset, output, progress, engine=chosen_engine, retry_failed=retry_failed
                )
            )
            faults = write_report(outcomes, output, progress)
    except KeyboardInterrupt:
        print_note(f"interrupted; finished cells are kept in {output}, and the next run continues")
        raise typer.Exit(INTERRUPTED) from None
    print_notes(faults)
    ids = {claim.id for claim in chosen}
    _show([outcome for outcome in outcomes if outcome.id in ids], output / PAGE, json=json)


def _show(outcomes: list["Outcome"], page: Path, *, json: bool) -> None:
    """Print a line for each outcome; the exit code says whether a claim fails."""
    if json:
        print_json([outcome.to_dict() for outcome in outcomes])
    else:
        print_table(
            ("claim", "verdict", "key figure"),
            ((o.id, Styled(o.verdict, COLOURS[o.verdict]), o.judgement.key) for o in outcomes),
            folded=False,
        )
        print_note(f"georecall reproduce --show CLAIM has all that was measured, and so has the page {page}")
    failing = [outcome.id for outcome in outcomes if outcome.verdict == "fails"]
    if failing:
        print_line(f"claims that fail: {', '.join(failing)}", to=err)
        raise typer.Exit(A_CLAIM_FAILS)


def _show_one(claims: tuple["Claim", ...], preset: str, folder: Path, *, json: bool) -> None:
    """All that is known of one claim from what is on disk."""
    from georecall.claims.registry import CELLS, checked_preset
    from georecall.report.page_text import remarks, what_was_run

    if len(claims) != 1:
        raise GeorecallError(f"expected one claim to show, got {len(claims)}")
    (claim,) = claims
    outcome = claim.outcome(checked_preset(preset), folder / CELLS)
    if json:
        print_json(outcome.to_dict())
        return
    print_line(f"{claim.id}  {claim.statement}")
    print_line()
    print_pairs(
        {
            "verdict": f"{outcome.verdict}, at the preset {preset}",
            "key figure": outcome.judgement.key,
            "criterion": claim.criterion,
            "source": claim.source,
            **{name[0].lower() + name[1:]: value for name, value in what_was_run(outcome).items()},
        }
    )
    print_heading("Measured")
    for finding in outcome.judgement.findings:
        if finding.world:
            print_line(finding.world)
        for statement in finding.statements:
            print_line(f"  {statement}")
    print_notes(remarks(outcome))


def _list(claims: tuple["Claim", ...], preset: str, folder: Path, *, engine: "Engine", json: bool) -> None:
    """What the claims say, what is measured for them, what is measured already, and how long the rest will take."""
    from georecall.report.page_text import duration

    listed = _listed(claims, preset, folder, engine=engine)
    if json:
        print_json(listed)
        return
    fields = ("sizes", "statement")
    print_table(
        ("id", "done", "time left", *fields),
        (
            (
                row["id"],
                f"{row['done']} of {row['cells']}",
                _time_left(row),
                *(row[field] for field in fields),
            )
            for row in listed
        ),
    )
    left = 60 * sum(row["minutes"] or 0 for row in listed if row["lacks"] is None)
    if left:
        print_note(f"about {duration(left)} in all, {engine.workers} cells at once; shared cells count once")


def _listed(
    claims: tuple["Claim", ...], preset: str, folder: Path, *, engine: "Engine"
) -> list[dict[str, Any]]:
    from georecall.claims.registry import CELLS, checked_preset
    from georecall.claims.sizes import sizes_text
    from georecall.claims.timing import expectations, minutes_here

    size = checked_preset(preset)
    minutes = minutes_here(engine.workers)
    return [
        {
            **{field: getattr(claim, field) for field in ("id", "statement", "criterion", "source")},
            "preset": preset,
            "sizes": sizes_text(claim.cells(size)),
            "cells": expected.cells,
            "done": expected.done,
            "minutes": minutes(expected),
            "how": expected.how,
            "lacks": claim.missing(),
        }
        for claim, expected in zip(claims, expectations(claims, size, folder / CELLS), strict=True)
    ]


def _time_left(row: dict[str, Any]) -> str:
    """A time with how it is known; what is done takes none, and what cannot be measured here says why."""
    from georecall.report.page_text import duration

    if row["minutes"] == 0 or row["lacks"] is not None:
        return row["lacks"] or "none"
    return "unknown" if row["minutes"] is None else f"{duration(60 * row['minutes'])}, {row['how']}"
