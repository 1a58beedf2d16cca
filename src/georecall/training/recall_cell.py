"""One measurement of recall: what share of a world of random bijections an ensemble comes to recall."""

from typing import Annotated

import numpy as np
from pydantic import Field

from georecall.progress import Progress
from georecall.records import Record
from georecall.training.runs import parameter_counts
from georecall.training.trainer import Checked
from georecall.training.world_cell import WorldCell


class Parameters(Record):
    """Parameters of one member."""

    trained: int
    frozen: int


class RecallResult(Record):
    """The best recall of every seed at any look, steps taken, the questions, and parameters of a member."""

    recall: tuple[float, ...]
    steps: int
    questions: int
    parameters: Parameters


class RecallCell(WorldCell[RecallResult]):
    """One ensemble trained on a world of random bijections until every seed recalls the target share of all facts.

    A seed has a member for each learning rate; the best of them counts.
    """

    target: Annotated[float, Field(gt=0, le=1)]

    def measure(self, progress: Progress) -> RecallResult:
        """Train until the target is reached.

        Raises:
            TrainingError: every member of every learning rate has diverged.
        """
        trainer = self.trainer(enough=self._reached)
        trainer.run(progress=progress)
        best = np.max([self._by_seed(checked) for checked in trainer.history], axis=0)
        return RecallResult(
            recall=tuple(best.tolist()),
            steps=trainer.step,
            questions=len(trainer.examples),
            parameters=Parameters(**parameter_counts(trainer.model)),
        )

    def _by_seed(self, checked: Checked) -> list[float]:
        """Recall of the best member of every seed; a member that diverged has recalled nothing."""
        rates = len(self.training.learning_rates)
        return np.array(checked.recall).reshape(rates, -1).max(axis=0).tolist()

    def _reached(self, checked: Checked) -> bool:
        return min(self._by_seed(checked)) >= self.target
