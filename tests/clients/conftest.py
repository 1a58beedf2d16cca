"""Real clients, offline: nothing is fetched, and nobody is told that they run."""

import os

os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    ORT_DISABLE_TELEMETRY="1",  # ONNX Runtime sends usage events to its makers unless this is set
    WANDB_MODE="disabled",  # TransformerLens brings wandb
)

import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from memories import HOPS, TABLE, SavedMemory
from page import COMPILING, ROOT

from georecall.memory import FactMemory

MEMORIES = [("opt", None), ("llama", 1)]


@pytest.fixture(scope="session", params=MEMORIES, ids="{0[0]}, rotation {0[1]}".format)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SavedMemory:
    """The small world, compiled and saved for one architecture."""
    architecture, rotation = request.param
    memory = FactMemory.compile(TABLE, hops=HOPS, arch=architecture, rotate=rotation)
    folder = tmp_path_factory.mktemp("saved") / "memory"
    memory.save(folder)
    return SavedMemory(memory, folder)


@pytest.fixture(scope="session")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples of the page run: its first has compiled the memories there."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "family.csv", folder / "examples")
    COMPILING.run(folder)
    return folder


@pytest.fixture(scope="session")
def client() -> Callable[[str], ModuleType]:
    """Imports a client by its module's name, or skips the test."""

    def load(name: str) -> ModuleType:
        package = name.partition(".")[0]
        return pytest.importorskip(
            name, reason=f"{package} is not installed: pip install 'georecall[clients]'"
        )

    return load


@pytest.fixture(scope="module", autouse=True)
def no_connections() -> Iterator[None]:
    """Refuse every connection, and fail if one was tried, even where a client hides the error."""
    tried = []

    def refuse(*address: object, **_options: object) -> None:
        tried.append(address)
        raise ConnectionRefusedError(f"tests of clients run offline, but reached for {address}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield
    assert not tried
