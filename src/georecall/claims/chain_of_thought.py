"""K4: with a chain of thought one layer follows any number of relations, and stops by itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.facts.queries import gold_entities, sample_queries
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.generation import generate_paths
from georecall.progress import Progress
from georecall.sweeps.cells import Cell

WORLDS: dict[Preset, tuple[tuple[int, int, str], ...]] = {
    "quick": ((64, 2, "opt"), (256, 4, "llama")),
    "standard": ((256, 2, "llama"), (256, 16, "opt"), (1024, 8, "opt"), (1024, 8, "llama")),
    "paper": ((1024, 8, "opt"), (4096, 16, "opt"), (4096, 16, "llama")),
}
HOPS = 8
QUERIES = 20_000


class ChainCell(Cell):
    """One random world: sampled chains of every length up to K through `generate` of the stock model."""

    n_subjects: int
    n_relations: int
    arch: str
    hops: int = HOPS
    queries: int = QUERIES
    seed: int = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Failures for each number of hops, and the dimension for each hop limit up to K."""
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
        return {
            "failures": failures,
            "margin": memory.certificate.margin,
            "block_dim": self.n_relations * memory.chain.code.length,
            "dims": [chain_class(table, limit).layout.dim for limit in range(1, self.hops + 1)],
        }


def _cells(preset: Preset) -> Sequence[Cell]:
    return [ChainCell(n_subjects=n, n_relations=r, arch=arch) for n, r, arch in WORLDS[preset]]


def _judge(results: Sequence[Result]) -> Judgement:
    asked = sum(result["queries"] * result["hops"] for result in results)
    failures = sum(sum(result["failures"]) for result in results)
    growth = [np.diff(result["dims"]) for result in results]
    linear = all((steps <= steps[0]).all() for steps in growth)
    extra = ", ".join(
        f"{result['dims'][-1] - result['block_dim']} in {result['arch']} at N = {result['n_subjects']}, "
        f"R = {result['n_relations']}"
        for result in results
    )
    return Judgement(
        verdict="holds" if linear and not failures else "fails",
        measured=f"{asked:,} chains of 1 to {results[0]['hops']} hops, every step and the end checked: {failures} "
        f"wrong; d − R·p grows by {max(int(steps.max()) for steps in growth)} a hop, to {extra}",
    )


K4 = Claim(
    id="K4",
    statement="With a chain of thought one layer follows any chain of up to K relations, and stops by itself.",
    source="The paper claims d = Õ(R + k); the construction and its constants are ours (docs/theory.md §4).",
    criterion="All sampled chains right at every step, each stops by itself; d − R·p grows at most linearly in K",
    cells=_cells,
    judge=_judge,
)
