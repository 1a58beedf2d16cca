"""`georecall transfer`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from georecall.cli.kept_results import earlier_result, write_result
from georecall.cli.output import JsonOption, print_json, print_notes, print_pairs, print_table
from georecall.cli.progress import progress_bars
from georecall.cli.table_options import NoHeaderOption, SubjectOption
from georecall.errors import FolderError, GeorecallError

if TYPE_CHECKING:
    from georecall.statistics.estimates import Estimate
    from georecall.training.runs import TrainedRun
    from georecall.transfer.freeze_and_swap import Insertion, Transfer

Shown = tuple[dict[str, Any], dict[str, "Estimate"]]
"""Pairs to print, and the columns of the table of members."""


def run(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)],
    worlds: Annotated[int, typer.Option(help="New worlds to swap in.")] = 5,
    method: Annotated[str, typer.Option(help="ridge or selector: how embeddings are written.")] = "ridge",
    insert: Annotated[
        Path | None,
        typer.Option(help="Table of new subjects to insert, instead of new worlds.", show_default=False),
    ] = None,
    subject: SubjectOption = None,
    no_header: NoHeaderOption = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of worlds and controls.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder of the result; the run's by default.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a result of another run or table.")] = False,
    json: JsonOption = False,
) -> None:
    """Give a trained one-hop run new facts by writing subject embeddings in closed form, all else frozen.

    Example: `georecall transfer run/ --worlds 5 --method selector`
    """
    from georecall.facts.readers import read_with_report
    from georecall.training.runs import describe_run, load_run
    from georecall.training.settings import check_all
    from georecall.transfer.embedding_solvers import checked_method
    from georecall.transfer.freeze_and_swap import check_worlds, insert_subjects, swap_worlds

    if insert is None and (subject is not None or no_header):
        raise GeorecallError(
            "random worlds are not read from a table: --subject and --no-header need --insert"
        )
    target = output or folder
    read = partial(read_with_report, subject=subject, has_header=not no_header, allow_missing=True)
    check_all(
        lambda: checked_method(method),
        lambda: check_worlds(worlds),
        lambda: describe_run(folder),
        lambda: insert and read(insert),
        lambda: _check_folder(target),
    )
    trained = load_run(folder)
    settings = {"run": trained.digest, "method": method, "seed": seed}
    found: Transfer | Insertion
    with progress_bars() as progress:
        if insert is None:
            settings["worlds"] = worlds
            file = target / f"transfer-{method}-worlds-{worlds}-seed-{seed}.json"
            earlier_result(file, settings, replace=force)
            found = swap_worlds(
                trained.model, trained.table, method=method, worlds=worlds, seed=seed, progress=progress
            )
        else:
            new, report = read(insert)
            print_notes(report.notes())
            settings["table"] = new.digest()
            file = target / f"insertion-{method}-seed-{seed}.json"
            earlier_result(file, settings, replace=force)
            found = insert_subjects(
                trained.model, trained.table, new, method=method, seed=seed, progress=progress
            )
    content = write_result(file, settings, found.to_dict())
    if json:
        print_json(content | {"file": str(file)})
    else:
        _show(found, trained, file)


def _check_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise FolderError(f"{path}: expected a folder to write, found a file")


def _show(found: "Transfer | Insertion", trained: "TrainedRun", file: Path) -> None:
    """A summary, and a row for each member."""
    from georecall.transfer.freeze_and_swap import Transfer

    summary, columns = _of_worlds(found) if isinstance(found, Transfer) else _of_subjects(found)
    print_pairs({"wrote": file, **summary})
    shares = [[f"{value:.3%}" for value in estimate.values] for estimate in columns.values()]
    rows = zip(*zip(*trained.config.members, strict=True), *shares, strict=True)
    print_table(("learning rate", "seed", *columns), rows)


def _of_worlds(found: "Transfer") -> Shown:
    summary = {
        "new facts": f"{_mean(found.accuracy)} in {found.worlds} new worlds, by {found.method}",
        "old facts": _mean(found.old),
        "random embeddings": _mean(found.random),
        "permuted embeddings": _mean(found.permuted),
        "chance": f"{found.chance:.3%}",
        "ranks of selectors": ", ".join(f"{rank:.1f}" for rank in found.ranks.mean),
        "interference": f"{_mean(found.interference, '.2f')}, the sum of the ranks over d",
    }
    columns = {"old facts": found.old, "new facts": found.accuracy}
    return summary, columns | {"random": found.random, "permuted": found.permuted}


def _of_subjects(found: "Insertion") -> Shown:
    summary = {
        "new facts": f"{_mean(found.accuracy)} of {found.facts:,} about {found.subjects:,} subjects, by {found.method}",
        "left out": f"{found.left_out:,} facts with attributes that the run does not have for the relation",
        "random embeddings": _mean(found.random),
        "commonest answer": f"{found.majority:.3%}",
        "chance": f"{found.chance:.3%}",
    }
    return summary, {"new facts": found.accuracy, "random": found.random}


def _mean(estimate: "Estimate", form: str = ".3%") -> str:
    """The mean over members with its interval, where there are enough of them."""
    from georecall.statistics.quantities import Quantity

    return Quantity.of("", estimate, form=form).stated
