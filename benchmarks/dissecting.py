"""All analyses of a trained ensemble, and batched interventions against a loop over single queries."""

import numpy as np
import torch

from benchmarks.measure import report, seconds
from georecall.dissection import HeldOutSplit, dissect
from georecall.dissection.held_out_split import Member
from georecall.facts.worlds import random_bijections
from georecall.progress import no_progress
from georecall.training.config import TrainConfig
from georecall.training.trainer import Trainer

SUBJECTS, RELATIONS, DIM, MEMBERS, STEPS = 1024, 8, 128, 8, 100
SWAPS, LOOPED = 2000, 50


def run() -> None:
    """Print the time of `dissect`, and the ratio of times for one intervened question."""
    table = random_bijections(SUBJECTS, RELATIONS, rng=np.random.default_rng(0))
    config = TrainConfig(
        dim=DIM, width=4 * DIM, attribute_dim=8, seeds=MEMBERS, steps=STEPS, batch=2048, check_every=STEPS
    )
    trainer = Trainer(table, config)
    trainer.run()
    model = trainer.model.requires_grad_(False)
    spent = seconds(lambda: dissect(model, table))
    report(
        f"all analyses, N = {SUBJECTS}, R = {RELATIONS}, d = {DIM}, {MEMBERS} members",
        f"{spent:.0f} s",
        "< 60 s",
    )
    member = next(iter(HeldOutSplit.of(model, table, seed=0).members("", no_progress)))
    report("interventions in batches against a loop", f"{batched_ratio(member):.0f}×", "≥ 20×")


def batched_ratio(member: Member) -> float:
    """Time of one changed subject asked alone over its share in a batch; all relations are asked of it."""
    rng = np.random.default_rng(0)
    changed = member.tensor(rng.standard_normal((SWAPS, DIM)))

    def loop() -> None:
        for embedding in changed[:LOOPED]:
            for relation in range(RELATIONS):
                x = (
                    torch.stack([member.model.embedding[1][0, relation], embedding])
                    + member.model.positions[0]
                )
                member.answers(member.model.states(x[None, None])[0, :, 0])

    loop(), member.ask_all(changed)
    return (seconds(loop) / LOOPED) / (seconds(lambda: member.ask_all(changed)) / SWAPS)
