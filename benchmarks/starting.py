"""Commands that need no model, against the imports that they cannot do without."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import paired_ratio, report
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory

IMPORTS = ("-c", "import numpy, polars, safetensors")


def run() -> None:
    """Print how many times as long `ask` and `info` take on a small memory, and `ask` on a large one."""
    with tempfile.TemporaryDirectory() as parent:
        small, large = (_saved(Path(parent) / str(subjects), subjects) for subjects in (16, 1_000_000))
        ask = "-m", "georecall", "ask"
        for name, command in {
            "ask": (*ask, small, "x0", "r0"),
            "info": ("-m", "georecall", "info", small),
        }.items():
            ratio = paired_ratio(lambda command=command: _python(*command), lambda: _python(*IMPORTS))
            report(f"{name} on a small memory against its imports", f"{ratio:.1f}×", "≤ 4×")
        ratio = paired_ratio(
            lambda: _python(*ask, large, "x0", "r0"), lambda: _python(*ask, small, "x0", "r0")
        )
        report("ask on 1,000,000 × 8 against the small memory", f"{ratio:.1f}×", "≤ 10×")


def _saved(folder: Path, subjects: int) -> str:
    FactMemory.compile(random_bijections(subjects, 8, rng=np.random.default_rng(0))).save(folder)
    return str(folder)


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
