"""The command line reference, from the commands themselves."""

from collections.abc import Iterator
from typing import Any

import typer

from georecall.cli.app import app

TITLE = """# Command line

Generated from the program: what `georecall COMMAND --help` says. Results go to standard output, notes and errors to
standard error. The exit code is 0 where all went well, 1 where `verify` found something wrong, 2 where the input was
refused, and 3 where a claim fails or a world could not be measured.
"""
HEAD = ["| argument or option | what it does |", "|---|---|"]


def command_line() -> str:
    """The page, as Markdown."""
    return "\n".join([TITLE, *(_section(path, command) for path, command in commands())])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its full name, in the order in which the program lists them."""
    yield from _leaves(app.info.name or "", typer.main.get_command(app))


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield path, command
        return
    for name, inner in below.items():
        yield from _leaves(f"{path} {name}", inner)


def _section(path: str, command: Any) -> str:
    context = command.make_context(path, [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [row for parameter in command.params if (row := parameter.get_help_record(context))]
    table = [f"| `{name}` | {_cell(text)} |" for name, text in rows]
    return "\n".join([f"## `{path}`", "", command.help, "", "```text", usage, "```", "", *HEAD, *table, ""])


def _cell(text: str) -> str:
    """Text inside a table; what typer adds at its end in brackets, such as the default, is set apart."""
    help_text, bracket, added = text.replace("|", "\\|").replace("<", "&lt;").rpartition("  [")
    return f"{help_text} *({added.removesuffix(']')})*" if bracket else added
