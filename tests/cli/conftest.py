"""The command line run in this process, and a small memory to run it on."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from georecall.cli import main
from georecall.facts.table import FactTable
from georecall.memory import FactMemory

FAMILY = Path(__file__).parents[2] / "examples" / "family.csv"


@dataclass(frozen=True)
class Outcome:
    """Exit code, and what was printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    """Runs `georecall …` in an empty folder, through the same `main` as the installed program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["georecall", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        plain = [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr()]
        return Outcome(int(stopped.value.code or 0), *plain)

    return run


@pytest.fixture
def family_csv() -> Path:
    """The table of the family."""
    return FAMILY


@pytest.fixture(scope="session")
def compiled_family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The family as a memory, made once."""
    folder = tmp_path_factory.mktemp("memories") / "family"
    FactMemory.compile(FactTable.from_csv(FAMILY)).save(folder)
    return folder


@pytest.fixture
def family(compiled_family: Path, tmp_path: Path) -> Path:
    """A copy of the memory, which a test may change: `family` in the folder in which commands run."""
    return shutil.copytree(compiled_family, tmp_path / "family")
