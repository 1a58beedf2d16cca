"""How results and errors are printed: the one place that writes to the terminal.

Whatever is printed is text. No markup in it is interpreted, and `escaped` lets nothing in it act on the terminal.
"""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from georecall.escaping import escaped

if TYPE_CHECKING:
    from georecall.memory import FactMemory, MemoryInfo

MemoryArgument = Annotated[Path, typer.Argument(help="Folder of a compiled memory.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

LISTED = 20
"""Names and rows shown of a long list."""

UNKNOWN_ANSWER = "unknown"
"""What is printed where there is no answer."""

PLACE = "\n  "
"""What stands in an error before each of several places."""

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Styled(NamedTuple):
    """Text in a style of rich, such as `bold red`."""

    text: str
    style: str


def print_line(*parts: str | Styled, to: Console = out) -> None:
    """One line, of parts that follow one another."""
    to.print(Text.assemble(*map(_text, parts)))


def print_heading(heading: str) -> None:
    """A heading below an empty line."""
    out.print()
    print_line(Styled(heading, "bold"))


def print_error(message: str) -> None:
    """One error, on standard error: one line, and a line for each place where there are several."""
    what, *places = message.split(PLACE)
    if len(places) == 1:
        what, places = f"{what}: {places[0]}", []
    print_line(Styled("error: ", "bold red"), what, to=err)
    for place in places:
        print_line("  ", place, to=err)


def print_note(message: str) -> None:
    """Something worth knowing, on standard error."""
    print_line(Styled("note: ", "yellow"), message, to=err)


def print_notes(messages: Iterable[str]) -> None:
    """A note for each message."""
    for message in messages:
        print_note(message)


def print_json(value: Any) -> None:
    """A result as JSON, on standard output, whatever its width and encoding; a number that is not finite is null."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    if not _can_be_shown(text):
        text = json.dumps(_finite(value), indent=2).replace("\x7f", "\\u007f")
    typer.echo(text)


def _can_be_shown(text: str) -> bool:
    """Whether the lines can be encoded for standard output, and nothing in them acts on a terminal."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return all(escaped(line) == line for line in text.split("\n"))


def _finite(value: Any) -> Any:
    """The value with null for NaN and the infinities, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def print_pairs(pairs: Mapping[str, Any]) -> None:
    """Names and values in two columns, a line for each pair."""
    width = max(len(escaped(name)) for name in pairs)
    for name, value in pairs.items():
        print_line(Styled(f"{escaped(name):<{width}}  ", "dim"), str(value))


def contents(memory: "FactMemory") -> dict[str, str]:
    """What a memory holds, as pairs to print; the relations by name, as they are what can be asked."""
    table, info = memory.table, memory.info()
    more = ", …" if info.relations > LISTED else ""
    return {
        "facts": f"{info.facts:,}" + (f"; unknown: {info.missing:,}" if info.missing else ""),
        "subjects": f"{info.subjects:,}",
        "relations": f"{info.relations:,}: {', '.join(table.relations[:LISTED])}{more}",
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


def print_table(columns: Sequence[str], rows: Iterable[Iterable[Any]], *, folded: bool = True) -> None:
    """A table with a header: one line a row, but `folded` to the width of a terminal, or else cut to it."""
    header = [_text(Styled(name, "bold")) for name in columns]
    cells = [[_text(cell) for cell in row] for row in rows]
    if out.is_terminal and folded:
        table = Table(*(Column(name, overflow="fold") for name in header), box=None, pad_edge=False)
        for row in cells:
            table.add_row(*row)
        out.print(table)
        return
    for line in _aligned([header, *cells]):
        if out.is_terminal:
            line.truncate(out.width, overflow="ellipsis")
        out.print(line)


def _aligned(rows: Sequence[Sequence[Text]]) -> Iterator[Text]:
    """Rows as lines: cells below one another, two spaces between them, none at the end."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        line = Text()
        for cell, width in zip(row, widths, strict=True):
            line.append_text(cell).append(" " * (width - cell.cell_len + 2))
        line.rstrip()
        yield line


def _text(part: Any) -> Text:
    """What is printed of a part."""
    return Text(escaped(part.text), part.style) if isinstance(part, Styled) else Text(escaped(str(part)))
