"""A small world, and recipes that train on it in a moment."""

import numpy as np
import torch

from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer

TABLE = random_bijections(6, 2, rng=np.random.default_rng(0))

MIXED = {
    "hops": 2,
    "attention": "learned",
    "residual": True,
    "held_out": 0.2,
    "batch": 5,
    "embedding_noise": 0.3,
    "label_smoothing": 0.1,
    "weight_decay": 0.05,
    "learning_rates": (0.01, 0.03),
    "margin": None,
    "check_every": 3,
}
"""Everything at once that a run must remember to go on bit for bit."""


def recipe(**fields: object) -> TrainConfig:
    return TrainConfig(**{"dim": 4, "width": 7, "seeds": 2, "steps": 12, "check_every": 4} | fields)


def trained(config: TrainConfig, table: FactTable = TABLE, until: int | None = None) -> Trainer:
    trainer = Trainer(table, config)
    trainer.run(until=until)
    return trainer


def same_weights(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return all(torch.equal(first[name], second[name]) for name in first | second)
