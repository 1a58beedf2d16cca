"""The options of every command that reads a table."""

from typing import Annotated

import typer

SubjectOption = Annotated[str | None, typer.Option(help="Column of the subjects.", show_default=False)]
NoHeaderOption = Annotated[
    bool,
    typer.Option("--no-header", help="Each line of the table is a subject, a relation and an object."),
]
AllowMissingOption = Annotated[
    bool, typer.Option("--allow-missing", help="Read blank objects of the table as unknown facts.")
]
