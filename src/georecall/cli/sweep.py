"""`georecall sweep`."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.output import JsonOption, print_heading, print_json, print_table

if TYPE_CHECKING:
    from georecall.sweeps import SweepStatus

app = typer.Typer(help="Look after sweeps of measurements.", no_args_is_help=True)


@app.callback()
def sweep() -> None:
    """Look after sweeps of measurements."""


@app.command("status")
def status(
    folder: Annotated[Path, typer.Argument(help="Folder of the cells of a sweep.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Show how far a sweep is, how long it will take, and which of its cells failed.

    Example: `georecall sweep status report/cells`
    """
    from georecall.sweeps import sweep_status

    found = sweep_status(folder)
    if json:
        print_json(found.to_dict())
    else:
        _print_status(found, folder)


def _print_status(found: "SweepStatus", folder: Path) -> None:
    from georecall.sweeps.cells import FAILURE

    counts = (found.planned, found.done, found.running, found.waiting, len(found.failed))
    times = (_duration(found.mean_seconds), _duration(found.seconds_left))
    print_table(
        ("planned", "done", "running", "waiting", "failed", "mean time", "time left"), [(*counts, *times)]
    )
    if found.failed:
        print_heading("Failed cells")
        print_table(
            ("error", "traceback in"),
            ((failure.summary, folder / failure.folder / FAILURE) for failure in found.failed),
        )


def _duration(seconds: float | None) -> str:
    """Hours, minutes and seconds; tenths of what is short."""
    if seconds is None:
        return "unknown"
    return f"{seconds:.1f} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))
