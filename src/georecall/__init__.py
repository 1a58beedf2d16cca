"""Geometric factual recall: tables of facts as transformers, with proofs, measurements and certificates."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from georecall.facts.queries import Query
    from georecall.facts.table import FactTable
    from georecall.memory import FactMemory

__all__ = ["FactMemory", "FactTable", "Query"]

_HOMES = {
    "FactMemory": "georecall.memory",
    "FactTable": "georecall.facts.table",
    "Query": "georecall.facts.queries",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import georecall` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'georecall' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
