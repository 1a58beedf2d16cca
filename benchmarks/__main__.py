"""Run every benchmark: `python -m benchmarks`."""

from benchmarks import asking, compiling, editing, million

for module in (compiling, asking, editing, million):
    module.run()
