"""`georecall bounds`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.output import (
    JsonOption,
    Styled,
    print_heading,
    print_json,
    print_line,
    print_note,
    print_pairs,
    print_table,
)
from georecall.figures.numbers import bits_text, bytes_text, count_text

if TYPE_CHECKING:
    from georecall.constructions.budget import MemoryNeed
    from georecall.theory.bounds import LowerBound
    from georecall.theory.size_comparison import Kind, SizeComparison, SmallestModel


def run(
    subjects: Annotated[int, typer.Option(help="N, the number of subjects.", show_default=False)],
    relations: Annotated[int, typer.Option(help="R, the number of relations.", show_default=False)],
    hops: Annotated[int, typer.Option(help="k, the relations in a question.")] = 1,
    bits: Annotated[float, typer.Option(help="b, the bits of a parameter.")] = 16,
    params: Annotated[
        int, typer.Option(help="P, parameters outside the subject embeddings that may depend on the facts.")
    ] = 0,
    levels: Annotated[int, typer.Option(help="Levels of the attribute code; 2 is binary.")] = 2,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw dimension against k and N: a .html, .png or .svg file.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what no model can go below and how large every construction is, before anything is built.

    Example: `georecall bounds --subjects 4096 --relations 16 --hops 3 --plot bounds.html`
    """
    from georecall.constructions.budget import memory_need
    from georecall.theory.size_comparison import smallest_models

    if plot is not None:
        from georecall.figures.saving import check_figure_path

        check_figure_path(plot)
    found = smallest_models(subjects, relations, hops, bits=bits, levels=levels, other_parameters=params)
    if plot is not None:
        _draw(found, plot)
    needs = {model.kind: memory_need(model.size.parameters) for model in found.models}
    if json:
        memory = {kind: need.to_dict() for kind, need in needs.items()}
        print_json(found.to_dict() | {"memory": memory, "plot": None if plot is None else str(plot)})
        return
    _print_bounds(found)
    _print_models(found)
    _print_what_does_not_fit(needs)
    if plot is not None:
        print_note(f"wrote {plot}")


def _draw(asked: "SizeComparison", path: Path) -> None:
    from georecall.figures.saving import save_figure
    from georecall.figures.theme import dimension_figure
    from georecall.theory.size_comparison import along_hops, along_subjects

    figure = dimension_figure(asked, by_hops=along_hops(asked), by_subjects=along_subjects(asked))
    save_figure(figure, path)


def _print_bounds(found: "SizeComparison") -> None:
    parameters = f"P = {count_text(found.other_parameters)} outside the subject embeddings"
    print_line(Styled(f"Lower bounds at {bits_text(found.bits)} a parameter, with {parameters}", "bold"))
    chains = "1 hop" if found.hops == 1 else f"{found.hops} hops"
    print_pairs(
        {
            "one hop, all subjects": _bound(found.one_hop),
            f"{chains}, no chain of thought": _tree_bound(found),
            "bits a fact": f"≥ {found.bits_per_fact_bound:.2f} for random bijections; the code of {found.levels} "
            f"levels takes {found.bits_per_fact:.2f}",
        }
    )


def _bound(bound: "LowerBound") -> str:
    return (
        f"d ≥ {count_text(bound.least)}, from {count_text(bound.answers)} answers about each of "
        f"{count_text(bound.subjects)} subjects"
    )


def _tree_bound(found: "SizeComparison") -> str:
    bound = found.no_cot
    if bound.subjects == 0:
        return "nothing is proved: no tree of questions fits on half of the subjects"
    if found.hops == 1:
        return _bound(bound)
    shape = "paths" if bound.branching == 1 else f"trees that branch {count_text(bound.branching)} ways"
    return f"{_bound(bound)}, along {shape}"


def _print_models(found: "SizeComparison") -> None:
    print_heading("Sizes of the constructions")
    print_table(
        ("kind", "d", "width", "layers", "parameters", f"bytes at {bits_text(found.bits)}"),
        (
            (model.kind, *map(count_text, _size(model)), bytes_text(model.stored_bytes))
            for model in found.models
        ),
    )
    print_heading("Parameters outside the subject embeddings, and the least for that d")
    print_table(
        ("kind", "P", "bound"),
        (
            (model.kind, count_text(model.other_parameters), f"≥ {count_text(model.least_other_parameters)}")
            for model in found.models
            if model.least_other_parameters is not None
        ),
    )


def _size(model: "SmallestModel") -> tuple[int, ...]:
    return model.size.dimension, model.size.width, model.size.layers, model.size.parameters


def _print_what_does_not_fit(needs: Mapping["Kind", "MemoryNeed"]) -> None:
    for kind, need in needs.items():
        if not need.fits:
            print_note(
                f"{kind}: cannot be held in this machine's memory; its float64 weights need "
                f"{bytes_text(need.needed)}, it has {bytes_text(need.available)}"
            )
