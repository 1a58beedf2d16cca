"""Cells that train an ensemble and then look inside it, or swap new worlds into it."""

from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field

from georecall.analysis import dissect
from georecall.analysis.transfer import swap_worlds
from georecall.analysis.writers import METHODS, Method
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.sweeps import Cell
from georecall.training.config import Size, TrainConfig
from georecall.training.trainer import Trainer, fresh_model

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
            "untrained": swapped(fresh_model(table, self.training), self.worlds_seed),
        }
