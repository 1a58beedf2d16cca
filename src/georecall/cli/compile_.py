"""`georecall compile`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from georecall.cli.output import JsonOption, certified, contents, print_json, print_notes, print_pairs
from georecall.cli.progress import progress_bars
from georecall.cli.table_options import AllowMissingOption, NoHeaderOption, SubjectOption
from georecall.models.architectures import ARCHITECTURES, DEFAULT

if TYPE_CHECKING:
    ArchitectureName = str
else:
    ArchitectureName = Literal[tuple(ARCHITECTURES)]  # typer offers these, as it does those of any Literal


def run(
    facts: Annotated[
        Path,
        typer.Argument(help="A .csv, .tsv, .jsonl, .parquet or relation .json file.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.", show_default=False)],
    hops: Annotated[int, typer.Option(help="Longest chain of relations that can be asked.")] = 3,
    levels: Annotated[int, typer.Option(help="Levels of the attribute code; 2 is binary.")] = 2,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    arch: Annotated[ArchitectureName, typer.Option(help="Stock architecture.")] = DEFAULT,
    rotate: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of a random rotation: dense superpositions along no axis.", show_default=False
        ),
    ] = None,
    form: Annotated[
        Literal["auto", "long", "wide"],
        typer.Option(help="long (one fact a row), wide (one subject a row) or auto."),
    ] = "auto",
    subject: SubjectOption = None,
    relation: Annotated[str | None, typer.Option(help="Column of the relations.", show_default=False)] = None,
    object_: Annotated[
        str | None, typer.Option("--object", help="Column of the objects.", show_default=False)
    ] = None,
    no_header: NoHeaderOption = False,
    allow_missing: AllowMissingOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing memory.")] = False,
    json: JsonOption = False,
) -> None:
    """Compile a table of facts into a stock transformer that recalls every fact and every chain.

    Example: `georecall compile facts.csv -o memory/ --hops 3`
    """
    from georecall.facts.readers import read_with_report

    table, report = read_with_report(
        facts,
        form=form,
        subject=subject,
        relation=relation,
        object=object_,
        has_header=not no_header,
        allow_missing=allow_missing,
    )

    from georecall.memory import FactMemory  # imports torch, so after the table is known to be sound
    from georecall.memory.folder import check_output

    check_output(output, replace=force)
    print_notes(report.notes())
    with progress_bars() as progress:
        memory = FactMemory.compile(
            table, hops=hops, levels=levels, dtype=dtype, arch=arch, rotate=rotate, progress=progress
        )
    memory.save(output, replace=force)
    info = memory.info()
    if json:
        print_json(info.to_dict() | {"folder": str(output)})
        return
    print_pairs(
        {
            "wrote": output,
            **contents(memory),
            "model": f"{info.architecture}, d = {info.dim}, width {info.width}, "
            f"{info.parameters:,} parameters, {info.dtype}",
            "chains": f"up to {info.hops} hops",
            **certified(info),
        }
    )
