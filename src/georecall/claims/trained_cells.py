"""Cells that train an ensemble and then look inside it, or swap new worlds into it."""

from typing import Annotated, Any

from pydantic import Field

from georecall.dissection import dissect
from georecall.facts.table import FactTable
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.training.config import Size
from georecall.training.trainer import Trainer, fresh_model
from georecall.training.world_cell import WorldCell
from georecall.transfer.embedding_solvers import METHODS, Method
from georecall.transfer.freeze_and_swap import swap_worlds

Seed = Annotated[int, Field(ge=0)]


class TrainedCell(WorldCell):
    """An ensemble trained to the end; what is asked of it, a kind of cell says."""

    recipe: str

    def trained(self, progress: Progress) -> tuple[RecallTransformer, FactTable, Trainer]:
        """The ensemble, its table, and the training that it comes from."""
        trainer = self.trainer()
        trainer.run(progress=progress)
        return trainer.model.requires_grad_(False), trainer.table, trainer


class DissectionCell(TrainedCell):
    """All analyses of a trained ensemble (docs/theory.md §7)."""

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Recall of the facts trained on, and what `dissect` finds."""
        model, table, trainer = self.trained(progress)
        found = dissect(model, table, progress=progress)
        return {"recall": trainer.history[-1].recall, "dissection": found.to_dict()}


class TransferCell(TrainedCell):
    """New worlds of random bijections swapped into a trained ensemble, by several writers.

    The worlds of `choosing_seed` are there to choose a method, those of `worlds_seed` to report.
    """

    methods: tuple[Method, ...] = METHODS
    worlds: Size = 5
    choosing_seed: Seed = 1
    worlds_seed: Seed = 2

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Recall of the facts trained on, and the transfer by each method, into the models before training too."""
        model, table, trainer = self.trained(progress)

        def swapped(model: RecallTransformer, seed: int) -> dict[str, Any]:
            return {
                method: swap_worlds(
                    model, table, method=method, worlds=self.worlds, seed=seed, progress=progress
                ).to_dict()
                for method in self.methods
            }

        return {
            "recall": trainer.history[-1].recall,
            "choosing": swapped(model, self.choosing_seed),
            "transfer": swapped(model, self.worlds_seed),
            "untrained": swapped(fresh_model(table, self.training).to(trainer.device), self.worlds_seed),
        }
