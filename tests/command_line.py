"""The command line run in this process; a `conftest.py` that imports `cli` has it as a fixture."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from georecall.cli import main


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
