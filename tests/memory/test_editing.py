"""An edit changes one row of one tensor and one answer, in the new memory and never in the old one."""

import hashlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import WORLDS, tables
from georecall.errors import UnknownNameError
from georecall.facts.queries import Queries, all_queries, gold_entities
from georecall.facts.table import FactTable
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES

FAMILY = WORLDS["family"].table


def fingerprint(memory: FactMemory) -> str:
    digest = hashlib.sha256(memory.table.digest().encode())
    for name, tensor in sorted(memory.tensors.items()):
        digest.update(name.encode() + tensor.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def answers(memory: FactMemory) -> np.ndarray:
    """What the memory recalls for every entity and relation."""
    entities, relations = np.indices((len(memory.table.entities), len(memory.table.relations))).reshape(2, -1)
    path, margins = memory.recall(entities, relations[:, None])
    assert margins.min() > 1.9
    return path.reshape(len(memory.table.entities), -1)


def written(table: FactTable, arch: str = "opt", *, tensors: bool = False) -> FactMemory:
    """A memory whose certificates are left out, as they take most of the time of compiling."""
    architecture = ARCHITECTURES[arch]
    chain = architecture.chain_class(table, 2)
    memory = FactMemory(chain=chain, architecture=architecture, dtype="float32", certificates=())
    if tensors:
        _ = memory.tensors
    return memory


@settings(max_examples=15)
@given(tables(), st.sampled_from([*ARCHITECTURES]), st.booleans(), st.data())
def test_an_edit_touches_one_row_of_the_embedding_and_changes_one_answer(table, arch, tensors, data):
    old = written(table, arch, tensors=tensors)
    row = data.draw(st.integers(0, len(table.subjects) - 1))
    column = data.draw(st.integers(0, len(table.relations) - 1))
    wanted = data.draw(st.sampled_from([*table.entities, None]))
    names = table.subjects[row], table.relations[column]
    new = old.forget(*names) if wanted is None else old.edit(*names, wanted)

    before, expected = answers(old), answers(old)
    expected[row, column] = -1 if wanted is None else table.entities.index(wanted)
    np.testing.assert_array_equal(answers(new), expected)
    assert new.ask(*names).answer == wanted

    embedding = old.architecture.embedding
    for name, tensor in old.tensors.items():
        if name != embedding:
            assert torch.equal(new.tensors[name], tensor)
    differing = (new.tensors[embedding] != old.tensors[embedding]).any(dim=1).nonzero()[:, 0].tolist()
    changed = expected[row, column] != before[row, column]
    assert differing == [old.chain.vocabulary.entities.start + row] * int(changed)
    assert fingerprint(new) == fingerprint(written(new.table, arch))


@settings(max_examples=8)
@given(tables(), st.booleans(), st.data())
def test_edits_leave_the_old_memory_as_it_was_and_do_not_leak_into_one_another(table, tensors, data):
    old = written(table, tensors=tensors)
    before, hashed = answers(old), fingerprint(old) if tensors else None
    subject, relation = st.sampled_from(table.subjects), st.sampled_from(table.relations)
    edits = data.draw(
        st.lists(st.tuples(subject, relation, st.sampled_from(table.entities)), min_size=2, max_size=4)
    )
    for edit in edits:
        alone = old.edit(*edit)
        assert fingerprint(alone) == fingerprint(written(table.with_answer(*edit)))
    np.testing.assert_array_equal(answers(old), before)
    assert hashed in (None, fingerprint(old))

    memory, changed = old, table
    for edit in edits:
        memory, changed = memory.edit(*edit), changed.with_answer(*edit)
    queries = all_queries(changed, 2)
    path, _ = memory.recall(queries.subjects, queries.relations)
    np.testing.assert_array_equal(path, gold_entities(changed, queries))


def test_an_edit_reaches_every_form_of_the_memory(tmp_path):
    old = FactMemory.compile(FAMILY, hops=3)
    memory = old.edit("Sarah", "mother", "Helen").forget("Alice", "job")
    assert memory.certificates == FactMemory.compile(memory.table, hops=3).certificates == old.certificates
    assert memory.ask("Alice", "wife", "mother").path == ("Sarah", "Helen")
    assert memory.verify(chains=50).ok
    memory.save(tmp_path / "memory")
    loaded = FactMemory.load(tmp_path / "memory")
    assert loaded.table == memory.table
    assert fingerprint(loaded) == fingerprint(memory)
    assert loaded.ask("Alice", "job").answer is None


def test_an_edited_memory_that_was_loaded_is_saved_with_the_edit(tmp_path):
    FactMemory.compile(FAMILY, hops=3).save(tmp_path / "memory")
    loaded = FactMemory.load(tmp_path / "memory")
    loaded.edit("Sarah", "mother", "Helen").save(tmp_path / "memory", replace=True)
    again = FactMemory.load(tmp_path / "memory")
    assert again.ask("Alice", "wife", "mother").answer == "Helen"
    assert loaded.ask("Alice", "wife", "mother").answer == "Mary"
    assert again.verify(chains=50).ok


def test_a_subject_may_become_an_answer():
    memory = FactMemory.compile(FactTable.from_facts([("a", "is", "b"), ("c", "is", "b")]), hops=2)
    assert memory.edit("a", "is", "c").ask("a", "is", "is").path == ("c", "b")


@pytest.mark.parametrize(
    ("edit", "wrong"),
    [
        (("nobody", "wife", "Mary"), "nobody"),
        (("doctor", "wife", "Mary"), "doctor"),
        (("Alice", "sister", "Mary"), "sister"),
        (("Alice", "wife", "nobody"), "nobody"),
    ],
)
def test_an_edit_of_names_that_the_table_does_not_have_is_refused(edit, wrong):
    memory = FactMemory.compile(FAMILY)
    with pytest.raises(UnknownNameError, match=f"got '{wrong}'"):
        memory.edit(*edit)
    if wrong != edit[2]:
        with pytest.raises(UnknownNameError, match=f"got '{wrong}'"):
            memory.forget(*edit[:2])


def test_all_hops_that_pass_through_an_edited_fact_follow_it():
    memory = FactMemory.compile(FAMILY, hops=3)
    edited = memory.edit("Sarah", "mother", "Grace")
    queries: Queries = all_queries(FAMILY, 3)
    path, _ = edited.recall(queries.subjects, queries.relations)
    np.testing.assert_array_equal(path, gold_entities(edited.table, queries))
