"""Edit one fact of a memory in RAM."""

import numpy as np

from benchmarks.measure import median_seconds, report
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory


def run() -> None:
    """Print the time of an edit, and how many bytes of how many tensors differ afterwards."""
    memory = FactMemory.compile(random_bijections(4096, 16, rng=np.random.default_rng(0)))
    memory.ask("x0", "r0")
    edited = memory.edit("x17", "r3", "x99")
    changed = {
        name: int((tensor != memory.tensors[name]).any(dim=-1).sum())
        for name, tensor in edited.tensors.items()
        if not tensor.equal(memory.tensors[name])
    }
    taken = median_seconds(lambda: memory.edit("x17", "r3", "x99"))
    report("edit one of 4,096 × 16 facts", f"{taken * 1000:.1f} ms", "< 50 ms")
    report("  rows changed, by tensor", str(changed), "one row of the embedding")
