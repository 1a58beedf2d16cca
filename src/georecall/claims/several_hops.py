"""What K2 and K3 share: all questions of several hops through one construction, at once."""

from collections.abc import Callable, Sequence
from typing import Literal

import altair as alt
import numpy as np

from georecall.claims.claim import Preset
from georecall.claims.judgement import Finding, Judgement
from georecall.constructions.associative import Associative
from georecall.constructions.direct import Direct
from georecall.constructions.reembedding import Reembedding
from georecall.constructions.single_answer import SingleAnswer
from georecall.facts.worlds import random_bijections
from georecall.figures.capacity import TICKS
from georecall.figures.lines import lines, logarithmic, ordinal
from georecall.models.dtypes import DTYPES
from georecall.models.exhaustive import evaluate_exhaustively
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.records import Record
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell, Measured

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


class BuiltSize(Record):
    """Dimension, width, layers and parameters, counted in the tensors."""

    dimension: int
    width: int
    layers: int
    parameters: int

    @classmethod
    def of(cls, construction: SingleAnswer) -> "BuiltSize":
        """Build the construction and count."""
        weights = construction.weights()
        model = RecallTransformer.from_weights(weights)
        return cls(
            dimension=weights.embedding.shape[1],
            width=max(len(layer.mlp.b1) for layer in weights.layers),
            layers=len(weights.layers),
            parameters=sum(parameter.numel() for parameter in model.parameters()),
        )


class PredictedSize(BuiltSize):
    """The same as predicted, for a code of so many symbols."""

    code_length: int


class SeveralHopsResult(Record):
    """Questions asked in one number format, wrong answers, least margin, and the sizes beside those predicted."""

    dtype: str
    queries: int
    wrong: int
    margin: float
    predicted: PredictedSize
    built: BuiltSize

    @property
    def as_predicted(self) -> bool:
        """Whether the sizes are those predicted."""
        return dict(self.built).items() <= dict(self.predicted).items()


class SeveralHopsCell(Cell[SeveralHopsResult]):
    """One random world: all N·R^k questions of k hops through one construction."""

    kind: Kind
    n_subjects: int
    n_relations: int
    hops: int
    seed: int = 0

    def measure(self, progress: Progress) -> SeveralHopsResult:
        """Build, count, and ask everything."""
        table = random_bijections(self.n_subjects, self.n_relations, rng=np.random.default_rng(self.seed))
        construction = CONSTRUCTIONS[self.kind](table, hops=self.hops)
        found = evaluate_exhaustively(construction, DTYPES["float32"], progress=progress)
        return SeveralHopsResult(
            **vars(found),
            predicted=PredictedSize(**vars(construction.size)),
            built=BuiltSize.of(construction),
        )

    def dimensions(self, result: SeveralHopsResult) -> tuple[int, ...]:
        """That of the construction."""
        return (result.built.dimension,)

    @property
    def world(self) -> str:
        """Construction and sizes in words."""
        return f"{self.kind}, N = {self.n_subjects}, R = {self.n_relations}"


Results = Sequence[Measured[SeveralHopsCell, SeveralHopsResult]]


def cells_of(*kinds: Kind) -> Callable[[Preset], Sequence[Cell]]:
    """Every world and number of hops for some constructions."""
    return lambda preset: [
        SeveralHopsCell(kind=kind, n_subjects=n, n_relations=r, hops=hops)
        for kind in kinds
        for n, r in WORLDS[preset]
        for hops in HOPS
    ]


def judge(results: Results) -> Judgement:
    """All questions right, all sizes as predicted."""
    wrong = sum(world.result.wrong for world in results)
    queries = sum(world.result.queries for world in results)
    unlike = sum(not world.result.as_predicted for world in results)
    largest = max(results, key=lambda world: world.result.queries)
    example = f"{largest.cell.world}, k = {largest.cell.hops}"
    finding = Finding(
        met=not wrong and not unlike,
        quantities=(
            Quantity(name="questions", value=queries),
            Quantity(name="wrong", value=wrong),
            Quantity(name="least margin", value=min(world.result.margin for world in results), form="g"),
            Quantity(name="sizes not as predicted", value=unlike),
            Quantity(name=f"d of {example}", value=largest.result.built.dimension),
            Quantity(name="its width", value=largest.result.built.width),
        ),
    )
    key = f"{wrong} wrong of {queries:,} questions"
    return Judgement.of([finding], key=key)


def figure(results: Results, stamp: str) -> alt.Chart:
    """D against k, a line for each world and construction."""
    rows = [
        {"k": world.cell.hops, "d": world.result.built.dimension, "world": world.cell.world}
        for world in results
    ]
    return lines(
        rows,
        x=ordinal("k:O", "hops k"),
        y=alt.Y(**logarithmic("d", "dimension d", TICKS)),
        by="world",
        title="Several hops without a chain of thought: d against k",
        subtitle=stamp,
    )
