"""The registry of architectures, and the modules that they name."""

import subprocess
import sys

import pytest

import georecall.models.architectures
from cases import WORLDS
from georecall.errors import GeorecallError
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES

LISTING = """
import sys
from georecall.models.architectures import ARCHITECTURES
print(*ARCHITECTURES, "torch" in sys.modules)
"""


def test_names_are_listed_without_importing_torch():
    command = [sys.executable, "-c", LISTING]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert listed.stdout.split() == ["opt", "llama", "False"]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_an_architecture_names_modules_of_its_stock_model(arch):
    memory = FactMemory.compile(WORLDS["family"].table, hops=1, arch=arch)
    architecture, model = memory.architecture, memory.model()
    units = architecture.units
    for module in filter(None, (units.reads, units.gates)):
        assert model.get_submodule(module).weight.shape == (memory.chain.width, memory.chain.layout.dim)
    assert model.get_submodule(units.writes).weight.shape == (memory.chain.layout.dim, memory.chain.width)
    assert architecture.name == arch
    assert {architecture.embedding, architecture.unembedding} < set(model.state_dict())
    assert any(True for _ in model.get_submodule(architecture.attention).parameters())


def test_a_name_that_no_file_has_is_no_architecture():
    assert "gpt" not in ARCHITECTURES


def test_a_file_without_its_architecture_is_named(tmp_path, monkeypatch):
    (tmp_path / "hollow.py").write_text("", encoding="utf-8")
    package = georecall.models.architectures
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    with pytest.raises(
        GeorecallError, match=r"architectures\.hollow: expected an Architecture with the name"
    ):
        ARCHITECTURES["hollow"]
    sys.modules.pop(f"{package.__name__}.hollow")
