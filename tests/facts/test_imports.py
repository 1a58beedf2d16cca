"""The package stands on its own: no circle of files, and nothing heavy until a file needs it."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

from documents import ROOT

FACTS = ROOT / "src" / "georecall" / "facts"
HEAVY = {"torch", "transformers", "polars", "pydantic", "scipy", "sklearn"}


def imported(path):
    """The modules of the package that one of them imports, within functions too."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {
        module.removeprefix("georecall.facts.") for module in modules if module.startswith("georecall.facts.")
    }


def test_no_file_imports_one_that_imports_it():
    graph = {path.stem: imported(path) for path in FACTS.glob("*.py")}
    assert list(TopologicalSorter(graph).static_order())[-1] == "__init__"


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, georecall.facts; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603
    assert not HEAVY & set(loaded.split())
