"""K1: the one-hop construction recalls every fact at d = R·p."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.constructions.one_hop import OneHop
from georecall.facts.queries import all_queries, gold_entities
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.architecture import DTYPES
from georecall.models.architectures import ARCHITECTURES
from georecall.models.exhaustive import exhaust
from georecall.models.generation import generate_paths
from georecall.progress import Progress
from georecall.sweeps.cells import Cell

SUBJECTS: dict[Preset, tuple[int, ...]] = {
    "quick": (64, 256),
    "standard": (64, 256, 1024),
    "paper": (1024, 4096),
}
RELATIONS = (2, 4, 8, 16)


class OneHopCell(Cell):
    """One random world: every fact through the construction in each number format, and through stock models."""

    n_subjects: int
    n_relations: int
    levels: int = 2
    seed: int = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Dimension, least margins and failures over all N·R facts."""
        table = random_bijections(self.n_subjects, self.n_relations, rng=np.random.default_rng(self.seed))
        one_hop = OneHop(table, levels=self.levels)
        found = {name: exhaust(one_hop, dtype, progress=progress) for name, dtype in DTYPES.items()}
        return {
            "facts": table.n_facts,
            "dim": one_hop.layout.dim,
            "code_length": one_hop.code.length,
            "margins": {name: result.margin for name, result in found.items()},
            "stock_failures": {
                arch: stock_failures(table, arch, levels=self.levels, progress=progress)
                for arch in ARCHITECTURES
            },
        }


def stock_failures(table: FactTable, arch: str, *, levels: int, progress: Progress) -> int:
    """How many of all single facts `generate` of a stock model gets wrong, or does not stop after."""
    memory = FactMemory.compile(table, hops=1, levels=levels, arch=arch)
    queries = all_queries(table, 1)
    paths, stops = generate_paths(memory.chain, memory.model(), queries, progress=progress)
    return int(np.count_nonzero((paths != gold_entities(table, queries)).any(axis=1) | ~stops))


def _cells(preset: Preset) -> Sequence[Cell]:
    return [OneHopCell(n_subjects=n, n_relations=r) for n in SUBJECTS[preset] for r in RELATIONS]


def _judge(results: Sequence[Result]) -> Judgement:
    facts = sum(result["facts"] for result in results)
    failures = {arch: sum(result["stock_failures"][arch] for result in results) for arch in ARCHITECTURES}
    least = {name: min(result["margins"][name] for result in results) for name in DTYPES}
    sized = all(result["dim"] == result["n_relations"] * result["code_length"] for result in results)
    holds = sized and not any(failures.values()) and min(least.values()) >= 1
    largest = max(results, key=lambda result: (result["n_subjects"], result["n_relations"]))
    return Judgement(
        verdict="holds" if holds else "fails",
        measured=f"{facts:,} facts in {len(results)} worlds: least margin "
        + ", ".join(f"{margin:g} in {name}" for name, margin in least.items())
        + "; wrong by generate: "
        + ", ".join(f"{arch} {count}" for arch, count in failures.items())
        + f"; at N = {largest['n_subjects']}, R = {largest['n_relations']}: d = {largest['dim']}",
    )


K1 = Claim(
    id="K1",
    statement="One layer of dimension d = R·p recalls every fact: the subject is a superposition of its attributes, "
    "the relation gates.",
    source="The paper claims d = O(R log N); the construction and its constant are ours (docs/theory.md §3).",
    criterion="All facts right, least margin ≥ 1 in float32, bfloat16 and float16; stock OPT and Llama agree on all",
    cells=_cells,
    judge=_judge,
)
