"""The command line run in this process, and a small memory to run it on."""

import shutil
from pathlib import Path

import pytest

from command_line import cli
from georecall.facts.readers import read_table
from georecall.memory import FactMemory

__all__ = ["cli"]

FAMILY = Path(__file__).parents[2] / "examples" / "family.csv"


@pytest.fixture
def family_csv() -> Path:
    """The table of the family."""
    return FAMILY


@pytest.fixture(scope="session")
def compiled_family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The family as a memory, made once."""
    folder = tmp_path_factory.mktemp("memories") / "family"
    FactMemory.compile(read_table(FAMILY)).save(folder)
    return folder


@pytest.fixture
def family(compiled_family: Path, tmp_path: Path) -> Path:
    """A copy of the memory, which a test may change: `family` in the folder in which commands run."""
    return shutil.copytree(compiled_family, tmp_path / "family")
