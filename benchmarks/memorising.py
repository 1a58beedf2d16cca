"""Memorising a whole world, against the knowledge graph embedding ComplEx of pykeen."""

import time

import numpy as np
import torch

from benchmarks.measure import report
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.runs import parameter_counts
from georecall.training.trainer import Trainer

SUBJECTS, RELATIONS = 1024, 4
DIM, OUT, WIDTH = 12, 10, 24


def run() -> None:
    """Print seconds to a recall of 100 % on one core, and parameters a fact, of both."""
    table = random_bijections(SUBJECTS, RELATIONS, rng=np.random.default_rng(0))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ours, ours_size = recall_transformer(table)
        theirs, theirs_size = complex_embedding(table)
    finally:
        torch.set_num_threads(threads)
    report(f"memorise N = {SUBJECTS}, R = {RELATIONS}, against ComplEx-16", f"{theirs / ours:.2f}×", "≥ 1×")
    report("  parameters a fact", f"{ours_size:.2f}, {theirs_size:.2f}", "≤ 6, 8")


def recall_transformer(table: FactTable) -> tuple[float, float]:
    """Seconds and parameters a fact until every fact is recalled."""
    config = TrainConfig(
        dim=DIM,
        attribute_dim=OUT,
        width=WIDTH,
        seeds=1,
        learning_rates=(0.05,),
        steps=3000,
        batch=512,
        check_every=100,
    )
    started = time.perf_counter()
    trainer = Trainer(table, config)
    trainer.run()
    if min(trainer.history[-1].recall) < 1:
        raise RuntimeError(f"recalled {trainer.history[-1].recall} only")
    spent = time.perf_counter() - started
    return spent, parameter_counts(trainer.model)["trained"] / table.n_facts
