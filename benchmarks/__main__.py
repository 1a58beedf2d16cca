"""Run every benchmark, or those named: `python -m benchmarks [NAME …]`."""

import importlib
import sys

NAMES = (
    *("compiling", "asking", "editing", "million", "starting"),
    *("ensembles", "large_steps", "sweeping", "memorising", "dissecting", "probing"),
)

for name in sys.argv[1:] or NAMES:
    importlib.import_module(f"benchmarks.{name}").run()
