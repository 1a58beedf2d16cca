"""Compile and save 4,096 subjects × 16 relations."""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import median_seconds, report
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory


def run() -> None:
    """Print the time from a table to a folder."""
    table = random_bijections(4096, 16, rng=np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "memory"

        def compile_and_save() -> None:
            shutil.rmtree(folder, ignore_errors=True)
            FactMemory.compile(table).save(folder)

        report("compile and save 4,096 × 16", f"{median_seconds(compile_and_save):.2f} s", "< 2 s")
