"""Memorising a whole world, against the knowledge graph embedding ComplEx of pykeen."""

import time

import numpy as np
import torch
from pykeen.models import ComplEx
from pykeen.training import LCWATrainingLoop
from pykeen.triples import CoreTriplesFactory

from benchmarks.measure import report
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.runs import parameter_counts
from georecall.training.trainer import Trainer

SUBJECTS, RELATIONS = 1024, 4
DIM, WIDTH, RATE, STEPS = 11, 32, 0.05, 1500
COMPLEX_DIM, COMPLEX_RATE, MOST_EPOCHS = 16, 0.05, 200
"""The learning rate of ComplEx is the quickest of 0.01, 0.03, 0.05 and 0.1."""


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
        dim=DIM, width=WIDTH, seeds=1, learning_rates=(RATE,), steps=STEPS, batch=512, check_every=50
    )
    started = time.perf_counter()
    trainer = Trainer(table, config)
    trainer.run()
    if min(trainer.history[-1].recall) < 1:
        raise RuntimeError(f"recalled {trainer.history[-1].recall} only")
    spent = time.perf_counter() - started
    return spent, parameter_counts(trainer.model)["trained"] / table.n_facts


def complex_embedding(table: FactTable) -> tuple[float, float]:
    """The same for ComplEx, trained by cross-entropy over all tails."""
    subject, relation = np.indices(table.answers.shape)
    triples = torch.from_numpy(np.stack([subject, relation, table.answers], axis=-1).reshape(-1, 3))
    factory = CoreTriplesFactory(triples, num_entities=SUBJECTS, num_relations=RELATIONS)
    model = ComplEx(triples_factory=factory, embedding_dim=COMPLEX_DIM, loss="crossentropy", random_seed=0)
    optimiser = torch.optim.Adam(model.parameters(), lr=COMPLEX_RATE)
    loop = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimiser)
    started = time.perf_counter()
    for epochs in range(5, MOST_EPOCHS, 5):
        loop.train(
            factory,
            num_epochs=epochs,
            batch_size=256,
            use_tqdm=False,
            continue_training=epochs > 5,
            clear_optimizer=False,
        )
        with torch.inference_mode():
            given = model.score_t(triples[:, :2]).argmax(dim=1)
        if bool((given == triples[:, 2]).all()):
            size = sum(parameter.numel() for parameter in model.parameters())
            return time.perf_counter() - started, size / table.n_facts
    raise RuntimeError(f"ComplEx had not learned all facts after {MOST_EPOCHS} epochs")
