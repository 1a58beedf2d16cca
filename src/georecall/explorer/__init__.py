"""Look inside a model: its forward pass, laid open in a page that does it itself."""

from georecall.explorer.mechanism import Mechanism
from georecall.explorer.memories import memory_view
from georecall.explorer.opening import open_view
from georecall.explorer.page import export_page
from georecall.explorer.runs import run_view
from georecall.explorer.server import ExplorerServer
from georecall.explorer.view import View

__all__ = [
    "ExplorerServer",
    "Mechanism",
    "View",
    "export_page",
    "memory_view",
    "open_view",
    "run_view",
]
