"""A trace is what the stock model holds on the way to an answer, block by block."""

import numpy as np
import pytest

from cases import WORLDS
from georecall.errors import UnknownNameError
from georecall.memory import FactMemory
from georecall.memory.trace import Trace, trace

CASES = [
    ("family", "opt", None),
    ("family", "llama", None),
    ("family", "opt", 3),
    ("family", "llama", 3),
    ("three levels", "llama", None),
    ("seven levels", "opt", None),
    ("one fact", "opt", None),
]
TOLERANCE = 2e-3


@pytest.fixture(scope="module", params=CASES, ids=str)
def traced(request) -> tuple[FactMemory, list[Trace]]:
    name, arch, rotate = request.param
    world = WORLDS[name]
    memory = FactMemory.compile(world.table, hops=world.hops, levels=world.levels, arch=arch, rotate=rotate)
    entities, relations = memory.table.entities[:4], memory.table.relations
    return memory, [trace(memory, entity, relation) for entity in entities for relation in relations]


def test_the_embedding_holds_the_code_of_every_answer_in_its_block(traced):
    memory, traces = traced
    codes = dict(zip((None, *memory.table.entities), memory.ground_truth().codewords, strict=True))
    for found in traces:
        held = [codes[answer] for answer in found.answers]
        np.testing.assert_allclose(found.embedded, held, atol=TOLERANCE)


def test_attention_brings_nothing_to_the_block_asked_for_and_the_inhibition_to_all_others(traced):
    memory, traces = traced
    for found in traces:
        brought = np.full(found.carried.shape, -memory.chain.inhibition_strength)
        brought[found.relation] = 0
        np.testing.assert_allclose(found.carried, brought, atol=TOLERANCE)


def test_only_the_block_asked_for_passes_and_the_sum_of_what_passes_is_written(traced):
    _, traces = traced
    for found in traces:
        passed = np.zeros_like(found.hidden)
        passed[found.relation] = found.embedded[found.relation]
        np.testing.assert_allclose(found.hidden, passed, atol=TOLERANCE)
        np.testing.assert_allclose(found.written, found.hidden.sum(axis=0), atol=TOLERANCE)


def test_the_best_score_is_that_of_the_answer_and_leads_as_it_does_when_the_memory_is_asked(traced):
    memory, traces = traced
    names = [None, "end", *memory.table.relations, *memory.table.entities]
    for found in traces:
        answer = memory.ask(found.subject, memory.table.relations[found.relation])
        second, best = np.sort(found.scores)[-2:]
        assert names[found.scores.argmax()] == answer.answer == found.answers[found.relation]
        assert best - second == pytest.approx(answer.margins[0], abs=TOLERANCE)


def test_after_an_edit_the_trace_is_that_of_the_new_fact():
    memory = FactMemory.compile(WORLDS["family"].table)
    before, after = (trace(held, "Alice", "wife") for held in (memory, memory.edit("Alice", "wife", "Grace")))
    assert (before.answers[0], after.answers[0]) == ("Sarah", "Grace")
    assert not np.array_equal(before.written, after.written)
    assert np.array_equal(before.embedded[1:], after.embedded[1:])


@pytest.mark.parametrize(
    ("subject", "relation", "nearest"), [("Alise", "wife", "'Alice'"), ("Alice", "wive", "'wife'")]
)
def test_a_name_that_is_not_in_the_table_is_refused(subject, relation, nearest):
    memory = FactMemory.compile(WORLDS["family"].table)
    with pytest.raises(UnknownNameError, match=f"nearest: {nearest}"):
        trace(memory, subject, relation)
