"""Look inside a model: its forward pass, laid open in a page that does it itself."""

from georecall.explorer.mechanism import Mechanism
from georecall.explorer.memories import memory_exhibit
from georecall.explorer.opening import open_exhibit
from georecall.explorer.page import export_page
from georecall.explorer.runs import run_exhibit
from georecall.explorer.server import ExplorerServer
from georecall.explorer.view import Exhibit

__all__ = [
    "Exhibit",
    "ExplorerServer",
    "Mechanism",
    "export_page",
    "memory_exhibit",
    "open_exhibit",
    "run_exhibit",
]
