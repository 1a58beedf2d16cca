"""`georecall probe`."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from georecall.cli.output import (
    JsonOption,
    print_json,
    print_line,
    print_notes,
    print_pairs,
    print_table,
)
from georecall.cli.progress import progress_bars
from georecall.cli.table_options import AllowMissingOption, NoHeaderOption, SubjectOption
from georecall.errors import GeorecallError
from georecall.storage.folders import check_target
from georecall.storage.kinds import Kind, has
from georecall.storage.paths import check_utf8

if TYPE_CHECKING:
    from georecall.facts.table import FactTable
    from georecall.probing import LanguageModel, ProbeReport, Templates
    from georecall.probing.probe import ProbeSummary

RESULT, ROWS, STATES, FIGURES = "result.json", "probes.parquet", "states", "figures"
PROBE = Kind(
    name="that of an earlier probe",
    markers=(RESULT, f"{STATES}/*/*.json"),
    is_ours=lambda content: has("model", "findings")(content) or has("convention")(content),
)
"""A probe is told by its result, or before it has one by a state that was kept."""


def run(
    facts: Annotated[
        Path | None,
        typer.Argument(help="A .csv, .tsv, .jsonl, .parquet or relation .json file.", show_default=False),
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(help="A table that is shipped: countries, elements or cities.", show_default=False),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Folder or name of a causal language model; the packaged SmolLM2 by default.",
            show_default=False,
        ),
    ] = None,
    gguf: Annotated[
        Path | None, typer.Option(help="A GGUF file, alone or in the folder of --model.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("probe"),
    template: Annotated[
        str | None,
        typer.Option(help="Sentence in which a subject's state is read, with {subject}.", show_default=False),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(
            help="JSON file of sentences for the subject and for each relation.", show_default=False
        ),
    ] = None,
    layers: Annotated[str, typer.Option(help="all, or e.g. 8,12 or 20-24 or 3-30:3.")] = "all",
    known_only: Annotated[
        bool, typer.Option("--known-only", help="Probe only the facts that the model recalls.")
    ] = False,
    shots: Annotated[int, typer.Option(help="Examples before each question.")] = 0,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation by subject.")] = 5,
    shuffles: Annotated[int, typer.Option(help="Times the labels are shuffled, as a control.")] = 5,
    swaps: Annotated[
        int, typer.Option(help="Subjects a relation for the causal check; 0 leaves it out.")
    ] = 24,
    random_weights: Annotated[
        bool,
        typer.Option(
            "--random-weights/--no-random-weights", help="A model that was not trained, as a control."
        ),
    ] = True,
    answer_prefix: Annotated[str, typer.Option(help="What stands between a question and its answer.")] = " ",
    subject: SubjectOption = None,
    no_header: NoHeaderOption = False,
    allow_missing: AllowMissingOption = False,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
    batch: Annotated[int, typer.Option(min=1, help="Prompts at once.")] = 32,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of the analysis; a core each by default.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides folds, shuffles, swaps and random weights.")] = 0,
    json: JsonOption = False,
) -> None:
    """Ask a pretrained language model for the facts of a table, and probe its hidden states for them.

    Example: `georecall probe --example countries -o probe/`
    """
    asked = locals()
    if facts is not None and example is not None:
        raise GeorecallError(f"expected a file of facts or --example, got both: {facts} and {example}")
    check_utf8(output)
    check_target(output, kind=PROBE, replace=True)
    if example is not None and (subject is not None or no_header or allow_missing):
        raise GeorecallError(
            "--subject, --no-header and --allow-missing are for a file; a table that is shipped is read as it is"
        )
    reading = {"subject": subject, "has_header": not no_header, "allow_missing": allow_missing}
    table, sentences = _table(facts, example, template, templates, reading)

    from georecall.probing import StateCache, checked_settings, probe_model, read_layers

    names = ("known_only", "shots", "folds", "shuffles", "swaps", "random_weights", "seed")
    settings = checked_settings(layers=read_layers(layers), **{name: asked[name] for name in names})
    lm = _model(model, gguf, dtype=dtype, device=device)
    settings.layers_of(lm.n_layers)
    with progress_bars() as progress:
        report = probe_model(
            lm,
            table,
            sentences,
            settings,
            answer_prefix=answer_prefix,
            batch=batch,
            cache=StateCache(output / STATES),
            n_jobs=workers or _cores(),
            progress=progress,
        )
    summary = report.summary
    content = _write(output, report, summary)
    if json:
        print_json(content | {"folder": str(output)})
    else:
        _show(output, summary)


def _table(
    facts: Path | None,
    example: str | None,
    template: str | None,
    templates: Path | None,
    reading: dict[str, Any],
) -> "tuple[FactTable, Templates]":
    """The table and the sentences to ask with."""
    from georecall.facts.readers import read_with_report
    from georecall.language_models.templates import Templates, read_templates
    from georecall.probing.examples import load_example

    if example is not None:
        table, sentences = load_example(example)
    elif facts is not None:
        table, report = read_with_report(facts, **reading)
        sentences = Templates()
        print_notes(report.notes())
    else:
        raise GeorecallError("expected a file of facts or --example, got neither")
    if templates is not None:
        sentences = read_templates(templates, table.relations)
    if template is not None:
        sentences = Templates(subject=template, relations=sentences.relations)
    return table, sentences.completed(table.relations)


def _model(model: str | None, gguf: Path | None, *, dtype: str, device: str) -> "LanguageModel":
    """The model that was asked for, or the packaged one."""
    from georecall.errors import MissingPackageError
    from georecall.language_models.packaged_model import missing_packaged_model, packaged_model
    from georecall.probing import LanguageModel

    if model is None and gguf is None:
        if missing := missing_packaged_model():
            raise MissingPackageError(f"expected --model or --gguf, as {missing}")
        gguf = packaged_model()
    return LanguageModel.load(model, gguf=gguf, dtype=dtype, device=device)


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def _write(output: Path, report: "ProbeReport", summary: "ProbeSummary") -> dict[str, Any]:
    """Records, then the result, which says that they are whole, and last the figures; returns the result.

    A result of before is taken away first, as what it says of the other files is no longer so.
    """
    import polars as pl

    from georecall.figures.probing import TITLES, probing_figures
    from georecall.figures.saving import save_figures
    from georecall.storage.files import write_bytes, write_text
    from georecall.storage.json_files import json_text
    from georecall.sweeps.environment import environment

    content = summary.to_dict() | {"environment": environment()}
    (output / RESULT).unlink(missing_ok=True)
    rows = BytesIO()
    pl.DataFrame(list(report.findings.records()), infer_schema_length=None).write_parquet(rows)
    write_bytes(output / ROWS, rows.getvalue())
    write_text(output / RESULT, json_text(content))
    faults = save_figures(
        lambda: probing_figures(summary, subtitle=_subtitle(summary)),
        output / FIGURES,
        names=TITLES,
        suffixes=(".html", ".png"),
    )
    print_notes(faults)
    return content


def _subtitle(summary: "ProbeSummary") -> str:
    return f"{summary.model}; {summary.subjects:,} subjects, {summary.facts:,} facts"


def _show(output: Path, summary: "ProbeSummary") -> None:
    from georecall.probing.wording import remarks

    print_pairs(
        {
            "wrote": output,
            "model": summary.model,
            "table": f"{summary.subjects:,} subjects, {summary.facts:,} facts",
            "layers": f"{len(summary.findings.layers) - 1}, and layer 0 as a control",
        }
    )
    print_table(("relation", "recalled", "score", "verdict"), _rows(summary))
    for line in remarks(summary):
        print_line(line)


def _rows(summary: "ProbeSummary") -> Iterator[tuple[str, ...]]:
    from georecall.figures.probing import SCORES

    for found in summary.findings.evidence:
        known = summary.knowledge[found.relation]
        yield (
            found.relation,
            f"{known.known:,} of {known.facts:,}",
            SCORES[found.kind],
            found.words,
        )
    for relation, reason in summary.findings.skipped.items():
        yield relation, "", "", f"skipped: {reason}"
