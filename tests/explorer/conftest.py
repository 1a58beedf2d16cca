"""Memories and runs that are laid open."""

from pathlib import Path

import numpy as np
import pytest

from cases import WORLDS
from georecall.explorer import View, memory_view
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.training.config import TrainConfig
from georecall.training.runs import TrainedRun, continue_run, load_run, start_run


@pytest.fixture(scope="session")
def family() -> FactMemory:
    return FactMemory.compile(WORLDS["family"].table, hops=3)


@pytest.fixture(scope="session")
def family_view(family: FactMemory) -> View:
    return memory_view(family, title="family", folder="family")


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    table = random_bijections(32, 2, rng=np.random.default_rng(0))
    start_run(folder, table, TrainConfig(dim=8, width=16, attribute_dim=4, seeds=2, steps=40))
    continue_run(folder)
    return folder


@pytest.fixture(scope="session")
def run(run_folder: Path) -> TrainedRun:
    return load_run(run_folder)
