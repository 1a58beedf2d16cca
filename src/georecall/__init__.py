"""Geometric factual recall: tables of facts as transformers, with proofs, measurements and certificates."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from georecall.facts.queries import Query
    from georecall.facts.readers import read_table
    from georecall.facts.table import FactTable
    from georecall.facts.table_files import write_parquet
    from georecall.memory import FactMemory

__all__ = ["FactMemory", "FactTable", "Query", "read_table", "write_parquet"]

_HOMES = {
    "FactMemory": "georecall.memory",
    "FactTable": "georecall.facts.table",
    "Query": "georecall.facts.queries",
    "read_table": "georecall.facts.readers",
    "write_parquet": "georecall.facts.table_files",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import georecall` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'georecall' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
