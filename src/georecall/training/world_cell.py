"""What the cells share that train an ensemble on a world of random bijections."""

from abc import ABC
from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

import numpy as np
from pydantic import Field

from georecall.facts.worlds import random_bijections
from georecall.records import Record
from georecall.sweeps.cells import Cell
from georecall.training.config import Size, TrainConfig
from georecall.training.settings import checked_device
from georecall.training.trainer import Checked, Trainer

ResultT = TypeVar("ResultT", bound=Record)


class WorldCell(Cell[ResultT], ABC, Generic[ResultT]):
    """An ensemble to be trained on one world; the device is no part of what is measured."""

    n_subjects: Size
    n_relations: Size
    training: TrainConfig
    world_seed: Annotated[int, Field(ge=0)] = 0
    device: Annotated[str, Field(exclude=True)] = "cpu"

    def dimensions(self, result: ResultT) -> tuple[int, ...]:  # noqa: ARG002
        """That of the ensemble."""
        return (self.training.dim,)

    def trainer(self, *, enough: Callable[[Checked], bool] | None = None) -> Trainer:
        """The ensemble before training; `enough` as in `Trainer`."""
        rng = np.random.default_rng(self.world_seed)
        table = random_bijections(self.n_subjects, self.n_relations, rng=rng)
        return Trainer(table, self.training, device=checked_device(self.device), enough=enough)
