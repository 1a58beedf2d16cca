"""`verify` checks what is stored: whatever is wrong with it is found, named, and not taken for right."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cases import WORLDS
from georecall.memory import FactMemory, Verification
from georecall.memory import verify as verify_module
from georecall.memory.folder import write_certificate
from georecall.models.architectures import ARCHITECTURES

FAMILY = FactMemory.compile(WORLDS["family"].table, hops=3)
CHAIN = FAMILY.chain
EMBEDDING, UNEMBEDDING = FAMILY.architecture.embedding, FAMILY.architecture.unembedding
LAYER = "model.decoder.layers.0"


@pytest.fixture
def altered(tmp_path: Path) -> Callable[[str, Callable[[Tensor], None]], Verification]:
    """Verify a saved memory after a change to one of its tensors that leaves every hash right."""

    def verified(name: str, change: Callable[[Tensor], None]) -> Verification:
        folder = tmp_path / "memory"
        FAMILY.save(folder)
        tensors = {key: tensor.clone() for key, tensor in load_file(folder / "model.safetensors").items()}
        change(tensors[name])
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        sealed = json.loads((folder / "certificate.json").read_text())
        write_certificate(folder, {key: value for key, value in sealed.items() if key != "sha256"}, {})
        return FactMemory.load(folder).verify(chains=30)

    return verified


def spoilt(name: str, change: Callable[[Tensor], None]) -> Verification:
    """Verify a memory that holds what a folder cannot: numbers that are none are refused when it is loaded."""
    tensors = {key: tensor.clone() for key, tensor in FAMILY.tensors.items()}
    change(tensors[name])
    return replace(FAMILY, stored=tensors).verify(chains=30)


def row_of(name: str) -> int:
    return CHAIN.vocabulary.entities.start + FAMILY.table.entities.index(name)


@pytest.mark.parametrize("name", ["family", "missing facts", "one name and no fact", "awkward names"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_memory_as_it_was_compiled_is_ok(name, arch):
    memory = FactMemory.compile(WORLDS[name].table, hops=2, arch=arch)
    found = memory.verify(chains=25)
    assert found.ok
    assert (found.facts, found.asked) == (memory.table.n_facts, memory.table.answers.size)
    assert found.certificate == memory.certificate
    assert found.least_margin >= found.certificate.margin > 0
    assert found.to_dict()["ok"] is True


def test_an_embedding_with_another_fact_is_named_and_fails(altered):
    def copy_sarah(embedding: Tensor) -> None:
        embedding[row_of("Alice")] = embedding[row_of("Sarah")]

    found = altered(EMBEDDING, copy_sarah)
    assert not found.ok
    assert found.altered_rows == (f"{EMBEDDING}: '␟Alice'",)
    wife = next(
        failed for failed in found.failures if (failed.subject, failed.relations) == ("Alice", ("wife",))
    )
    assert (wife.expected, wife.found) == (("Sarah",), ("Alice",))
    assert found.certificate.exact


def test_a_wrong_codeword_is_named_and_fails(altered):
    def swap(unembedding: Tensor) -> None:
        rows = [row_of("Mary"), row_of("John")]
        unembedding[rows] = unembedding[rows[::-1]]

    found = altered(UNEMBEDDING, swap)
    assert not found.ok
    assert set(found.altered_rows) == {f"{UNEMBEDDING}: '␟Mary'", f"{UNEMBEDDING}: '␟John'"}
    assert any(failed.expected == ("Mary",) and failed.found == ("John",) for failed in found.failures)


@pytest.mark.parametrize("name", [EMBEDDING, UNEMBEDDING])
def test_a_number_that_is_none_is_named_and_fails(name):
    def spoil(tensor: Tensor) -> None:
        tensor[row_of("Leo"), 0] = torch.nan

    found = spoilt(name, spoil)
    assert not found.ok
    assert found.altered_rows == (f"{name}: '␟Leo'",)
    assert found.failures


def test_a_row_altered_in_the_last_bit_is_named(altered):
    def nudge(embedding: Tensor) -> None:
        embedding[CHAIN.vocabulary.end, -1] = 1e-30

    found = altered(EMBEDDING, nudge)
    assert found.altered_rows == (f"{EMBEDDING}: '␃'",)
    assert not found.failures
    assert not found.ok


@pytest.mark.parametrize(
    "name", ["self_attn.q_proj.weight", "self_attn.v_proj.weight", "fc1.weight", "fc2.weight"]
)
def test_a_wrong_weight_of_the_layer_is_named_and_makes_the_certificate_fail(altered, name):
    def shift(tensor: Tensor) -> None:
        tensor.copy_(tensor.roll(1, dims=-1))

    found = altered(f"{LAYER}.{name}", shift)
    assert not found.ok
    assert not found.certificate.exact
    assert found.altered_rows == (f"{LAYER}.{name}",)
    assert found.failures


def test_an_attention_offset_of_one_place_makes_the_certificate_fail(altered):
    def shift(positions: Tensor) -> None:
        positions.copy_(positions.roll(1, dims=0))

    assert not altered("model.decoder.embed_positions.weight", shift).certificate.exact


@pytest.mark.parametrize("name", ["self_attn.k_proj.weight", "self_attn_layer_norm.bias", "fc2.bias"])
def test_a_layer_with_a_number_that_is_none_makes_the_certificate_fail(name):
    def spoil(tensor: Tensor) -> None:
        tensor.view(-1)[-1] = torch.nan

    found = spoilt(f"{LAYER}.{name}", spoil)
    assert not found.certificate.exact
    assert not found.ok


def test_a_weight_that_no_witness_shows_to_be_wrong_is_named_all_the_same(altered):
    """All blocks of a witness hold one codeword, so what compares two blocks is silent on every witness."""
    places = CHAIN.code.length

    def compare(select: Tensor) -> None:
        select[0, [places, 2 * places + 1]] += 4
        select[0, [places + 1, 2 * places]] -= 4

    found = altered(f"{LAYER}.fc1.weight", compare)
    assert found.certificate.exact
    assert found.failures
    assert found.altered_rows == (f"{LAYER}.fc1.weight",)


def test_only_as_many_facts_are_asked_as_can_be_afforded(monkeypatch):
    monkeypatch.setattr(verify_module, "SCORES_IN_ALL", 7 * CHAIN.vocabulary.size)
    found = FAMILY.verify(chains=0)
    assert (found.asked, found.chains, found.facts) == (7, 0, 20)
    assert found.ok


def test_the_chains_are_shared_among_the_lengths_and_drawn_from_the_seed(monkeypatch):
    drawn = []

    def record(chain, model, queries, *, progress):
        drawn.append(queries)
        return generate(chain, model, queries, progress=progress)

    generate = verify_module.generate_paths
    monkeypatch.setattr(verify_module, "generate_paths", record)
    for seed in (0, 0, 1):
        assert FAMILY.verify(chains=10, seed=seed).ok
    assert [queries.relations.shape for queries in drawn[:3]] == [(3, 1), (3, 2), (4, 3)]
    np.testing.assert_array_equal(drawn[2].relations, drawn[5].relations)
    assert not np.array_equal(drawn[2].relations, drawn[8].relations)


def test_progress_is_reported_to_the_end():
    seen = {}
    FAMILY.verify(chains=30, progress=lambda task, done, total: seen.update({task: done == total}))
    assert len(seen) == 6
    assert all(seen.values())
