"""`georecall verify`: exit code 0 for a sound memory, 1 and a list for one whose weights were spoiled."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from georecall.memory import folder as files

EMBEDDING = "model.decoder.embed_tokens.weight"
UNITS = "model.decoder.layers.0.fc1.weight"
SARAH = 2 + 5 + 1
"""Row of the second subject: the unknown, the end, five relations and Alice come before it."""


def spoil(folder: Path, tensor: str, row: int, value: float | None = None) -> None:
    """Reverse a row of a tensor, or fill it, and repair every hash: a fault that no hash shows."""
    tensors = load_file(folder / files.TENSORS)
    tensors[tensor][row] = tensors[tensor][row].flip(0) if value is None else value
    save_file(tensors, folder / files.TENSORS, metadata={"format": "pt"})
    sealed = json.loads((folder / files.CERTIFICATE).read_text(encoding="utf-8"))
    kept = {key: sealed[key] for key in sealed.keys() - {"format", "versions", "files", "sha256"}}
    files.write_certificate(folder, kept, {})


def test_a_sound_memory_passes_with_exit_code_0(cli, family):
    result = cli("verify", family, "--chains", "60")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        "verdict    every fact and chain is exact\n"
        "proved     20 facts; margin at least 2.000 in float32\n"
        "asked      40 cells of the table; least margin 4.000\n"
        "generated  60 chains\n"
    )


def test_as_json_the_outcome_carries_the_certificate(cli, family):
    result = cli("verify", family, "--chains", "0", "--json")
    assert result.code == 0
    found = result.json
    assert (found["ok"], found["facts"], found["chains"]) == (True, 20, 0)
    assert (found["altered_rows"], found["failures"]) == ([], [])
    assert found["certificate"]["exact"]


def test_a_spoiled_row_is_named_with_the_facts_it_breaks_and_exit_code_1(cli, family):
    spoil(family, EMBEDDING, SARAH)
    result = cli("verify", family, "--chains", "30")
    assert result.code == 1
    assert "verdict    FAILED\nproved     nothing" in result.out
    assert "\n1 altered rows\nrow" in result.out
    assert f"{EMBEDDING}: '␟Sarah'" in result.out
    assert ["Sarah", "job", "engineer", "unknown"] in [line.split() for line in result.out.splitlines()]


def test_a_spoiled_row_is_listed_in_json_and_nothing_else_is_printed(cli, family):
    spoil(family, EMBEDDING, SARAH)
    result = cli("verify", family, "--chains", "0", "--json")
    assert (result.code, result.err) == (1, "")
    assert result.json["altered_rows"] == [f"{EMBEDDING}: '␟Sarah'"]
    assert {failed["subject"] for failed in result.json["failures"]} == {"Sarah"}
    assert not result.json["ok"]


def test_a_spoiled_unit_breaks_the_proof(cli, family):
    spoil(family, UNITS, 3)
    result = cli("verify", family, "--chains", "0")
    assert result.code == 1
    assert "proved     nothing" in result.out


def test_no_number_that_is_not_finite_gets_into_json(cli, family):
    spoil(family, UNITS, 3, 3e38)
    result = cli("verify", family, "--chains", "0", "--json")
    assert result.code == 1
    assert result.json["certificate"]["margin"] is None


def test_a_long_list_is_cut_and_counted(cli, family):
    for row in range(2 + 5 + 14):
        spoil(family, EMBEDDING, row, 0.0)
    result = cli("verify", family, "--chains", "0")
    assert "21 altered rows, the first 20 of them\n" in result.out
    assert result.out.count(EMBEDDING) == 20


def test_the_seed_chooses_the_chains_and_no_global_state_is_touched(cli, family):
    before = torch.random.get_rng_state()
    first, again = (cli("verify", family, "--chains", "9", "--seed", "4").out for _ in range(2))
    assert first == again
    assert torch.equal(torch.random.get_rng_state(), before)
