"""K2 and K3: several hops without a chain of thought, directly or through an associative memory."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.constructions.associative import Associative
from georecall.constructions.direct import Direct
from georecall.constructions.reembedding import Reembedding
from georecall.constructions.single_answer import SingleAnswer
from georecall.facts.worlds import random_bijections
from georecall.models.architecture import DTYPES
from georecall.models.exhaustive import exhaust
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.sweeps.cells import Cell

Kind = Literal["direct", "associative", "reembedding"]
CONSTRUCTIONS: dict[Kind, type[SingleAnswer]] = {
    "direct": Direct,
    "associative": Associative,
    "reembedding": Reembedding,
}
WORLDS: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": ((64, 3), (256, 2)),
    "standard": ((64, 3), (256, 2), (256, 6)),
    "paper": ((256, 6), (256, 8), (1024, 4)),
}
HOPS = (1, 2, 3)


class SeveralHopsCell(Cell):
    """One random world: all N·R^k questions of k hops through one construction."""

    kind: Kind
    n_subjects: int
    n_relations: int
    hops: int
    seed: int = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Failures, least margin, and the sizes found beside those predicted."""
        table = random_bijections(self.n_subjects, self.n_relations, rng=np.random.default_rng(self.seed))
        construction = CONSTRUCTIONS[self.kind](table, hops=self.hops)
        found = exhaust(construction, DTYPES["float32"], progress=progress)
        return found.to_dict() | {
            "predicted": construction.size.to_dict(),
            "built": built_size(construction),
        }


def built_size(construction: SingleAnswer) -> dict[str, int]:
    """Dimension, width, layers and parameters, counted in the tensors."""
    weights = construction.weights()
    model = RecallTransformer.from_weights(weights)
    return {
        "dimension": weights.embedding.shape[1],
        "width": max(len(layer.mlp.b1) for layer in weights.layers),
        "layers": len(weights.layers),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }


def _cells(*kinds: Kind) -> Callable[[Preset], Sequence[Cell]]:
    return lambda preset: [
        SeveralHopsCell(kind=kind, n_subjects=n, n_relations=r, hops=hops)
        for kind in kinds
        for n, r in WORLDS[preset]
        for hops in HOPS
    ]


def _judge(results: Sequence[Result]) -> Judgement:
    wrong, queries = sum(result["wrong"] for result in results), sum(result["queries"] for result in results)
    sized = all(result["built"].items() <= result["predicted"].items() for result in results)
    largest = max(results, key=lambda result: result["queries"])
    size = largest["built"]
    return Judgement(
        verdict="holds" if sized and not wrong else "fails",
        measured=f"{queries:,} questions: {wrong} wrong, least margin {min(r['margin'] for r in results):g}; sizes "
        f"{'as' if sized else 'not as'} predicted, e.g. {largest['kind']} at N = {largest['n_subjects']}, "
        f"R = {largest['n_relations']}, k = {largest['hops']}: d = {size['dimension']:,}, width {size['width']:,}",
    )


K2 = Claim(
    id="K2",
    statement="Without a chain of thought one layer answers k hops with a block for every sequence of relations.",
    source="The paper claims d = Õ(R^k); the construction and its constants are ours (docs/theory.md §4).",
    criterion="All questions of 1, 2 and 3 hops right; d = (R^k + 1)·p + k + 1 and width R^k·p",
    cells=_cells("direct"),
    judge=_judge,
)
K3 = Claim(
    id="K3",
    statement="Without a chain of thought k layers answer k hops as an associative memory, one unit a fact; or one a "
    "subject, if layers re-embed.",
    source="The paper claims width linear in the facts, O(N·R); the constructions are ours (docs/theory.md §4).",
    criterion="All questions of 1, 2 and 3 hops right; width N·R, or R·p and N by turns; d as predicted",
    cells=_cells("associative", "reembedding"),
    judge=_judge,
)
