"""`georecall edit`."""

from pathlib import Path
from typing import Annotated

import typer

from georecall.cli.output import JsonOption, MemoryArgument
from georecall.cli.rewriting import RelationArgument, SubjectArgument, rewrite


def run(
    memory: MemoryArgument,
    subject: SubjectArgument,
    relation: RelationArgument,
    attribute: Annotated[str, typer.Argument(metavar="answer", help="The new answer.", show_default=False)],
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
