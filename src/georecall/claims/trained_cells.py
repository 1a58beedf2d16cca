"""Cells that train an ensemble and then look inside it, or swap new worlds into it."""

from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field

from georecall.analysis import dissect
from georecall.analysis.transfer import swap_worlds
from georecall.analysis.writers import Method
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.sweeps import Cell
from georecall.training.config import Size, TrainConfig
from georecall.training.trainer import Trainer

Seed = Annotated[int, Field(ge=0)]


class TrainedCell(Cell):
    """An ensemble trained on a world of random bijections; what is asked of it, a kind of cell says."""

    n_subjects: Size
    n_relations: Size
    recipe: str
    training: TrainConfig
    world_seed: Seed = 0

    def trained(self, progress: Progress) -> tuple[RecallTransformer, FactTable, Trainer]:
        """The ensemble, its table, and the training that it comes from."""
        rng = np.random.default_rng(self.world_seed)
        table = random_bijections(self.n_subjects, self.n_relations, rng=rng)
        trainer = Trainer(table, self.training, device=torch.device("cpu"))
        trainer.run(progress=progress)
        return trainer.model.requires_grad_(False), table, trainer


class DissectionCell(TrainedCell):
    """All analyses of a trained ensemble (docs/theory.md §7)."""

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Recall of the facts trained on, and what `dissect` finds."""
        model, table, trainer = self.trained(progress)
        found = dissect(model, table, progress=progress)
        return {"recall": trainer.history[-1].recall, "dissection": found.to_dict()}


class TransferCell(TrainedCell):
    """New worlds of random bijections swapped into a trained ensemble, by several writers."""

    methods: tuple[Method, ...] = ("ridge", "selector")
    worlds: Size = 5
    worlds_seed: Seed = 0

    def measure(self, progress: Progress) -> dict[str, Any]:
        """Recall of the facts trained on, and the transfer by each method."""
        model, table, trainer = self.trained(progress)
        transfers = {
            method: swap_worlds(
                model, table, method=method, worlds=self.worlds, seed=self.worlds_seed, progress=progress
            ).to_dict()
            for method in self.methods
        }
        return {"recall": trainer.history[-1].recall, "transfer": transfers}
