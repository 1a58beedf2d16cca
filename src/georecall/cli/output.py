"""How results, errors and progress are printed. Names from tables are text, never markup."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from georecall.progress import Progress as Report

MemoryArgument = Annotated[Path, typer.Argument(help="Folder of a compiled memory.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_error(message: str) -> None:
    """One error, on standard error."""
    err.print(Text("error: ", style="bold red") + Text(message))


def print_note(message: str) -> None:
    """Something worth knowing, on standard error."""
    err.print(Text("note: ", style="yellow") + Text(message))


def print_json(value: Any) -> None:
    """A result as JSON, on standard output, whatever the width of the terminal."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        grid.add_row(Text(name, style="dim"), Text(str(value)))
    out.print(grid)


def print_table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A table with a header."""
    table = Table(*columns, header_style="bold", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    out.print(table)


@contextmanager
def progress_bars() -> Iterator[Report]:
    """Progress bars on standard error, one for each thing being done, with the time left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err, transient=True) as bars:

        def report(task: str, done: int, total: int) -> None:
            if task not in tasks:
                tasks[task] = bars.add_task(task, total=total)
            bars.update(tasks[task], completed=done, total=total)

        yield report
