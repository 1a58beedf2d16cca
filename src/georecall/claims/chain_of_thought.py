"""K4: with a chain of thought one layer follows any number of relations, and stops by itself."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.facts.queries import gold_entities, sample_queries
from georecall.facts.worlds import random_bijections
from georecall.figures.lines import from_zero, lines, ordinal
from georecall.memory import FactMemory
from georecall.models.generation import generate_paths
from georecall.progress import Progress
from georecall.records import Record
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured

WORLDS: dict[Preset, tuple[tuple[int, int, str], ...]] = {
    "quick": ((64, 2, "opt"), (256, 4, "llama")),
    "standard": ((256, 2, "llama"), (256, 16, "opt"), (1024, 8, "opt"), (1024, 8, "llama")),
    "paper": ((1024, 8, "opt"), (4096, 16, "opt"), (4096, 16, "llama")),
}
HOPS = 8
QUERIES = 20_000


class ChainResult(Record):
    """Failures for each number of hops, the margin, and the dimension for each hop limit up to K."""

    failures: tuple[int, ...]
    margin: float
    block_dim: int
    dims: tuple[int, ...]

    @property
    def extra(self) -> tuple[int, ...]:
        """Dimensions beside the blocks, d − R·p, for each hop limit."""
        return tuple(dim - self.block_dim for dim in self.dims)


class ChainCell(Cell[ChainResult]):
    """One random world: sampled chains of every length up to K through `generate` of the stock model."""

    n_subjects: int
    n_relations: int
    arch: str
    hops: int = HOPS
    queries: int = QUERIES
    seed: int = 0

    def measure(self, progress: Progress) -> ChainResult:
        """Ask chains of every length, and build for every hop limit."""
        rng = np.random.default_rng(self.seed)
        table = random_bijections(self.n_subjects, self.n_relations, rng=rng)
        memory = FactMemory.compile(table, hops=self.hops, arch=self.arch)
        chain_class = memory.architecture.chain_class
        model, failures = memory.model(), []
        for length in range(1, self.hops + 1):
            queries = sample_queries(table, length, self.queries, rng)
            paths, stops = generate_paths(memory.chain, model, queries, progress=progress)
            right = (paths == gold_entities(table, queries)).all(axis=1) & stops
            failures.append(int((~right).sum()))
        return ChainResult(
            failures=tuple(failures),
            margin=memory.certificate.margin,
            block_dim=self.n_relations * memory.chain.code.length,
            dims=tuple(chain_class(table, limit).layout.dim for limit in range(1, self.hops + 1)),
        )

    def dimensions(self, result: ChainResult) -> tuple[int, ...]:
        """Those for each hop limit."""
        return result.dims

    @property
    def world(self) -> str:
        """Architecture and sizes in words."""
        return f"{self.arch}, N = {self.n_subjects}, R = {self.n_relations}"


Results = Sequence[Measured[ChainCell, ChainResult]]


def cells(preset: Preset) -> Sequence[Cell]:
    """Every world."""
    return [ChainCell(n_subjects=n, n_relations=r, arch=arch) for n, r, arch in WORLDS[preset]]


def judge(results: Results) -> Judgement:
    """All chains right, and every step of the hop limit costs at most what the first does."""
    asked = sum(world.cell.queries * world.cell.hops for world in results)
    failures = sum(sum(world.result.failures) for world in results)
    growth = [np.diff(world.result.dims) for world in results]
    finding = Finding(
        met=not failures and all((steps <= steps[0]).all() for steps in growth),
        quantities=(
            Quantity(
                name=f"chains of 1 to {results[0].cell.hops} hops, every step and the end checked",
                value=asked,
            ),
            Quantity(name="wrong", value=failures),
            Quantity(name="d − R·p grows by, a hop", value=max(int(steps.max()) for steps in growth)),
            *(Quantity(name=f"d − R·p of {w.cell.world}", value=w.result.extra[-1]) for w in results),
        ),
    )
    key = f"{failures} wrong of {asked:,} chains"
    return Judgement.of([finding], key=key)


def figure(results: Results, stamp: str) -> alt.Chart:
    """D − R·p against the hop limit, a line for each world."""
    rows = [
        {"K": limit, "extra": extra, "world": world.cell.world}
        for world in results
        for limit, extra in enumerate(world.result.extra, 1)
    ]
    return lines(
        rows,
        x=ordinal("K:O", "hop limit K"),
        y=from_zero("extra", "dimensions beside the blocks, d − R·p"),
        by="world",
        title="Chain of thought: what hops cost",
        subtitle=stamp,
    )


K4 = Claim(
    id="K4",
    statement="With a chain of thought one layer follows any chain of up to K relations, and stops by itself.",
    source="The paper claims d = Õ(R + k); the construction and its constants are ours (docs/theory.md §4).",
    criterion="All sampled chains right at every step, each stops by itself; d − R·p grows at most linearly in K",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(9.5), "standard": Time(50.1), "paper": Time(330.0, "estimated")},
)
