"""`georecall train`."""

from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from georecall.cli.output import JsonOption, print_json, print_note, print_notes, print_pairs, print_table
from georecall.cli.progress import progress_bars
from georecall.cli.table_options import AllowMissingOption, NoHeaderOption, SubjectOption
from georecall.errors import GeorecallError

WITH_RESUME = {"resume", "stop_after", "device", "json"}
OF_A_WORLD = {"subjects", "relations", "world_seed"}
OF_A_TABLE = {"subject", "no_header", "allow_missing"}
HELD_OUT = 0.1
"""Share of composed questions that is held out unless another is asked for."""


def run(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write.", show_default=False)
    ] = None,
    facts: Annotated[
        Path | None, typer.Option(help="Table to train on, instead of a random world.", show_default=False)
    ] = None,
    subject: SubjectOption = None,
    no_header: NoHeaderOption = False,
    allow_missing: AllowMissingOption = False,
    subjects: Annotated[int, typer.Option(help="N, subjects of a world of random bijections.")] = 512,
    relations: Annotated[int, typer.Option(help="R, relations of that world.")] = 4,
    world_seed: Annotated[int, typer.Option(min=0, help="Seed of that world.")] = 0,
    dim: Annotated[int, typer.Option(help="d, dimension of embeddings.")] = 48,
    width: Annotated[
        int | None, typer.Option(help="Hidden units; 4d by default.", show_default=False)
    ] = None,
    hops: Annotated[int, typer.Option(help="k, relations in a question.")] = 1,
    mode: Annotated[str, typer.Option(help="direct, or cot: a chain of thought.")] = "direct",
    attention: Annotated[
        str | None,
        typer.Option(help="uniform or learned; uniform for one hop by default.", show_default=False),
    ] = None,
    heads: Annotated[int, typer.Option(help="Heads of learned attention.")] = 1,
    attribute_dim: Annotated[
        int | None, typer.Option(help="Dimensions of attribute vectors; d by default.", show_default=False)
    ] = None,
    freeze: Annotated[
        str, typer.Option(help="none, subjects, inputs or inputs+unembedding: what stays random.")
    ] = "none",
    residual: Annotated[
        bool, typer.Option("--residual", help="Add to what a layer writes what it reads.")
    ] = False,
    embedding_noise: Annotated[
        float, typer.Option(help="Noise on subject embeddings, in standard deviations.")
    ] = 0.0,
    label_smoothing: Annotated[float, typer.Option(help="ε of label smoothing.")] = 0.0,
    learning_rates: Annotated[
        str, typer.Option("--learning-rate", help="One or several, e.g. 0.01,0.03: each has members.")
    ] = "0.01",
    weight_decay: Annotated[float, typer.Option(help="Weight decay of AdamW.")] = 0.0,
    seeds: Annotated[int, typer.Option(help="Members for each learning rate.")] = 3,
    first_seed: Annotated[int, typer.Option(help="Seed of the first of them.")] = 0,
    steps: Annotated[int, typer.Option(help="Length of the schedule.")] = 2000,
    batch: Annotated[int, typer.Option(help="Questions a step.")] = 512,
    margin: Annotated[
        str, typer.Option(help="Least margin of all answers at which training stops early, or never.")
    ] = "0",
    check_every: Annotated[int, typer.Option(help="Steps between two looks at all facts.")] = 50,
    held_out: Annotated[
        float | None,
        typer.Option(
            help="Share of composed questions never trained on; 0.1 by default.", show_default=False
        ),
    ] = None,
    stop_after: Annotated[
        int | None, typer.Option(min=1, help="Stop at this step, to be resumed.", show_default=False)
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run in this folder.", show_default=False)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run.")] = False,
    json: JsonOption = False,
) -> None:
    """Train an ensemble of the paper's small transformers on a table, and ask it everything.

    Example: `georecall train --subjects 512 --relations 4 --dim 48 --seeds 3 -o run/`
    """
    asked = locals()
    given = {name for name, value in asked.items() if value != signature(run).parameters[name].default}
    if (output is None) == (resume is None):
        raise GeorecallError("expected either --output FOLDER, for a new run, or --resume FOLDER")
    if resume is not None:
        _refuse(given - WITH_RESUME, "a run that is resumed keeps its settings")
    if facts is not None:
        _refuse(given & OF_A_WORLD, "a table that is read has its own size")
    else:
        _refuse(given & OF_A_TABLE, "a random world is not read from a table (--facts)")
    if output is not None:
        _start(output, asked)
    _go_on(resume or output or Path(), device, stop_after)
    _show(resume or output or Path(), json)


def _refuse(options: set[str], why: str) -> None:
    """Refuse options that would have no effect."""
    if options:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(options))
        raise GeorecallError(f"{why}: {names} cannot be given")


def _start(folder: Path, asked: dict[str, Any]) -> None:
    """Check everything that was asked for, then make the folder of the run."""
    import numpy as np

    from georecall.facts.readers import read_with_report
    from georecall.facts.worlds import random_bijections
    from georecall.storage.folders import check_target
    from georecall.training.runs import RUN, start_run
    from georecall.training.settings import (
        check_all,
        check_room,
        check_world,
        checked_config,
        checked_device,
    )

    fields, facts = _config_fields(asked), asked["facts"]
    check_all(
        lambda: checked_config(fields),
        lambda: check_world(asked["subjects"], asked["relations"]) if facts is None else None,
        lambda: checked_device(asked["device"]),
        lambda: check_target(folder, kind=RUN, replace=asked["force"]),
    )
    config, n_subjects, n_relations = checked_config(fields), asked["subjects"], asked["relations"]
    if facts is None:
        check_room(config, subjects=n_subjects, relations=n_relations, attributes=n_subjects)
        rng = np.random.default_rng(asked["world_seed"])
        table = random_bijections(n_subjects, n_relations, rng=rng)
    else:
        table, report = read_with_report(
            facts,
            subject=asked["subject"],
            has_header=not asked["no_header"],
            allow_missing=asked["allow_missing"],
        )
        print_notes(report.notes())
    start_run(folder, table, config, replace=asked["force"])


def _config_fields(asked: dict[str, Any]) -> dict[str, Any]:
    """The options that make the config, with the defaults that depend on others filled in."""
    from georecall.training.config import TrainConfig

    several = asked["hops"] > 1
    fields = {name: value for name, value in asked.items() if name in TrainConfig.model_fields}
    fields["margin"] = None if asked["margin"] == "never" else asked["margin"]
    fields["learning_rates"] = [part.strip() for part in asked["learning_rates"].split(",")]
    defaults = {
        "width": max(1, 4 * asked["dim"]),
        "attention": "learned" if several else "uniform",
        "held_out": HELD_OUT if several else 0.0,
    }
    return fields | {name: value for name, value in defaults.items() if fields[name] is None}


def _go_on(folder: Path, device: str, stop_after: int | None) -> None:
    """Train, with progress on the terminal, and draw how it went."""
    from georecall.figures.saving import save_figures
    from georecall.figures.training import history_figure
    from georecall.training.runs import continue_run
    from georecall.training.settings import checked_device

    where = checked_device(device)
    try:
        with progress_bars() as progress:
            history = continue_run(folder, device=where, until=stop_after, progress=progress)
    except KeyboardInterrupt:
        print_note(f"interrupted; go on with `georecall train --resume {folder}`")
        raise
    print_notes(
        save_figures(
            lambda: {"history": history_figure(history)}, folder, names=["history"], suffixes=[".html"]
        )
    )


def _show(folder: Path, json: bool) -> None:
    """How the run stands."""
    from georecall.training.runs import describe_run

    found = describe_run(folder)
    if json:
        print_json(found | {"folder": str(folder)})
        return
    last = found["last"]
    columns = ["learning rate", "seed", "loss", "recall", "least margin"]
    rows = [
        [member["learning_rate"], member["seed"], _number(loss, 4), f"{share:.4%}", _number(margin, 3)]
        for member, loss, share, margin in zip(
            found["members"], last["loss"], last["recall"], last["margin"], strict=True
        )
    ]
    if last["held_out_recall"] is not None:
        columns.append("recall, held out")
        rows = [[*row, f"{share:.4%}"] for row, share in zip(rows, last["held_out_recall"], strict=True)]
    print_pairs(
        {
            "wrote": folder,
            "questions": f"{found['questions']:,} trained on, {found['held_out']:,} held out",
            "parameters": f"{found['parameters']['trained']:,} trained, "
            f"{found['parameters']['frozen']:,} frozen, in each of {len(rows)} members",
            "steps": f"{last['step']:,} of {found['steps']:,}, in {found['seconds']:.1f} s" + _why(found),
        }
    )
    print_table(columns, rows)
    if not found["finished"]:
        print_note(f"not finished; go on with `georecall train --resume {folder}`")


def _number(value: float | None, digits: int) -> str:
    return "not finite" if value is None else f"{value:.{digits}f}"


def _why(found: dict[str, Any]) -> str:
    """Why training ended before its schedule."""
    early = found["finished"] and found["last"]["step"] < found["steps"]
    return "; ended early: every answer leads by the margin asked for" if early else ""
