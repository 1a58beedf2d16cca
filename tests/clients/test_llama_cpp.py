"""A Llama memory as GGUF in llama.cpp gives the table's answers by greedy completion."""

import numpy as np
import pytest
from memories import HOPS, TABLE

from georecall.errors import ConstructionError, FolderError
from georecall.facts.queries import all_queries, gold_entities
from georecall.memory import FactMemory
from georecall.models.tokenizer import prompt_text

pytest.importorskip("gguf", reason="gguf is not installed")
xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp, a build of llama.cpp, is not installed")

from georecall.memory.gguf_file import write_gguf  # noqa: E402

QUESTIONS = 40


@pytest.mark.parametrize("rotate", [None, 1])
def test_llama_cpp_completes_every_chain_and_stops(rotate, tmp_path):
    path = tmp_path / "memory.gguf"
    write_gguf(FactMemory.compile(TABLE, hops=HOPS, arch="llama", rotate=rotate), path)
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.n_ctx, parameters.warmup = str(path), 256, False
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    for hops in range(1, HOPS + 1):
        queries = all_queries(TABLE, hops)
        gold = gold_entities(TABLE, queries)
        for row in np.random.default_rng(hops).permutation(len(gold))[:QUESTIONS]:
            relations = tuple(TABLE.relations[relation] for relation in queries.relations[row])
            prompt = prompt_text(TABLE.subjects[queries.subjects[row]], relations, hops=HOPS)
            found = server.handle_completions({"prompt": prompt, "n_predict": hops + 1, "temperature": 0})
            wanted = "".join("␀" if entity < 0 else f"␟{TABLE.entities[entity]}" for entity in gold[row])
            assert (found["choices"][0]["text"], found["choices"][0]["finish_reason"]) == (wanted, "stop")


def test_what_llama_cpp_cannot_hold_is_refused_and_nothing_written(tmp_path):
    path = tmp_path / "memory.gguf"
    with pytest.raises(ConstructionError, match="--arch llama, got opt"):
        write_gguf(FactMemory.compile(TABLE, hops=1), path)
    assert not list(tmp_path.iterdir())
    path.write_text("mine")
    with pytest.raises(FolderError, match="already exists"):
        write_gguf(FactMemory.compile(TABLE, hops=1, arch="llama"), path)
    assert path.read_text() == "mine"
