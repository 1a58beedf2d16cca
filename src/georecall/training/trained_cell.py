"""Cells that train an ensemble to the end, and then ask something of it."""

from abc import ABC
from typing import Generic, TypeVar

from georecall.facts.table import FactTable
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.records import Record
from georecall.training.trainer import Trainer
from georecall.training.world_cell import WorldCell

ResultT = TypeVar("ResultT", bound=Record)


class TrainedCell(WorldCell[ResultT], ABC, Generic[ResultT]):
    """An ensemble trained to the end; what is asked of it, a kind of cell says. `recipe` names the way of training."""

    recipe: str

    def trained(self, progress: Progress) -> tuple[RecallTransformer, FactTable, Trainer]:
        """The ensemble, its table, and the training that it comes from."""
        trainer = self.trainer()
        trainer.run(progress=progress)
        return trainer.model.requires_grad_(False), trainer.table, trainer
