"""A saved memory is the memory: loaded by georecall, and by transformers alone."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from cases import WORLDS, gold_sequences, tables
from georecall.errors import FolderError
from georecall.facts.names import ENTITY_MARK, RELATION_MARK, UNKNOWN
from georecall.facts.queries import all_queries, gold_entities
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES
from georecall.models.tokenizer import prompt_text

SAVED = [
    ("family", {"hops": 3}),
    ("family", {"arch": "llama"}),
    ("family", {"rotate": 7}),
    ("missing facts", {"dtype": "bfloat16"}),
    ("three levels", {"dtype": "float16", "levels": 3}),
    ("one name and no fact", {"hops": 1}),
    ("awkward names", {"arch": "llama", "dtype": "bfloat16"}),
]
FILES = {
    "README.md",
    "certificate.json",
    "chat_template.jinja",
    "config.json",
    "facts.parquet",
    "generation_config.json",
    "ground_truth.safetensors",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(("name", "options"), SAVED, ids=str)
def test_a_loaded_memory_is_the_one_that_was_saved(name, options, tmp_path):
    memory = FactMemory.compile(WORLDS[name].table, **options)
    memory.save(tmp_path / "memory")
    loaded = FactMemory.load(tmp_path / "memory")
    assert loaded.table == memory.table
    assert loaded.chain == memory.chain
    assert loaded.architecture is memory.architecture
    assert (loaded.dtype, loaded.certificates) == (memory.dtype, memory.certificates)
    assert loaded.info() == memory.info()
    assert loaded.tensors.keys() == memory.tensors.keys()
    for key, tensor in memory.tensors.items():
        assert loaded.tensors[key].dtype == tensor.dtype
        assert torch.equal(loaded.tensors[key], tensor)
    queries = all_queries(memory.table, 1)
    for found, expected in zip(
        loaded.recall(queries.subjects, queries.relations),
        memory.recall(queries.subjects, queries.relations),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("name", "options"), SAVED[:4], ids=str)
def test_a_memory_is_saved_in_the_same_bytes_each_time_and_after_loading(name, options, tmp_path):
    memory = FactMemory.compile(WORLDS[name].table, **options)
    memory.save(tmp_path / "lazy")
    _ = memory.tensors
    memory.save(tmp_path / "made")
    FactMemory.load(tmp_path / "made").save(tmp_path / "again")
    assert contents(tmp_path / "lazy") == contents(tmp_path / "made") == contents(tmp_path / "again")


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_folder_holds_these_files_and_nothing_that_is_unpickled_or_run(arch, tmp_path):
    FactMemory.compile(WORLDS["family"].table, arch=arch).save(tmp_path / "memory")
    assert contents(tmp_path / "memory").keys() == FILES
    config = (tmp_path / "memory" / "config.json").read_text()
    assert "auto_map" not in config


def test_the_tensors_are_those_of_the_stock_model_and_no_others(tmp_path):
    memory = FactMemory.compile(WORLDS["family"].table)
    memory.save(tmp_path / "memory")
    model, report = AutoModelForCausalLM.from_pretrained(tmp_path / "memory", output_loading_info=True)
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    written = load_file(tmp_path / "memory" / "model.safetensors")
    state = model.state_dict()
    assert written.keys() == state.keys()
    assert all(torch.equal(written[name], state[name]) for name in state)


@settings(max_examples=8)
@given(tables(), st.sampled_from([*ARCHITECTURES]), st.integers(1, 2))
def test_names_of_all_kinds_survive_saving_loading_generating_and_decoding(
    tmp_path_factory, table, arch, hops
):
    folder = tmp_path_factory.mktemp("names") / "memory"
    memory = FactMemory.compile(table, hops=hops, arch=arch)
    memory.save(folder)
    assert FactMemory.load(folder).table == table
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert len(tokenizer) == memory.chain.vocabulary.size
    queries = all_queries(table, hops)
    asked = zip(queries.subjects, queries.relations, strict=True)
    named = [
        (table.subjects[subject], tuple(table.relations[r] for r in relations))
        for subject, relations in asked
    ]
    prompts, gold = gold_sequences(memory.chain, queries)
    texts = [prompt_text(subject, relations, hops=hops) for subject, relations in named]
    encoded = tokenizer(texts, return_tensors="pt")
    np.testing.assert_array_equal(encoded["input_ids"].numpy(), prompts)
    emitted = model.generate(**encoded)[:, prompts.shape[1] :]
    np.testing.assert_array_equal(emitted.numpy(), gold)
    marked = [ENTITY_MARK + name for name in table.entities] + [UNKNOWN]
    assert tokenizer.batch_decode(emitted, skip_special_tokens=True) == [
        "".join(marked[entity] for entity in path) for path in gold_entities(table, queries)
    ]
    for (subject, relations), ids in zip(named, prompts.tolist(), strict=True):
        chat = [{"role": "user", "content": RELATION_MARK.join([subject, *relations])}]
        assert tokenizer.apply_chat_template(chat)["input_ids"] == ids


def test_a_memory_is_not_overwritten_unless_asked(tmp_path):
    first = FactMemory.compile(WORLDS["family"].table)
    second = FactMemory.compile(WORLDS["one fact"].table)
    first.save(tmp_path / "memory")
    with pytest.raises(FolderError, match="already exists"):
        second.save(tmp_path / "memory")
    assert FactMemory.load(tmp_path / "memory").table == first.table
    second.save(tmp_path / "memory", replace=True)
    assert FactMemory.load(tmp_path / "memory").table == second.table
    assert contents(tmp_path / "memory").keys() == FILES


def test_a_folder_that_is_not_a_memory_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("work")
    with pytest.raises(FolderError, match=r"no certificate\.json"):
        FactMemory.compile(WORLDS["one fact"].table).save(tmp_path, replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
