"""`georecall forget`."""

from pathlib import Path
from typing import Annotated

import typer

from georecall.cli.output import JsonOption, MemoryArgument
from georecall.cli.rewriting import RelationArgument, SubjectArgument, rewrite


def run(
    memory: MemoryArgument,
    subject: SubjectArgument,
    relation: RelationArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write instead.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing output folder.")] = False,
    json: JsonOption = False,
) -> None:
    """Make one fact unknown by rewriting one row of the embedding.

    Example: `georecall forget memory/ Alice wife`
    """
    rewrite(memory, lambda old: old.forget(subject, relation), subject, relation, output, force, json)
