"""Options of the commands that run sweeps."""

from typing import Annotated

import typer

ENGINES = "serial: in this process; processes: on the cores of this machine; ray: on a Ray cluster."
EngineOption = Annotated[
    str | None,
    typer.Option(help=f"{ENGINES} By default serial for one cell, else processes.", show_default=False),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        help="Cells measured at once, with processes or ray; one for each core by default.",
        show_default=False,
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(help="Address of the Ray cluster; by default the one that Ray finds.", show_default=False),
]
RetryFailedOption = Annotated[bool, typer.Option("--retry-failed", help="Try again the cells that failed.")]
