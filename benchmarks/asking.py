"""`ask_many` against batched `generate` of the same model."""

import numpy as np
import torch

from benchmarks.measure import paired_ratio, report
from georecall.facts.queries import Query, sample_queries
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.tokenizer import prompt_ids

COUNT, BATCH = 2048, 256


def run() -> None:
    """Print the ratio of queries a second, after checking that both give the same answers."""
    rng = np.random.default_rng(0)
    table = random_bijections(4096, 16, rng=rng)
    memory = FactMemory.compile(table)
    model = memory.model()
    sampled = sample_queries(table, 3, COUNT, rng)
    queries = [
        Query(table.subjects[subject], tuple(table.relations[relation] for relation in relations))
        for subject, relations in zip(sampled.subjects, sampled.relations, strict=True)
    ]
    prompts = torch.from_numpy(
        prompt_ids(memory.chain.vocabulary, sampled.subjects, sampled.relations, hops=memory.chain.hops)
    )

    def generate() -> torch.Tensor:
        with torch.inference_mode():
            parts = [
                model.generate(part, attention_mask=torch.ones_like(part)) for part in prompts.split(BATCH)
            ]
        return torch.cat(parts)

    emitted = memory.chain.vocabulary.entities_of(generate()[:, prompts.shape[1] : -1].numpy())
    names = np.array([*table.entities, None], dtype=object)
    same = all(
        tuple(names[path]) == answer.path
        for path, answer in zip(emitted, memory.ask_many(queries), strict=True)
    )
    ratio = paired_ratio(generate, lambda: memory.ask_many(queries))
    report(f"ask_many against generate in batches of {BATCH}", f"{ratio:.1f}×", "≥ 10×")
    report("  same answers", str(same), "True")
