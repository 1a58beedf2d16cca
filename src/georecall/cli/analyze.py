"""`georecall analyze`."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from georecall.cli.kept_results import WAY_OUT, earlier_result, write_result
from georecall.cli.output import (
    LISTED,
    JsonOption,
    print_json,
    print_note,
    print_notes,
    print_pairs,
    print_table,
)
from georecall.cli.progress import progress_bars
from georecall.errors import AnalysisError, FolderError
from georecall.storage.folders import check_target
from georecall.storage.kinds import Kind, has

if TYPE_CHECKING:
    from georecall.dissection import Dissection
    from georecall.dissection.study import Analysis
    from georecall.training.runs import TrainedRun

FIGURE_OF = {"variance": "superposition", "doses": "swap", "units": "selectivity"}
"""The analysis of a figure, where it does not have that analysis's name."""
RESULT = "analysis.json"
ALL = "superposition,interventions,selectivity"
ANALYSIS = Kind(name="that of an analysis", markers=(RESULT,), is_ours=has("members", "dissection"))


def run(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run of one hop.", show_default=False)],
    only: Annotated[str, typer.Option(help="Groups of analyses, separated by commas.")] = ALL,
    seed: Annotated[int, typer.Option(min=0, help="Decides which subjects are held out, and all draws.")] = 0,
    json: JsonOption = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write; RUN/analysis by default.", show_default=False),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an analysis of another run or seed.")
    ] = False,
) -> None:
    """Dissect a trained ensemble: superposition, what interventions change, and which units serve which relation.

    With --only, what an earlier analysis of the same run and seed found of other groups is kept.

    Example: `georecall analyze run/ --only superposition,interventions`
    """
    target = output or folder / "analysis"
    if target.exists() and not target.is_dir():
        raise FolderError(f"{target}: expected a folder to write, found a file")
    if output is not None:
        check_target(output, kind=ANALYSIS, replace=True)

    from georecall.dissection import dissect
    from georecall.dissection.held_out_split import HELD_OUT
    from georecall.training.runs import load_run

    names = _analyses(only)
    trained = load_run(folder)
    settings = {"run": trained.digest, "seed": seed, "held_out": HELD_OUT}
    earlier = _earlier(target / RESULT, settings, force)
    with progress_bars() as progress:
        found = dissect(trained.model, trained.table, only=names, seed=seed, progress=progress)
    kept = {name: part for name, part in earlier.items() if name not in found.results}
    measured = _content(trained, found.model_copy(update=kept))
    content = write_result(target / RESULT, settings, measured)
    _draw(target, measured, found, kept)
    if kept:
        print_note(f"kept from the analysis before: {', '.join(kept)}")
    if json:
        print_json(content | {"folder": str(target)})
    else:
        _show(target, measured, found)


def _analyses(only: str) -> list[str]:
    """The analyses of the groups asked for; all unknown groups are refused at once."""
    from georecall.dissection.dissection import groups

    known, wanted = groups(), [name.strip() for name in only.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise AnalysisError(
            f"expected groups among {', '.join(known)}, got {', '.join(map(repr, dict.fromkeys(unknown)))}"
        )
    return [name for group in dict.fromkeys(wanted) for name in known[group]]


def _content(trained: "TrainedRun", found: "Dissection") -> dict[str, Any]:
    """All that is written: the world, the model, and what was found."""
    config, table = trained.config, trained.table
    return {
        "subjects": len(table.subjects),
        "relations": list(table.relations),
        "attributes": len(table.attributes),
        "dim": config.dim,
        "attribute_dim": config.out,
        "width": config.width,
        "steps": trained.result["last"]["step"],
        "members": trained.result["members"],
        "recall": trained.result["last"]["recall"],
        "versions": trained.result["versions"],
        "dissection": found.to_dict(),
    }


def _sizes(content: dict[str, Any]) -> str:
    return (
        f"N = {content['subjects']:,}, R = {len(content['relations'])}, d = {content['dim']}, "
        f"a = {content['attribute_dim']}, {content['width']} hidden units, "
        f"{len(content['members'])} members, {content['steps']:,} steps"
    )


def _earlier(file: Path, settings: dict[str, Any], force: bool) -> "dict[str, Analysis]":
    """The analyses that an earlier one with these settings found, by name.

    Raises:
        FolderError: as `earlier_result`.
    """
    from pydantic import ValidationError

    from georecall.dissection import Dissection

    content = earlier_result(file, settings, replace=force)
    if content is None:
        return {}
    try:
        return Dissection.read(content.get("dissection", {})).results
    except ValidationError as error:
        raise FolderError(f"{file}: altered: not what `georecall analyze` writes; {WAY_OUT}") from error


def _draw(target: Path, content: dict[str, Any], found: "Dissection", kept: Collection[str]) -> None:
    """The figures of what was measured; those of what is kept stay, and no others."""
    from georecall.figures.dissection import TITLES, dissection_figures
    from georecall.figures.saving import save_figures

    faults = save_figures(
        lambda: dissection_figures(found, content["relations"], subtitle=_sizes(content)),
        target,
        names=[name for name in TITLES if FIGURE_OF.get(name, name) not in kept],
        suffixes=(".html", ".png"),
    )
    print_notes(faults)


def _show(target: Path, content: dict[str, Any], found: "Dissection") -> None:
    from georecall.statistics.estimates import Estimate
    from georecall.statistics.quantities import Quantity

    relations = content["relations"]
    print_pairs(
        {
            "wrote": target,
            "model": _sizes(content),
            "subjects": f"{found.training_subjects:,} to fit and to choose on, "
            f"{found.held_out_subjects:,} held out",
            "recall": f"{Quantity.of('', Estimate(members=content['recall'])).stated} of all facts",
        }
    )
    rows = [
        (quantity.name, quantity.stated, quantity.beside, quantity.expected)
        for result in found.results.values()
        for quantity in result.headlines(relations, LISTED)
    ]
    print_table(("", "measured", "controls", "chance"), rows)
    for note in _notes(found, relations):
        print_note(note)


def _notes(found: "Dissection", relations: list[str]) -> Iterator[str]:
    """Why a number is missing, or says less than it seems to."""
    from georecall.statistics.estimates import LEAST_MEMBERS

    if found.members < LEAST_MEMBERS:
        yield f"no intervals over members: expected {LEAST_MEMBERS} or more, got {found.members}"
    if len(relations) > LISTED:
        yield f"shown are {LISTED} of {len(relations)} relations; all are in {RESULT}"
    if len(relations) == 1:
        yield "with one relation there are no others to stay, to patch in or to select against"
    for result in found.results.values():
        yield from result.notes()
