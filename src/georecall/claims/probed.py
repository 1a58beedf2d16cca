"""What L1 and L2 share: the packaged language model, probed on every shipped table."""

from collections.abc import Mapping, Sequence
from functools import cache

import altair as alt
from altair.typing import ChartType
from pydantic import Field

from georecall.claims.claim import Preset, Time
from georecall.claims.judgement import Finding, Judgement, Verdict
from georecall.figures.dissection import framed, headed
from georecall.language_models.packaged_model import NAME, VERSION, packaged_model
from georecall.probing import Findings, LanguageModel, analyse, load_example, read_hidden_states
from georecall.probing.examples import EXAMPLES, Example
from georecall.progress import Progress
from georecall.records import Record
from georecall.sweeps import Cell, Measured

LAYER_STEP: dict[Preset, int] = {"quick": 3, "standard": 1, "paper": 1}
"""States after every so many blocks are read."""
TIMES: Mapping[Preset, Time] = {
    "quick": Time(72.0),
    "standard": Time(102.0),
    "paper": Time(150.0, "estimated"),
}
SOURCE = (
    "The paper claims similar linear encodings in Qwen, Llama and Phi. Here it is another, small model, because it can "
    "be had as a package: SmolLM2-135M-Instruct, dequantised from 4 bits and instruct-tuned. Tables, controls and "
    "numbers are ours."
)


class ProbeResult(Record):
    """What was read, in which sentence, and what the states say of the relations."""

    digest: str
    template: str
    subjects: int
    facts: int
    findings: Findings


class ProbeCell(Cell[ProbeResult]):
    """The packaged language model probed on one of the shipped tables, with all controls."""

    example: Example
    model: str = f"{NAME} ({VERSION})"
    layer_step: int = Field(default=1, ge=1)
    folds: int = 5
    shuffles: int = 5
    seed: int = 0

    def measure(self, progress: Progress) -> ProbeResult:
        """Read the states after every `layer_step`-th block, and analyse them."""
        lm = _model()
        table, templates = load_example(self.example)
        hidden = read_hidden_states(
            lm,
            table,
            templates.subject,
            layers=tuple(range(self.layer_step, lm.n_layers + 1, self.layer_step)),
            seed=self.seed,
            progress=progress,
        )
        found = analyse(
            hidden, table, folds=self.folds, shuffles=self.shuffles, seed=self.seed, progress=progress
        )
        return ProbeResult(
            digest=lm.digest,
            template=templates.subject,
            subjects=len(table.subjects),
            facts=table.n_facts,
            findings=found,
        )


Table = Measured[ProbeCell, ProbeResult]


@cache
def _model() -> LanguageModel:
    """The packaged model, loaded once in a process, as that takes longer than to read it."""
    return LanguageModel.load(gguf=packaged_model())


def cells(preset: Preset) -> Sequence[Cell]:
    """Every shipped table."""
    return [ProbeCell(example=example, layer_step=LAYER_STEP[preset]) for example in EXAMPLES]


def judgement(findings: Sequence[Finding], key: str) -> Judgement:
    """Holds if the criterion is met in all tables that can say, fails if in none."""
    met = [finding.met for finding in findings if finding.met is not None]
    verdict: Verdict = "undecided" if any(met) or not met else "fails"
    said = Finding(note=NAME)
    return Judgement(verdict="holds" if met and all(met) else verdict, key=key, findings=(said, *findings))


def table_of(table: Table) -> str:
    """The table and its sizes in words."""
    findings = table.result.findings
    return (
        f"{table.cell.example}, N = {table.result.subjects}, R = {len(findings.evidence)}, "
        f"{len(findings.layers) - 1} layers, {table.cell.folds} folds"
    )


def figure_of(
    charts: Sequence[ChartType | None], results: Sequence[Table], *, title: str, stamp: str
) -> ChartType:
    """Every table of facts that can be drawn, below each other."""
    tables = []
    for chart, table in zip(charts, results, strict=True):
        if chart is not None:
            heading = f"{table.cell.example}, {table.result.subjects} subjects, {table.result.facts} facts"
            tables.append(headed(chart, alt.Title(heading, fontSize=14)))
    return framed(alt.vconcat(*tables, spacing=40), title, subtitle=stamp)
