"""K1: the one-hop construction recalls every fact at d = R·p."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.constructions.one_hop import OneHop
from georecall.facts.queries import all_queries, gold_entities, margins
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.architecture import DTYPES
from georecall.models.generation import generate_paths
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.storage.cells import Cell

SUBJECTS: dict[Preset, tuple[int, ...]] = {
    "quick": (64, 256),
    "standard": (64, 256, 1024),
    "paper": (1024, 4096),
}
RELATIONS = (2, 4, 8, 16)
QUERIES_AT_ONCE = 4096


class OneHopCell(Cell):
    """One random world: every fact through the construction in each number format, and through a stock model."""

    n_subjects: int
    n_relations: int
    levels: int = 2
    seed: int = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Dimension, least margins and failures over all N·R facts."""
        table = random_bijections(self.n_subjects, self.n_relations, rng=np.random.default_rng(self.seed))
        one_hop = OneHop(table, levels=self.levels)
        memory = FactMemory.compile(table, hops=1, levels=self.levels)
        queries = all_queries(table, 1)
        paths, stops = generate_paths(memory.chain, memory.model(), queries, progress=progress)
        right = (paths == gold_entities(table, queries)).all(axis=1) & stops
        return {
            "facts": len(right),
            "dim": one_hop.layout.dim,
            "code_length": one_hop.code.length,
            "margins": {name: least_margin(one_hop, dtype) for name, dtype in DTYPES.items()},
            "stock_failures": int((~right).sum()),
        }


def least_margin(one_hop: OneHop, dtype: torch.dtype) -> float:
    """The least margin over all facts, computed by `RecallTransformer` in `dtype`; −inf where a score is NaN."""
    model = RecallTransformer.from_weights(one_hop.weights(), dtype=dtype)
    least = np.inf
    for queries in all_queries(one_hop.table, 1).split(QUERIES_AT_ONCE):
        tokens = torch.from_numpy(one_hop.prompts(queries))
        with torch.inference_mode():
            scores = model(tokens)[0].float().numpy()
        lead = margins(scores, one_hop.gold(queries))
        least = min(least, float(np.nan_to_num(lead, nan=-np.inf).min()))
    return least


def _cells(preset: Preset) -> Sequence[Cell]:
    return [OneHopCell(n_subjects=n, n_relations=r) for n in SUBJECTS[preset] for r in RELATIONS]


def _judge(results: Sequence[Result]) -> Judgement:
    facts = sum(result["facts"] for result in results)
    failures = sum(result["stock_failures"] for result in results)
    least = {name: min(result["margins"][name] for result in results) for name in DTYPES}
    sized = all(result["dim"] == result["n_relations"] * result["code_length"] for result in results)
    holds = sized and not failures and min(least.values()) >= 1
    margins_text = ", ".join(f"{margin:g} in {name}" for name, margin in least.items())
    largest = max(results, key=lambda result: (result["n_subjects"], result["n_relations"]))
    return Judgement(
        verdict="holds" if holds else "fails",
        measured=f"{facts:,} facts in {len(results)} worlds: least margin {margins_text}; the stock OPT misses "
        f"{failures}; at N = {largest['n_subjects']}, R = {largest['n_relations']}: d = {largest['dim']}",
    )


K1 = Claim(
    id="K1",
    statement="One layer of dimension d = R·p recalls every fact: the subject is a superposition of its attributes, "
    "the relation gates.",
    source="The paper claims d = O(R log N); the construction and its constant are ours (docs/theory.md §3).",
    criterion="All facts right, least margin ≥ 1 in float32, bfloat16 and float16; the stock model agrees on all",
    cells=_cells,
    judge=_judge,
)
