"""`georecall capacity`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.engine_options import AddressOption, EngineOption, RetryFailedOption, WorkersOption
from georecall.cli.output import JsonOption, print_heading, print_json, print_note, print_notes, print_table
from georecall.cli.progress import progress_bars

if TYPE_CHECKING:
    from georecall.scaling.laws import Fit
    from georecall.sweeps import Measured
    from georecall.training.capacity import CapacityCell, CapacityResult

CELL_OPTIONS = (
    *("subjects", "relations", "freeze", "seeds", "target", "width", "attention", "heads", "hops", "mode"),
    *("residual", "passes", "least_steps", "batch", "learning_rates", "most_dim", "recheck", "world_seed"),
    "device",
)
A_CELL_FAILED = 3


def run(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the sweep.", show_default=False)],
    subjects: Annotated[str, typer.Option(help="Numbers of subjects N.")] = "64,128,256",
    relations: Annotated[str, typer.Option(help="Numbers of relations R.")] = "2,4",
    freeze: Annotated[
        str, typer.Option(help="What stays random: none, subjects, inputs or inputs+unembedding.")
    ] = "none,subjects",
    seeds: Annotated[int, typer.Option(help="Seeds in each world.")] = 3,
    target: Annotated[float, typer.Option(help="Share of all facts to be recalled.")] = 0.99,
    width: Annotated[
        str, typer.Option(help="Hidden units: a multiple of d such as 4d, N, or a number.")
    ] = "4d",
    attention: Annotated[str, typer.Option(help="uniform or learned.")] = "uniform",
    heads: Annotated[int, typer.Option(help="Heads of learned attention.")] = 1,
    hops: Annotated[int, typer.Option(help="k, relations in a question.")] = 1,
    mode: Annotated[str, typer.Option(help="direct, or cot: a chain of thought.")] = "direct",
    residual: Annotated[
        bool, typer.Option("--residual", help="Add to what a layer writes what it reads.")
    ] = False,
    passes: Annotated[int, typer.Option(help="The budget of a run: passes over all questions.")] = 1000,
    least_steps: Annotated[int, typer.Option(help="Steps that a run has at least.")] = 4000,
    batch: Annotated[int, typer.Option(help="Questions a step.")] = 256,
    learning_rates: Annotated[
        str, typer.Option("--learning-rate", help="The best of these counts, for each seed and d.")
    ] = "0.03,0.1",
    most_dim: Annotated[int, typer.Option(help="Largest d tried; above it a world is censored.")] = 512,
    recheck: Annotated[
        int, typer.Option(help="Settled dimensions in a row on both sides of a threshold.")
    ] = 1,
    world_seed: Annotated[int, typer.Option(help="Seed of the worlds.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "cpu",
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
    retry_failed: RetryFailedOption = False,
    json: JsonOption = False,
) -> None:
    """Find the least dimension at which training recalls all facts, for every N, R and freezing; resumes.

    Example: `georecall capacity --subjects 64,128,256 --relations 2,4 -o sweep/`
    """
    asked = locals()
    from georecall.storage.folders import check_target
    from georecall.sweeps import choose_engine, run_sweep
    from georecall.sweeps.plan import SWEEP_FOLDER
    from georecall.training.grids import capacity_grid

    check_target(output, kind=SWEEP_FOLDER, replace=True)
    cells = capacity_grid(**{name: asked[name] for name in CELL_OPTIONS})
    runner = choose_engine(engine, workers=workers, address=address, cells=len(cells))
    with progress_bars() as progress:
        report = run_sweep(cells, output, engine=runner, progress=progress, retry_failed=retry_failed)
    results = [cell.measured_in(output) for cell in cells if cell.is_measured(output)]
    _show(results, output, json)
    if report.failed:
        print_note(f"{len(report.failed)} worlds failed; see `georecall sweep status {output}`")
        raise typer.Exit(A_CELL_FAILED)


def _show(results: "list[Measured[CapacityCell, CapacityResult]]", folder: Path, json: bool) -> None:
    """Thresholds and laws on the terminal; the figure, and all that was tried as Parquet, in the folder."""
    from georecall.figures.capacity import capacity_figure
    from georecall.figures.saving import save_figures
    from georecall.report.capacity_tables import write_tried
    from georecall.scaling.laws import LM_BITS, CapacityPoint, fit_laws

    points = [CapacityPoint.of(world) for world in results]
    if not points:
        return
    write_tried(results, folder / "capacity.parquet")
    faults = save_figures(
        lambda: {"capacity": capacity_figure(points)}, folder, names=["capacity"], suffixes=[".html"]
    )
    print_notes(faults)
    frozen = dict.fromkeys(point.freeze for point in points)
    fits = {what: fit_laws([point for point in points if point.freeze == what]) for what in frozen}
    if json:
        worlds = [world.cell.config | world.result.to_dict() | world.about.to_dict() for world in results]
        laws = {what: [fit.to_dict() for fit in found] for what, found in fits.items()}
        print_json({"worlds": worlds, "laws": laws, "folder": str(folder)})
        return
    print_table(
        (
            "N",
            "R",
            "frozen",
            "d*",
            "by seed",
            "d tried",
            "bits a trained",
            "a parameter",
            "steps taken",
            "seconds",
        ),
        (
            (
                point.n_subjects,
                point.n_relations,
                point.freeze,
                _or_more(point.threshold, world.result),
                ", ".join(_or_more(value, world.result) for value in point.least),
                f"{world.result.tried[0]} … {world.result.tried[-1]}",
                *(
                    "" if bits is None else f"{bits:.2f}"
                    for bits in (point.bits_per_trained, point.bits_per_parameter)
                ),
                f"{world.result.steps_taken:,}",
                f"{world.about.seconds:.0f}",
            )
            for point, world in zip(points, results, strict=True)
        ),
    )
    for what, found in fits.items():
        _show_laws(what, found)
    print_note(f"language models were found to store {LM_BITS:g} bits a parameter (Allen-Zhu and Li, 2024)")
    print_note(f"figure and table of all runs are in {folder}")


def _or_more(threshold: int | None, result: "CapacityResult") -> str:
    return f"> {result.tried[-1]}" if threshold is None else str(threshold)


def _show_laws(what: str, fits: "tuple[Fit, ...]") -> None:
    if not fits:
        return
    print_heading(f"Laws for d*, frozen: {what}")
    print_table(
        ("law", "coefficients (95 % over seeds)", "error", "error on an N left out"),
        (
            (
                fit.law,
                ", ".join(_coefficient(fit, name) for name in fit.coefficients),
                f"{fit.error:.1%}",
                "" if fit.held_out_error is None else f"{fit.held_out_error:.1%}",
            )
            for fit in fits
        ),
    )


def _coefficient(fit: "Fit", name: str) -> str:
    from georecall.statistics.wording import within

    interval = None if fit.intervals is None else fit.intervals[name]
    return f"{name} = {within(fit.coefficients[name], interval, '.3g')}"
