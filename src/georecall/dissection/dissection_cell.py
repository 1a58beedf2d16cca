"""Cells that train an ensemble and dissect it."""

from georecall.dissection.dissection import Dissection, dissect
from georecall.progress import Progress
from georecall.records import Record
from georecall.training.trained_cell import TrainedCell


class DissectionResult(Record):
    """Recall of the facts trained on, by member, and what `dissect` finds."""

    recall: tuple[float, ...]
    dissection: Dissection


class DissectionCell(TrainedCell[DissectionResult]):
    """All analyses of a trained ensemble (docs/theory.md §7)."""

    revision = 2

    def measure(self, progress: Progress) -> DissectionResult:
        """Train, and dissect."""
        model, table, trainer = self.trained(progress)
        found = dissect(model, table, progress=progress)
        return DissectionResult(recall=tuple(trainer.history[-1].recall), dissection=found)
