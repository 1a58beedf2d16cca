"""A large training step against its matrix products alone, on one thread and on two."""

import numpy as np
import torch

from benchmarks.measure import paired_ratio, report
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer

SUBJECTS, DIM, WIDTH, BATCH = 4096, 128, 512, 4096


def run() -> None:
    """Print the ratio for both numbers of threads."""
    table = random_bijections(SUBJECTS, 4, rng=np.random.default_rng(0))
    config = TrainConfig(dim=DIM, width=WIDTH, seeds=1, batch=BATCH, check_every=2000)
    trainer = Trainer(table, config)
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        ratio = paired_ratio(trainer._advance, products, runs=9)
        report(
            f"a step at N = {SUBJECTS}, d = {DIM}, {threads} threads, over its products",
            f"{ratio:.2f}×",
            "≤ 1.5×",
        )
    torch.set_num_threads(before)


def products() -> None:
    """The matrix products of forward and backward pass: MLP and unembedding, values, inputs' and weights' gradients."""
    for rows, columns in ((DIM, WIDTH), (WIDTH, DIM), (DIM, SUBJECTS)):
        x, w, gradient = (torch.ones(shape) for shape in ((BATCH, rows), (rows, columns), (BATCH, columns)))
        _ = x @ w, gradient @ w.T, x.T @ gradient
