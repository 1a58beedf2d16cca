"""K1: the one-hop construction recalls every fact at d = R·p."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.constructions.one_hop import OneHop
from georecall.facts.queries import all_queries, gold_entities
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.figures.capacity import TICKS
from georecall.figures.lines import lines, logarithmic
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES
from georecall.models.dtypes import DTYPES
from georecall.models.exhaustive import evaluate_exhaustively
from georecall.models.generation import generate_paths
from georecall.progress import Progress
from georecall.records import Record
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured

SUBJECTS: dict[Preset, tuple[int, ...]] = {
    "quick": (64, 256),
    "standard": (64, 256, 1024),
    "paper": (1024, 4096),
}
RELATIONS = (2, 4, 8, 16)
LEAST_MARGIN = 1


class OneHopResult(Record):
    """Dimension, least margins by number format, and wrong facts of stock models by architecture."""

    facts: int
    dim: int
    code_length: int
    margins: dict[str, float]
    stock_failures: dict[str, int]


class OneHopCell(Cell[OneHopResult]):
    """One random world: every fact through the construction in each number format, and through stock models."""

    n_subjects: int
    n_relations: int
    levels: int = 2
    seed: int = 0

    def measure(self, progress: Progress) -> OneHopResult:
        """Ask all N·R facts."""
        table = random_bijections(self.n_subjects, self.n_relations, rng=np.random.default_rng(self.seed))
        one_hop = OneHop(table, levels=self.levels)
        found = {
            name: evaluate_exhaustively(one_hop, dtype, progress=progress) for name, dtype in DTYPES.items()
        }
        return OneHopResult(
            facts=table.n_facts,
            dim=one_hop.layout.dim,
            code_length=one_hop.code.length,
            margins={name: result.margin for name, result in found.items()},
            stock_failures={
                arch: stock_failures(table, arch, levels=self.levels, progress=progress)
                for arch in ARCHITECTURES
            },
        )

    def dimensions(self, result: OneHopResult) -> tuple[int, ...]:
        """That of the construction."""
        return (result.dim,)


Results = Sequence[Measured[OneHopCell, OneHopResult]]


def stock_failures(table: FactTable, arch: str, *, levels: int, progress: Progress) -> int:
    """How many of all single facts `generate` of a stock model gets wrong, or does not stop after."""
    memory = FactMemory.compile(table, hops=1, levels=levels, arch=arch)
    queries = all_queries(table, 1)
    paths, stops = generate_paths(memory.chain, memory.model(), queries, progress=progress)
    return int(np.count_nonzero((paths != gold_entities(table, queries)).any(axis=1) | ~stops))


def cells(preset: Preset) -> Sequence[Cell]:
    """Every N and R."""
    return [OneHopCell(n_subjects=n, n_relations=r) for n in SUBJECTS[preset] for r in RELATIONS]


def judge(results: Results) -> Judgement:
    """All worlds together."""
    facts = sum(world.result.facts for world in results)
    wrong = {arch: sum(world.result.stock_failures[arch] for world in results) for arch in ARCHITECTURES}
    least = {name: min(world.result.margins[name] for world in results) for name in DTYPES}
    sized = all(world.result.dim == world.cell.n_relations * world.result.code_length for world in results)
    largest = max(results, key=lambda world: (world.cell.n_subjects, world.cell.n_relations))
    size = f"N = {largest.cell.n_subjects}, R = {largest.cell.n_relations}"
    finding = Finding(
        met=sized and not any(wrong.values()) and min(least.values()) >= LEAST_MARGIN,
        quantities=(
            Quantity(name="worlds", value=len(results)),
            Quantity(name="facts", value=facts),
            *(Quantity(name=f"least margin in {name}", value=m, form="g") for name, m in least.items()),
            *(Quantity(name=f"wrong by generate of {arch}", value=count) for arch, count in wrong.items()),
            Quantity(name=f"d at {size}", value=largest.result.dim),
        ),
    )
    key = f"{sum(wrong.values())} wrong of {facts:,} facts, margin {min(least.values()):g}"
    return Judgement.of([finding], key=key)


def figure(results: Results, stamp: str) -> alt.Chart:
    """D = R·p against N, a line for each R."""
    rows = [
        {"N": world.cell.n_subjects, "d": world.result.dim, "R": f"R = {world.cell.n_relations}"}
        for world in results
    ]
    return lines(
        rows,
        x=alt.X(**logarithmic("N", "subjects N", (world.cell.n_subjects for world in results))),
        y=alt.Y(**logarithmic("d", "dimension d = R·p", TICKS)),
        by="R",
        title="One hop: d against N",
        subtitle=stamp,
    )


K1 = Claim(
    id="K1",
    statement="One layer of dimension d = R·p recalls every fact: the subject is a superposition of its attributes, "
    "the relation gates.",
    source="The paper claims d = O(R log N); the construction and its constant are ours (docs/theory.md §3).",
    criterion=f"All facts right, least margin ≥ {LEAST_MARGIN} in float32, bfloat16 and float16; stock OPT and Llama "
    "agree on all",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(0.929), "standard": Time(4.0), "paper": Time(130.0, "estimated")},
)
