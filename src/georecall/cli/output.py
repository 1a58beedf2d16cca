"""How results, errors and progress are printed. Names from tables are text, never markup."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from georecall.facts.names import shown
from georecall.progress import Progress as Report

if TYPE_CHECKING:
    from georecall.memory import FactMemory, MemoryInfo

MemoryArgument = Annotated[Path, typer.Argument(help="Folder of a compiled memory.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

UNFOLDED = 10_000
"""Width of a table that goes to a file or to another program."""

LISTED = 20
"""Names and rows shown of a long list."""

SPEED_SECONDS = 3600
"""So far back the speed of work is looked at: one step may take many minutes."""

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_error(message: str) -> None:
    """One error, on standard error: one line, and a line for each place where there are several."""
    what, *places = message.split("\n  ")
    text = f"{what}: {places[0]}" if len(places) == 1 else message
    err.print(Text("error: ", style="bold red") + Text(text))


def print_note(message: str) -> None:
    """Something worth knowing, on standard error."""
    err.print(Text("note: ", style="yellow") + Text(message))


def print_json(value: Any) -> None:
    """A result as JSON, on standard output, whatever the width of the terminal; a number that is not finite is null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    """The value with null for NaN and the infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Names and values in two columns, a line for each pair."""
    width = max(map(len, pairs))
    for name, value in pairs.items():
        out.print(Text(f"{name:<{width}}  ", style="dim") + Text(str(value)))


def contents(memory: "FactMemory") -> dict[str, str]:
    """What a memory holds, as pairs to print; the relations by name, as they are what can be asked."""
    table, info = memory.table, memory.info()
    more = ", …" if info.relations > LISTED else ""
    return {
        "facts": f"{info.facts:,}" + (f"; unknown: {info.missing:,}" if info.missing else ""),
        "subjects": f"{info.subjects:,}",
        "relations": f"{info.relations:,}: {', '.join(map(shown, table.relations[:LISTED]))}{more}",
    }


def certified(info: "MemoryInfo") -> dict[str, str]:
    """The certified margin and where it holds, as a pair to print."""
    if info.basis == "sampled":
        return {
            "sampled margin": f"{info.margin:.3f}; {info.asked:,} of {info.steps:,} steps were asked in {info.dtype}, "
            "which proves nothing of the others"
        }
    known = "" if info.basis == "proved" else f"; all {info.steps:,} steps were asked"
    return {"certified margin": f"{info.margin:.3f}; exact in {', '.join(info.exact_dtypes)}{known}"}


def print_table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A table with a header: folded to the width of a terminal, otherwise one line a row."""
    headers = (Column(name, overflow="fold") for name in columns)
    table = Table(*headers, header_style="bold", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    console = out if out.is_terminal else Console(highlight=False, width=UNFOLDED)
    console.print(table)


@contextmanager
def progress_bars() -> Iterator[Report]:
    """Progress bars on standard error, if it is a terminal: one for each thing being done, with the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(
        *columns,
        console=err,
        transient=True,
        disable=not err.is_terminal,
        speed_estimate_period=SPEED_SECONDS,
    ) as bars:

        def report(task: str, done: int, total: int, note: str = "") -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=total, note=note)
            bars.update(tasks[task], completed=done, total=total, note=note)

        yield report
