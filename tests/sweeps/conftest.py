"""A folder for a sweep, a log that its cells write to, and the cells in it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sample_cells import Logged


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the sweep."""
    return tmp_path / "cells"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the cells note."""
    return tmp_path / "log"


@pytest.fixture
def logged(log: Path) -> Callable[..., list[Logged]]:
    """Makes cells with the numbers 0, 1, …"""
    return lambda count, seconds=0.0: [Logged(number=n, log=str(log), seconds=seconds) for n in range(count)]
