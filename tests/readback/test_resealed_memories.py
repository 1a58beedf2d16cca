"""A memory whose hashes are right and whose content is not: one line names file, field and value."""

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import copied
from folders import FACTS, seal
from safetensors.torch import load_file, save_file

from command_line import cli
from georecall.errors import FolderError
from georecall.facts.table_files import write_parquet
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory

__all__ = ["cli"]

COMMANDS = {
    "info": ("info", "memory"),
    "ask": ("ask", "memory", "Alice", "wife"),
    "verify": ("verify", "memory", "--chains", "3"),
    "edit": ("edit", "memory", "Alice", "wife", "Grace"),
}
OWN = FactMemory.compile(FACTS)
WIDTH = OWN.chain.width
STATED: dict[str, tuple[str, Any, str]] = {
    "no hops": ("construction.hops", 0, "construction.hops: expected a value greater than or equal to 1, got 0"),
    "hops beyond any machine": ("construction.hops", 10**9, "construction: the layer has"),
    "hops of 300 digits": ("construction.hops", 10**300, "construction.hops: expected a value less than"),
    "more hops than the model": ("construction.hops", 4, "layout.positions: expected (36, 46)"),
    "fewer hops than the model": ("construction.hops", 2, "layout."),
    "hops as text": ("construction.hops", "3", "construction.hops: expected a valid integer, got '3'"),
    "one level": ("construction.levels", 1, "construction.levels: expected a value greater than or equal to 2"),
    "a million levels": ("construction.levels", 10**6, "construction.levels: expected a value less than or equal"),
    "another number of levels": ("construction.levels", 3, "code.composition: expected ("),
    "an unknown architecture": ("construction.architecture", "gpt", "expected 'opt' or 'llama', got 'gpt'"),
    "the other architecture": ("construction.architecture", "llama", "layout."),
    "an unknown number format": ("construction.dtype", "int4", "construction.dtype: expected 'float32'"),
    "another number format": ("construction.dtype", "bfloat16", "expected BF16 of shape"),
    "a rotation that is text": ("construction.rotation", "7", "construction.rotation: expected a valid integer"),
    "a negative rotation": ("construction.rotation", -1, "construction.rotation: expected a value greater"),
    "another digest": ("table.digest", "0" * 64, "table.digest: expected "),
    "another number of facts": ("table.facts", 7, "table.facts: expected 20"),
    "another length": ("code.length", 99, "code.length: expected 6"),
    "another composition": ("code.composition", [9, 9], "code.composition: expected (3, 3)"),
    "another layout": ("layout.output", [0, 1], "layout.output: expected ("),
    "no proofs": ("proofs", [], "proofs: expected one for each of float32, bfloat16, float16, got []"),
    "proofs that are no list": ("proofs", 5, "proofs: expected a JSON array, got 5"),
    "a margin that is text": ("proofs.0.margin", "big", "proofs.0.margin: expected a valid number, got 'big'"),
    "a margin that proves nothing": ("proofs.0.margin", -1.0, "exact must be False"),
    "other units": ("proofs.1.units", 3, f"proofs.1.units: expected {WIDTH}, got 3"),
    "errors without a leak": ("proofs.0.errors", {}, "proofs.0.errors.deviation: is missing (and 3 more)"),
    "a basis of rotated memories": ("proofs.0.basis", "asked", "0 of 0 steps asked is not 'asked'"),
    "a kernel less": ("proofs.0.kernels", ["sdpa"], "proofs.0.kernels.1: is missing"),
    "a format twice": ("proofs.1.dtype", "float32", "proofs: expected one for each of"),
    "no files": ("files", None, "files: expected a JSON object, got None"),
    "a file without a hash": ("files", {"config.json": ""}, "files.'config.json': must match pattern"),
    "a field that nobody knows": ("owner", "me", "owner: is not expected here"),
}  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "memory"
    OWN.save(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return copied(saved, tmp_path / "memory")


def state(folder: Path, field: str, value: Any) -> None:
    """Let the certificate say something else, under its own hash."""
    path = folder / "certificate.json"
    sealed = json.loads(path.read_bytes())
    *way, last = [int(part) if part.isdigit() else part for part in field.split(".")]
    holder = sealed
    for part in way:
        holder = holder[part]
    holder[last] = value
    path.write_text(json.dumps(sealed), encoding="utf-8")
    seal(folder)


def alter(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Let the tensors be others, under the right hash."""
    tensors = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}
    change(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    seal(folder)


def refused(folder: Path, file: str, says: str) -> None:
    with pytest.raises(FolderError) as found:
        FactMemory.load(folder)
    said = str(found.value)
    assert said.startswith(f"{folder / file}: ")
    assert says in said
    assert "\n" not in said


def test_sealing_alone_changes_nothing(folder, saved):
    seal(folder)
    assert (folder / "certificate.json").read_bytes() == (saved / "certificate.json").read_bytes()


@pytest.mark.parametrize(("field", "value", "says"), STATED.values(), ids=STATED)
def test_a_certificate_that_is_not_that_of_its_table_is_refused(folder, field, value, says):
    state(folder, field, value)
    refused(folder, "certificate.json" if "shape" not in says else "model.safetensors", says)


TENSORS: dict[str, tuple[Callable[[dict[str, torch.Tensor]], object], str]] = {
    "NaN": (lambda held: held["lm_head.weight"][0].fill_(math.nan), "'lm_head.weight': expected finite numbers"),
    "infinity": (lambda held: held["lm_head.weight"][-1].fill_(math.inf), "expected finite numbers"),
    "missing": (lambda held: held.pop("lm_head.weight"), "tensor 'lm_head.weight': expected F32 of shape ["),
    "one more": (lambda held: held.update(more=torch.ones(2)), "tensor 'more': expected none, got F32 of shape [2]"),
    "cut": (lambda held: held.update({"lm_head.weight": held["lm_head.weight"][1:].clone()}), "expected F32 of"),
    "wider": (lambda held: held.update({"lm_head.weight": held["lm_head.weight"].double()}), "got F64 of shape"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), TENSORS.values(), ids=TENSORS)
def test_tensors_that_are_not_those_of_the_construction_are_refused(folder, change, says):
    alter(folder, change)
    refused(folder, "model.safetensors", says)


def test_the_table_of_another_memory_is_refused(folder):
    write_parquet(random_bijections(8, 3, rng=np.random.default_rng(0)), folder / "facts.parquet")
    seal(folder)
    refused(folder, "certificate.json", "table.digest: expected ")


def test_a_rotation_that_is_not_that_of_the_tensors_is_refused(tmp_path):
    FactMemory.compile(FACTS, rotate=3).save(tmp_path / "memory")
    assert FactMemory.load(tmp_path / "memory").ask("Alice", "wife").answer == "Sarah"
    for seed, says in (
        (4, "construction.rotation: expected the seed"),
        (None, "proofs: expected one for each of"),
    ):
        state(tmp_path / "memory", "construction.rotation", seed)
        refused(tmp_path / "memory", "certificate.json", says)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("what", ["hops beyond any machine", "another digest", "NaN"])
def test_every_command_refuses_in_one_line(command, what, folder, cli):
    if what == "NaN":
        alter(folder, TENSORS[what][0])
    else:
        state(folder, *STATED[what][:2])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    result = cli(*command)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_proof_that_is_not_finite_is_written_as_null_and_read_again(tmp_path):
    *sound, last = OWN.certificates
    broken = replace(last, errors=replace(last.errors, deviation=math.nan), margin=-math.inf)
    replace(OWN, certificates=(*sound, broken)).save(tmp_path / "memory")
    text = (tmp_path / "memory" / "certificate.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["proofs"][2]["margin"] is None
    found = FactMemory.load(tmp_path / "memory").certificates[2]
    assert (math.isnan(found.errors.deviation), found.margin, found.exact) == (True, -math.inf, False)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["*", "n*", "?otes.txt", "[m-o]otes.txt"])
def test_a_name_in_a_certificate_that_looks_like_a_pattern_takes_no_other_file_with_it(name, folder):
    (folder / "notes.txt").write_text("mine")
    (folder / name).write_text("listed")
    listed = json.loads((folder / "certificate.json").read_bytes())["files"]
    state(folder, "files", listed | {name: hashlib.sha256(b"listed").hexdigest()})
    FactMemory.load(folder).edit("Alice", "wife", "Grace").save(folder, replace=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert not (folder / name).exists()
