"""Questions by name: what is answered, and what is refused."""

import math

import numpy as np
import pytest

from cases import WORLDS
from georecall.errors import ConstructionError, UnknownNameError
from georecall.facts.queries import Query
from georecall.facts.worlds import random_functions
from georecall.memory import FactMemory
from georecall.models.dtypes import DTYPES

FAMILY = FactMemory.compile(WORLDS["family"].table, hops=3)


def test_a_chain_is_answered_with_its_path_and_a_lead_at_every_hop():
    answer = FAMILY.ask("Alice", "wife", "mother", "husband")
    assert answer.path == ("Sarah", "Mary", "John")
    assert answer.answer == "John"
    assert len(answer.margins) == 3
    assert min(answer.margins) >= FAMILY.certificate.margin
    assert answer.to_dict() == {
        "subject": "Alice",
        "relations": ("wife", "mother", "husband"),
        "path": ("Sarah", "Mary", "John"),
        "margins": answer.margins,
        "answer": "John",
    }


def test_from_a_missing_fact_on_everything_is_unknown():
    assert FAMILY.ask("Alice", "father", "wife").path == (None, None)
    assert FAMILY.ask("Alice", "job", "wife").path == ("doctor", None)
    assert FAMILY.ask("Leo", "job").answer is None


def test_an_entity_that_is_no_subject_can_be_asked():
    assert FAMILY.ask("doctor", "job").path == (None,)


def test_names_are_asked_in_any_form_that_reads_as_the_same_name():
    memory = FactMemory.compile(WORLDS["awkward names"].table)
    relation = memory.table.relations[0]
    answer = memory.ask(" Cafe\u0301\n", f"\t{relation}")
    assert (answer.subject, answer.relations) == ("Caf\u00e9", (relation,))
    assert memory.ask("Cafe\u0301", relation).path == memory.ask("Caf\u00e9", relation).path


def test_many_questions_of_different_lengths_are_answered_as_each_alone():
    questions = [
        Query("Alice", ("wife",)),
        Query("Leo", ("mother", "husband", "job")),
        Query("doctor", ("job", "wife")),
        Query("Alice", ("wife",)),
    ]
    assert FAMILY.ask_many(questions) == [FAMILY.ask(asked.subject, *asked.relations) for asked in questions]
    assert FAMILY.ask_many([]) == []


def test_a_relation_of_minus_one_gives_the_unknown():
    path, margins = FAMILY.recall(np.array([0, 1]), np.array([[0, -1], [-1, -1]]))
    assert path[:, 1].tolist() == [-1, -1]
    assert path[1, 0] == -1
    assert margins.min() >= FAMILY.certificate.margin


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("Alicia", "wife"), "entities .* got 'Alicia'; nearest: 'Alice'"),
        (("Alice", "wive"), "relations .* got 'wive'; nearest: 'wife'"),
        (("wife", "wife"), "entities .* got 'wife'"),
        (("Alice", "Alice"), "relations .* got 'Alice'"),
        (("", "wife"), "entities .* got ''"),
        (("Alice", "wife", "wive"), "relations .* got 'wive'"),
    ],
)
def test_an_unknown_name_is_refused(question, message):
    with pytest.raises(UnknownNameError, match=message):
        FAMILY.ask(*question)


@pytest.mark.parametrize("asked", [0, 4])
def test_no_relation_and_more_than_the_limit_are_refused(asked):
    with pytest.raises(ConstructionError, match=f"1 to 3 relations .* got {asked}"):
        FAMILY.ask("Alice", *["wife"] * asked)


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"hops": 0}, {"arch": "gpt"}])
def test_what_cannot_be_compiled_is_refused(options):
    with pytest.raises(ConstructionError, match=str(*options.values())):
        FactMemory.compile(FAMILY.table, **options)


def test_a_format_in_which_the_model_is_not_exact_is_refused_and_the_exact_ones_are_named():
    table = random_functions(50_000, 1, 50_000, rng=np.random.default_rng(0))  # takes nine levels and more
    with pytest.raises(ConstructionError, match=r"100 levels .* not exact in bfloat16 .* exact in: float32"):
        FactMemory.compile(table, levels=100, dtype="bfloat16")


@pytest.mark.parametrize("dtype", DTYPES)
def test_compiling_for_a_format_changes_the_format_only(dtype):
    memory = FactMemory.compile(FAMILY.table, dtype=dtype)
    assert memory.certificate.dtype == memory.dtype == dtype
    assert memory.certificates == FAMILY.certificates
    for name, tensor in memory.tensors.items():
        assert tensor.dtype == DTYPES[dtype]
        assert tensor.equal(FAMILY.tensors[name].to(DTYPES[dtype]))


def test_the_sizes_are_those_of_the_model():
    info = FAMILY.info()
    model = FAMILY.model()
    assert info.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (info.dim, info.width) == (model.config.hidden_size, model.config.ffn_dim)
    assert (info.subjects, info.relations, info.facts) == (8, 5, 20)
    assert info.facts + info.missing == info.subjects * info.relations
    assert info.bits_per_fact == info.code_length
    assert info.bound_bits_per_fact == math.log2(len(FAMILY.table.entities))
    assert info.margin == FAMILY.certificate.margin
    assert info.to_dict()["exact_dtypes"] == ("float32", "bfloat16", "float16")
