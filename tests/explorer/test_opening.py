"""Which folders can be explored."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from georecall.errors import AnalysisError, FolderError, GeorecallError
from georecall.explorer import open_view
from georecall.facts.worlds import random_bijections
from georecall.training.config import TrainConfig
from georecall.training.runs import continue_run, start_run


@pytest.fixture
def folder(family, tmp_path: Path) -> Path:
    family.save(tmp_path / "family")
    return tmp_path / "family"


def test_a_memory_and_a_run_are_told_apart(folder, run_folder):
    assert open_view(folder).about.kind == "memory"
    assert open_view(run_folder, member=1).about.kind == "run"


@pytest.mark.parametrize("found", ["nothing", "a file"])
def test_what_is_no_folder_is_refused(tmp_path, found):
    path = tmp_path / "none"
    if found == "a file":
        path.write_text("")
    with pytest.raises(
        FolderError, match=f"expected the folder of a memory or of a trained run, found {found}"
    ):
        open_view(path)


def test_another_folder_is_refused(tmp_path):
    with pytest.raises(FolderError, match=r"found neither certificate\.json nor config\.json"):
        open_view(tmp_path)


def test_a_damaged_memory_is_named_with_its_file(folder):
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(FolderError, match=r"model\.safetensors: altered or truncated"):
        open_view(folder)


def test_a_memory_without_its_certificate_is_no_run(folder):
    (folder / "certificate.json").unlink()
    with pytest.raises(FolderError, match=r"certificate\.json: missing"):
        open_view(folder)


def test_a_damaged_run_is_named_with_its_file(run_folder, tmp_path):
    copy = shutil.copytree(run_folder, tmp_path / "run")
    (copy / "model.safetensors").write_bytes(b"")
    with pytest.raises(FolderError, match=r"model\.safetensors: altered or truncated"):
        open_view(copy)


def test_a_memory_has_no_members(folder):
    with pytest.raises(GeorecallError, match="--member cannot be given"):
        open_view(folder, member=0)


def test_a_run_of_several_hops_is_refused(tmp_path):
    table = random_bijections(9, 2, rng=np.random.default_rng(1))
    config = TrainConfig(dim=8, width=8, hops=2, attention="learned", seeds=1, steps=2, check_every=1)
    start_run(tmp_path / "run", table, config)
    continue_run(tmp_path / "run")
    with pytest.raises(
        AnalysisError, match="one hop with uniform attention, got 2 hops with learned attention"
    ):
        open_view(tmp_path / "run")
