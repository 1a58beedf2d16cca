"""Capacity: the least dimension at which training recalls (almost) all facts of a world."""

import math
import re
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from georecall.progress import Progress
from georecall.sweeps.cells import Cell
from georecall.training.config import Freeze, Mode, Rate, Size, TrainConfig
from georecall.training.recall_cell import Parameters, RecallCell, RecallResult
from georecall.training.threshold import Threshold, find_threshold

LOOKS = 40
"""How often a run looks whether the target is reached."""
USUAL_TRIES = 8
"""Dimensions that a search tries, about; only for the progress shown."""
WIDTH = re.compile(r"N|[1-9][0-9]*d?")


class CapacityResult(Threshold):
    """The least d of every seed that reaches the target, None for a seed without one.

    `threshold` is the (lower) median over seeds, a seed without one counting as above all others; None if that is
    the median. `recall` is that of every seed at every d tried; `steps` the budget of one d, `parameters` those of a
    model of the threshold's dimension.
    """

    threshold: int | None
    recall: dict[int, tuple[float, ...]]
    questions: int
    steps: int
    steps_taken: int
    parameters: Parameters | None


class CapacityCell(Cell[CapacityResult]):
    """The least d at which training reaches the target, for each seed; made of a `RecallCell` for each d tried.

    `width` is `4d` (a multiple of d), `N`, or a number of hidden units. The budget is `passes` over all
    questions, in batches, but at least `least_steps`; of the learning rates the best counts, for each seed and d.
    Tried are `least_dim … most_dim`, and around a threshold `recheck` failures and successes in a row.
    """

    n_subjects: Size
    n_relations: Size
    freeze: Freeze = "none"
    width: str = "4d"
    attention: Literal["uniform", "learned"] = "uniform"
    heads: Size = 1
    hops: Size = 1
    mode: Mode = "direct"
    residual: bool = False
    seeds: Size = 3
    target: Annotated[float, Field(gt=0, le=1)] = 0.99
    passes: Size = 1000
    least_steps: Size = 4000
    batch: Size = 256
    learning_rates: Annotated[tuple[Rate, ...], Field(min_length=1)] = (0.03, 0.1)
    least_dim: Size = 1
    most_dim: Size = 512
    recheck: Size = 1
    world_seed: Annotated[int, Field(ge=0)] = 0
    device: Annotated[str, Field(exclude=True)] = "cpu"

    @field_validator("width")
    @classmethod
    def _check_width(cls, width: str) -> str:
        if not WIDTH.fullmatch(width):
            raise ValueError("expected a multiple of d such as 4d, N, or a number of hidden units")
        return width

    @model_validator(mode="after")
    def _check_dims(self) -> "CapacityCell":
        if self.least_dim > self.most_dim:
            raise ValueError(f"least_dim must be at most most_dim = {self.most_dim}, got {self.least_dim}")
        return self

    def measure(self, progress: Progress) -> CapacityResult:
        """The result, with nothing kept of the runs that it is made of."""
        with tempfile.TemporaryDirectory() as root:
            return self.result_in(Path(root), progress)

    def result_in(self, root: Path, progress: Progress) -> CapacityResult:
        """The search, whose runs are kept in `root`."""
        tried: dict[int, RecallResult] = {}

        def succeeds(dim: int) -> list[bool]:
            progress(self.name, len(tried), max(len(tried) + 1, USUAL_TRIES), f"d = {dim}")
            tried[dim] = self.at(dim).run(root, progress)
            return [share >= self.target for share in tried[dim].recall]

        found = find_threshold(
            succeeds, guess=self._guess, lowest=self.least_dim, highest=self.most_dim, recheck=self.recheck
        )
        progress(self.name, len(tried), len(tried))
        threshold = _median(found.least)
        return CapacityResult(
            least=found.least,
            tried=found.tried,
            monotone=found.monotone,
            threshold=threshold,
            recall={dim: tried[dim].recall for dim in found.tried},
            questions=tried[found.tried[0]].questions,
            steps=self._steps,
            steps_taken=sum(result.steps for result in tried.values()),
            parameters=None if threshold is None else tried[threshold].parameters,
        )

    def dimensions(self, result: CapacityResult) -> tuple[int, ...]:
        """The threshold, if there is one."""
        return () if result.threshold is None else (result.threshold,)

    @property
    def name(self) -> str:
        """What is measured, in a few words."""
        kind = "" if self.hops == 1 else f", k = {self.hops} {self.mode}"
        return f"N = {self.n_subjects:,}, R = {self.n_relations}, frozen: {self.freeze}{kind}"

    def at(self, dim: int) -> RecallCell:
        """The measurement of one dimension."""
        training = TrainConfig(
            dim=dim,
            width=self._units(dim),
            hops=self.hops,
            mode=self.mode,
            attention=self.attention,
            heads=self.heads,
            freeze=self.freeze,
            residual=self.residual,
            learning_rates=self.learning_rates,
            seeds=self.seeds,
            steps=self._steps,
            batch=self.batch,
            check_every=max(1, self._steps // LOOKS),
        )
        return RecallCell(
            n_subjects=self.n_subjects,
            n_relations=self.n_relations,
            training=training,
            target=self.target,
            world_seed=self.world_seed,
            device=self.device,
        )

    def _units(self, dim: int) -> int:
        if self.width == "N":
            return self.n_subjects
        number = int(self.width.removesuffix("d"))
        return number * dim if self.width.endswith("d") else number

    @property
    def _questions(self) -> int:
        return self.n_subjects * self.n_relations**self.hops

    @property
    def _steps(self) -> int:
        return max(self.least_steps, self.passes * max(1, self._questions // self.batch))

    @property
    def _guess(self) -> int:
        """About R·log2 N / 4, where the turn was seen in small worlds; with frozen subjects about √(N R)/3."""
        bits = self.n_relations * math.log2(max(2, self.n_subjects)) / 4
        frozen = math.sqrt(self.n_subjects * self.n_relations) / 3
        return math.ceil(bits if self.freeze == "none" else max(bits, frozen))


def _median(least: Sequence[int | None]) -> int | None:
    """The lower median, None counting as above every number."""
    middle = statistics.median_low([math.inf if value is None else value for value in least])
    return None if math.isinf(middle) else int(middle)
