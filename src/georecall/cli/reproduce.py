"""`georecall reproduce`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from georecall.cli.engine_options import ENGINES, AddressOption, RetryFailedOption, WorkersOption
from georecall.cli.output import JsonOption, print_json, print_note, print_table, progress_bars
from georecall.errors import FolderError

COLOURS = {"holds": "bold green", "fails": "bold red", "undecided": "bold yellow"}
A_CLAIM_FAILS = 3
DEFAULT_ENGINE = "processes"


def run(
    preset: Annotated[
        str, typer.Option(help="quick, standard or paper: how large the worlds are.")
    ] = "quick",
    claims: Annotated[
        str | None, typer.Option(help="Claims to settle, e.g. K1,K4; all by default.", show_default=False)
    ] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the claims and stop.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the results.")] = Path("report"),
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
    from georecall.claims import reproduce, select
    from georecall.report.claim_figures import write_claim_figures
    from georecall.sweeps import choose_engine

    chosen = select(claims)
    if list_only:
        fields = ("id", "statement", "criterion", "source")
        listed = [{field: getattr(claim, field) for field in fields} for claim in chosen]
        if json:
            print_json(listed)
        else:
            print_table(fields[:3], ([claim[field] for field in fields[:3]] for claim in listed))
        return
    if output.exists() and not output.is_dir():
        raise FolderError(f"{output}: expected a folder to write, found a file")
    chosen_engine = choose_engine(engine or DEFAULT_ENGINE, workers=workers, address=address, cells=1)
    with progress_bars() as progress:
        outcomes = reproduce(
            chosen, preset, output, progress, engine=chosen_engine, retry_failed=retry_failed
        )
    write_claim_figures((outcome for outcome in outcomes if outcome.results), output / "figures")
    if json:
        print_json([outcome.to_dict() for outcome in outcomes])
    else:
        print_table(
            ("claim", "verdict", "measured", "criterion", "seconds"),
            (
                (o.id, Text(o.verdict, style=COLOURS[o.verdict]), o.measured, o.criterion, f"{o.seconds:.1f}")
                for o in outcomes
            ),
        )
        print_note(f"results and figures are in {output}")
    if any(outcome.verdict == "fails" for outcome in outcomes):
        raise typer.Exit(A_CLAIM_FAILS)
