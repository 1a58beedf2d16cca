"""Compile and save 1,000,000 subjects × 8 relations, in a process of its own so that its memory can be read."""

import multiprocessing
import os
import resource
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import report, seconds
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory

CHUNK = 1 << 24


def run() -> None:
    """Print the time against that of writing the same bytes, and the peak memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        compile_time, write_time, size, peak = pool.apply(_measure)
    report("compile and save 1,000,000 × 8", f"{compile_time:.1f} s", f"{size / 1e9:.2f} GB")
    report("  against writing the same bytes", f"{compile_time / write_time:.1f}×", "≤ 6×")
    report("  peak memory", f"{peak / 1e9:.2f} GB", "≤ 8 GB")


def _measure() -> tuple[float, float, int, int]:
    table = random_bijections(1_000_000, 8, rng=np.random.default_rng(0))
    with tempfile.TemporaryDirectory() as parent:
        folder, copy = Path(parent) / "memory", Path(parent) / "bytes"
        compile_time = seconds(lambda: FactMemory.compile(table).save(folder))
        size = sum(path.stat().st_size for path in folder.iterdir())
        write_time = seconds(lambda: _write(copy, size))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return compile_time, write_time, size, peak


def _write(path: Path, size: int) -> None:
    chunk = os.urandom(CHUNK)
    with path.open("wb") as file:
        for start in range(0, size, CHUNK):
            file.write(chunk[: size - start])
