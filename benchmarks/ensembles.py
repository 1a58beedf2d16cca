"""Ensembles against a plain one-model PyTorch loop: the same maths, on one thread."""

import numpy as np
import torch
from torch.nn import functional

from benchmarks.measure import paired_ratio, report
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer, schedule

RELATIONS, MEMBERS, STEPS = 4, 16, 1000


def run() -> None:
    """Print member-steps a second over those of the plain loop, after comparing their losses."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for subjects, dim, width, steps, goal in (
            (64, 8, 32, 100, "≥ 2.5×"),
            (256, 16, 64, 30, "≥ 1.5×"),
            (1024, 16, 64, 4, "≥ 1×"),
        ):
            _compare(subjects, dim, width, steps, goal)
    finally:
        torch.set_num_threads(threads)


def _compare(subjects: int, dim: int, width: int, steps: int, goal: str) -> None:
    config = TrainConfig(
        dim=dim, width=width, seeds=MEMBERS, steps=STEPS, batch=subjects * RELATIONS, check_every=STEPS
    )
    table = random_bijections(subjects, RELATIONS, rng=np.random.default_rng(0))
    ensemble, plain = Trainer(table, config), PlainLoop(Trainer(table, config))
    losses = [loss[0].item() for loss in (ensemble._advance() for _ in range(10))]
    same = np.allclose(losses, [plain.step() for _ in range(10)], rtol=1e-4)

    def one_model() -> None:
        for _ in range(steps):
            plain.step()

    def all_members() -> None:
        for _ in range(steps):
            ensemble._advance()

    ratio = MEMBERS * paired_ratio(one_model, all_members, runs=9)
    report(f"{MEMBERS} members against a plain loop, N = {subjects}, d = {dim}", f"{ratio:.2f}×", goal)
    report("  same losses", str(same), "True")


class PlainLoop:
    """The first member of an ensemble, trained as one would write it for a single model."""

    def __init__(self, like: Trainer) -> None:
        self.examples, self.config, self.done = like.examples, like.config, 0
        members = {name: value.detach()[0].clone() for name, value in like.model.named_parameters()}
        self.weights = {name: value.requires_grad_() for name, value in members.items()}
        rate = like.config.learning_rates[0]
        self.adamw = torch.optim.AdamW(self.weights.values(), lr=rate, weight_decay=0.0, fused=True)
        self.rate = rate

    def step(self) -> float:
        """One full-batch step; the loss before it."""
        w = self.weights
        rows = torch.cat([w["embedding.0"], w["embedding.1"]])
        x = (functional.embedding(self.examples.tokens, rows) + w["positions"]).mean(dim=1)
        hidden = functional.relu(functional.linear(x, w["layers.0.w1"], w["layers.0.b1"]))
        y = functional.linear(hidden, w["layers.0.w2"], w["layers.0.b2"])
        loss = functional.cross_entropy(functional.linear(y, w["unembedding"]), self.examples.targets[:, 0])
        self.adamw.zero_grad()
        loss.backward()
        self.adamw.param_groups[0]["lr"] = self.rate * schedule(self.done, self.config.steps)
        self.adamw.step()
        self.done += 1
        return loss.item()
