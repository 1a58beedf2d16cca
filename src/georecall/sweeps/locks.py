"""One process at a time for each cell: locks beside the folders, which a kill releases."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from georecall.errors import FolderError
from georecall.storage import drafts
from georecall.storage.locks import beside, locked

_OF_0_1 = re.compile(r"\.(?P<folder>\w+-[0-9a-f]{16})(-.+|\.lock)|\.sweep\.json(-.+|\.lock)")
"""Drafts and locks of cells and plans as version 0.1 named them."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a cell's folder, and wait for whoever holds it, however long."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder, beside(folder), wait=None):
        yield


def tidy(root: Path) -> None:
    """Take away what killed processes left in the folder of a sweep: drafts that nobody writes, and their locks."""
    drafts.tidy(root)
    for path in root.glob(".*"):
        if found := _OF_0_1.fullmatch(path.name):
            cell = root / (found["folder"] or path.name)
            with suppress(FolderError), locked(cell, beside(cell), wait=0.0):
                drafts.delete(path)
