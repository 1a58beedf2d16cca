"""`georecall edit`."""

from pathlib import Path
from typing import Annotated

import typer

from georecall.cli.output import JsonOption, MemoryArgument
from georecall.cli.rewriting import rewrite


def run(
    memory: MemoryArgument,
    subject: Annotated[str, typer.Argument(show_default=False)],
    relation: Annotated[str, typer.Argument(show_default=False)],
    attribute: Annotated[str, typer.Argument(metavar="OBJECT", help="The new answer.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write instead.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output folder.")] = False,
    json: JsonOption = False,
) -> None:
    """Change one fact by rewriting one row of the embedding.

    Example: `georecall edit memory/ Alice wife Grace`
    """
    rewrite(
        memory, lambda old: old.edit(subject, relation, attribute), subject, relation, output, force, json
    )
