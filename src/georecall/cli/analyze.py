"""`georecall analyze`."""

import math
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
    print_pairs,
    print_table,
    progress_bars,
)
from georecall.errors import AnalysisError, FolderError
from georecall.facts.names import shown

if TYPE_CHECKING:
    from georecall.dissection import Dissection
    from georecall.statistics.estimates import Estimate
    from georecall.training.runs import TrainedRun

GROUPS = {
    "superposition": ("superposition", "readout"),
    "interventions": ("swap", "patching"),
    "selectivity": ("selectivity", "ablation", "gates"),
}
FIGURE_OF = {"variance": "superposition", "doses": "swap", "units": "selectivity"}
"""The analysis of a figure, where it does not have that analysis's name."""

RESULT, NO_NUMBER = "analysis.json", "–"
Row = tuple[str, str, str, str]


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a finished run of one hop.", show_default=False)
    ],
    only: Annotated[str, typer.Option(help="Groups of analyses, separated by commas.")] = ",".join(GROUPS),
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
    names = _analyses(only)
    if target.exists() and not target.is_dir():
        raise FolderError(f"{target}: expected a folder to write, found a file")

    from georecall.dissection import dissect
    from georecall.dissection.specimen import HELD_OUT
    from georecall.training.runs import load_run

    trained = load_run(folder)
    settings = {"run": trained.digest, "seed": seed, "held_out": HELD_OUT}
    earlier = _earlier(target / RESULT, settings, force)
    with progress_bars() as progress:
        found = dissect(trained.model, trained.table, only=names, seed=seed, progress=progress)
    measured = _content(trained, found)
    kept = {name: part for name, part in earlier.items() if not measured["dissection"][name]}
    whole = measured | {"dissection": measured["dissection"] | kept}
    content = write_result(target / RESULT, settings, whole)
    _draw(target, measured, found, kept)
    if kept:
        print_note(f"kept from the analysis before: {', '.join(kept)}")
    if json:
        print_json(content | {"folder": str(target)})
    else:
        _show(target, measured)


def _analyses(only: str) -> list[str]:
    """The analyses of the groups asked for; all unknown groups are refused at once."""
    groups = [name.strip() for name in only.split(",")]
    unknown = [name for name in groups if name not in GROUPS]
    if unknown:
        raise AnalysisError(
            f"expected groups among {', '.join(GROUPS)}, got {', '.join(map(repr, dict.fromkeys(unknown)))}"
        )
    return [name for group in dict.fromkeys(groups) for name in GROUPS[group]]


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


def _earlier(file: Path, settings: dict[str, Any], force: bool) -> dict[str, Any]:
    """The analyses that an earlier one with these settings found, by name.

    Raises:
        FolderError: as `earlier_result`.
    """
    content = earlier_result(file, settings, replace=force)
    if content is None:
        return {}
    found = content.get("dissection")
    if not isinstance(found, dict):
        raise FolderError(f"{file}: altered: not what `georecall analyze` writes; {WAY_OUT}")
    names = (name for group in GROUPS.values() for name in group)
    return {name: found[name] for name in names if found.get(name)}


def _draw(target: Path, content: dict[str, Any], found: "Dissection", kept: Collection[str]) -> None:
    """The figures of what was measured; those of what is kept stay, and no others."""
    from georecall.figures.dissection import TITLES, dissection_figures
    from georecall.figures.theme import save_figure

    shares = found.selectivity.shares[0] if found.selectivity else None
    figures = dissection_figures(
        content["dissection"],
        [shown(name) for name in content["relations"]],
        unit_shares=shares,
        subtitle=_sizes(content),
    )
    for name in TITLES:
        for suffix in (".html", ".png"):
            path = target / f"{name}{suffix}"
            if name in figures:
                save_figure(figures[name], path)
            elif FIGURE_OF.get(name, name) not in kept:
                path.unlink(missing_ok=True)


def _show(target: Path, content: dict[str, Any]) -> None:
    found, relations = content["dissection"], [shown(name) for name in content["relations"]]
    print_pairs(
        {
            "wrote": target,
            "model": _sizes(content),
            "subjects": f"{found['training_subjects']:,} to fit and to choose on, "
            f"{found['held_out_subjects']:,} held out",
            "recall": f"{_stated({'members': content['recall']})} of all facts",
        }
    )
    print_table(("", "measured", "controls", "chance"), _rows(found, relations))
    for note in _notes(found, relations):
        print_note(note)


def _rows(found: dict[str, Any], relations: list[str]) -> Iterator[Row]:
    """A row for each headline number: mean and interval over members, its controls, chance."""
    if (part := found["superposition"]) and not part["note"]:
        shuffled = f"shuffled facts {_mean(part['shuffled_r2'])}"
        yield "R² of subject embeddings", _stated(part["held_out_r2"]), shuffled, ""
    if part := found["selectivity"]:
        silent = "silent units " + ", ".join(map(str, part["silent"]))
        yield "selectivity index of units", _stated(part["mean_index"]), silent, ""
    for analysis, rows_of in ROWS.items():
        for r, name in enumerate(relations[:LISTED]):
            if found[analysis]:
                yield from rows_of(found[analysis], name, r, [i for i in range(len(relations)) if i != r])


def _readout_rows(part: dict[str, Any], name: str, r: int, others: list[int]) -> Iterator[Row]:  # noqa: ARG001
    control = f"shuffled facts {_mean(part['shuffled'], r)}"
    yield f"read-out of {name}", _stated(part["rates"], r), control, f"{part['chance']:.4f}"


def _swap_rows(part: dict[str, Any], name: str, r: int, others: list[int]) -> Iterator[Row]:
    from georecall.dissection.swap import NO_OP, WHOLE

    controls = {
        "no change": part["doses"][NO_OP],
        "random direction": part["random_direction"],
        "wrong relation": part["wrong_relation"],
    }
    known = {control: outcome for control, outcome in controls.items() if outcome}
    for field, what in {"follow": "answer follows", "stay": "others stay"}.items():
        if field == "follow" or others:
            beside = ", ".join(f"{control} {_mean(outcome[field], r)}" for control, outcome in known.items())
            yield f"swap of {name}: {what}", _stated(part["doses"][WHOLE][field], r), beside, ""


def _patching_rows(part: dict[str, Any], name: str, r: int, others: list[int]) -> Iterator[Row]:
    if others:
        beside = (
            f"still that of {name} {_mean(part['kept'], r, others)}, unpatched {_mean(part['kept'], r, r)}"
        )
        yield f"patched for {name}: the other's answer", _stated(part["became"], r, others), beside, ""


def _ablation_rows(part: dict[str, Any], name: str, r: int, others: list[int]) -> Iterator[Row]:
    for what, asked in ((name, [r]), ("others", others)):
        if asked:
            beside = f"intact {_mean(part['intact'], asked)}, random units {_mean(part['random'], r, asked)}"
            yield (
                f"units of {name} silenced: recall of {what}",
                _stated(part["ablated"], r, asked),
                beside,
                "",
            )


def _gate_rows(part: dict[str, Any], name: str, r: int, others: list[int]) -> Iterator[Row]:
    beside = f"with other relations {_mean(part['agreement'], r, others)}" if others else ""
    yield f"gates of {name}: agreement of subjects", _stated(part["agreement"], r, r), beside, ""
    rank = f"participation ratio {_mean(part['effective_ranks'], r, digits=1)}"
    yield f"gates of {name}: directions passed", _stated(part["energy_ranks"], r, digits=1), rank, ""


ROWS = {
    "readout": _readout_rows,
    "swap": _swap_rows,
    "patching": _patching_rows,
    "ablation": _ablation_rows,
    "gates": _gate_rows,
}


def _notes(found: dict[str, Any], relations: list[str]) -> Iterator[str]:
    """Why a number is missing, or says less than it seems to."""
    from georecall.statistics.estimates import LEAST_MEMBERS

    if (part := found["superposition"]) and part["note"]:
        yield part["note"]
    if found["members"] < LEAST_MEMBERS:
        yield f"no intervals over members: expected {LEAST_MEMBERS} or more, got {found['members']}"
    if len(relations) > LISTED:
        yield f"shown are {LISTED} of {len(relations)} relations; all are in {RESULT}"
    if len(relations) == 1:
        yield "with one relation there are no others to stay, to patch in or to select against"
    if (part := found["patching"]) and part["same_as_asking"]:
        yield "under uniform attention the relation patched in is simply asked: patching shows nothing new"
    if (part := found["gates"]) and None in part["energy_ranks"]["mean"]:
        yield "the gates of a relation without numbers are closed for all held-out subjects of some member"


def _stated(estimate: dict[str, Any], *where: int | list[int], digits: int = 3) -> str:
    """Mean and interval over members of an entry, or of the mean of several; a dash where there is no number."""
    ends = _over_members(estimate, where).interval
    mean = _mean(estimate, *where, digits=digits)
    if ends is None or mean == NO_NUMBER:
        return mean
    return f"{mean} ({ends[0]:.{digits}f} … {ends[1]:.{digits}f})"


def _mean(estimate: dict[str, Any], *where: int | list[int], digits: int = 3) -> str:
    mean = float(_over_members(estimate, where).mean)
    return NO_NUMBER if math.isnan(mean) else f"{mean:.{digits}f}"


def _over_members(estimate: dict[str, Any], where: tuple[int | list[int], ...]) -> "Estimate":
    from georecall.statistics.estimates import Estimate, members_of

    values = members_of(estimate)[(slice(None), *where)]
    return Estimate(values.reshape(len(values), -1).mean(axis=1))
