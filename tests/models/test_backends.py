"""Every form of a chain of thought gives what table look-up gives, stops by itself, and leads as certified."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from cases import WORLDS, World, gold_sequences
from georecall.facts.names import ENTITY_MARK, UNKNOWN
from georecall.facts.queries import Queries, Query, gold_entities, sample_queries
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES
from georecall.models.dtypes import DTYPES
from georecall.models.generation import generate_paths
from georecall.models.recall import RecallTransformer
from georecall.models.tokenizer import prompt_text

SMALL = [name for name, world in WORLDS.items() if not world.big]
IN_EVERY_FORMAT = ["missing facts", "three levels"]
LLAMA = [
    *IN_EVERY_FORMAT,
    "many relations",
    "six hops",
    "seven levels",
    "family",
    "one name and no fact",
    "awkward names",
    "6 names and the unknown start a code",
]
CASES = [
    *((name, "opt", dtype, None) for name in SMALL for dtype in DTYPES),
    *((name, "opt", "float32", None) for name in WORLDS if name not in SMALL),
    *((name, "llama", "float32", None) for name in LLAMA),
    *((name, "llama", dtype, None) for name in IN_EVERY_FORMAT for dtype in DTYPES if dtype != "float32"),
    *((name, arch, dtype, 1) for name in IN_EVERY_FORMAT for arch in ARCHITECTURES for dtype in DTYPES),
]
FLOAT32 = [case for case in CASES if case[2] == "float32"]
NAMED_QUERIES = 12


def case_id(case: tuple[str, str, str, int | None]) -> str:
    *parts, rotate = case
    return ", ".join(parts) + (", rotated" if rotate else "")


@dataclass(frozen=True)
class Case:
    world: World
    memory: FactMemory

    @cached_property
    def model(self) -> PreTrainedModel:
        return self.memory.model()

    @property
    def margin(self) -> float:
        """The certified margin; where a rotated state is rounded, each coordinate is in its own way."""
        slack = 0 if self.memory.chain.rotation is None else 20 * torch.finfo(DTYPES[self.memory.dtype]).eps
        return self.memory.certificate.margin - slack

    def each_length(self) -> Iterator[Queries]:
        return map(self.world.queries, range(1, self.world.hops + 1))

    def named(self, queries: Queries) -> list[Query]:
        subjects, relations = self.world.table.subjects, self.world.table.relations
        return [
            Query(subjects[subject], tuple(relations[relation] for relation in asked))
            for subject, asked in zip(queries.subjects, queries.relations, strict=True)
        ]


@cache
def compiled(name: str, arch: str = "opt", rotate: int | None = None, dtype: str = "float32") -> FactMemory:
    world = WORLDS[name]
    options = {"hops": world.hops, "levels": world.levels, "arch": arch, "rotate": rotate}
    return FactMemory.compile(world.table, dtype=dtype, **options)


@pytest.fixture(scope="module", params=CASES, ids=case_id)
def case(request) -> Case:
    name, arch, dtype, rotate = request.param
    memory = compiled(name, arch, rotate, dtype)
    assert memory.certificate.exact
    return Case(WORLDS[name], memory)


@pytest.fixture(scope="module")
def folder(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("saved") / "memory"
    case.memory.save(target)
    return target


def decode(scores: Callable, prompts: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Greedy decoding by hand: the tokens of every step, and the margins of their scores."""
    tokens, margins = prompts, []
    for _ in range(steps):
        found = scores(tokens)
        first, second = np.sort(found, axis=1)[:, :-3:-1].T
        margins.append(first - second)
        tokens = np.append(tokens, found.argmax(axis=1)[:, None], axis=1)
    return tokens[:, prompts.shape[1] :], np.stack(margins, axis=1)


@pytest.mark.parametrize("name", WORLDS)
def test_the_construction_in_numpy_answers_as_the_table_does(name):
    case = Case(WORLDS[name], compiled(name))
    weights = case.memory.chain.weights()
    for queries in case.each_length():
        prompts, gold = gold_sequences(case.memory.chain, queries)
        emitted, margins = decode(weights.scores, prompts, gold.shape[1])
        np.testing.assert_array_equal(emitted, gold)
        assert margins.min() >= 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SMALL)
def test_the_recall_transformer_answers_as_the_table_does(name, dtype):
    case = Case(WORLDS[name], compiled(name))
    model = RecallTransformer.from_weights(case.memory.chain.weights(), dtype=DTYPES[dtype])

    @torch.inference_mode()
    def scores(tokens: np.ndarray) -> np.ndarray:
        return model(torch.from_numpy(tokens))[0].double().numpy()

    for queries in case.each_length():
        prompts, gold = gold_sequences(case.memory.chain, queries)
        emitted, margins = decode(scores, prompts, gold.shape[1])
        np.testing.assert_array_equal(emitted, gold)
        assert margins.min() >= 2


def test_recall_answers_as_the_table_does_and_leads_as_certified(case):
    for queries in case.each_length():
        path, margins = case.memory.recall(queries.subjects, queries.relations)
        np.testing.assert_array_equal(path, gold_entities(case.world.table, queries))
        assert margins.min() >= case.margin


@pytest.mark.parametrize("case", FLOAT32, indirect=True, ids=case_id)
def test_questions_by_name_are_answered_as_the_table_does(case):
    table, names = case.world.table, (*case.world.table.entities, None)
    questions, expected = [], []
    for length in range(1, case.world.hops + 1):
        queries = sample_queries(table, length, NAMED_QUERIES, np.random.default_rng(length))
        questions += case.named(queries)
        expected += [tuple(names[entity] for entity in path) for path in gold_entities(table, queries)]
    answers = case.memory.ask_many(questions)
    assert [answer.path for answer in answers] == expected
    assert min(min(answer.margins) for answer in answers) >= case.margin


@pytest.mark.parametrize("case", FLOAT32, indirect=True, ids=case_id)
def test_the_stock_model_generates_what_the_table_says_and_stops(case):
    for queries in case.each_length():
        path, stops = generate_paths(case.memory.chain, case.model, queries)
        np.testing.assert_array_equal(path, gold_entities(case.world.table, queries))
        assert stops.all()


def test_the_stock_model_leads_as_certified_at_every_step(case):
    for queries in case.each_length():
        prompts, gold = gold_sequences(case.memory.chain, queries)
        sequences = torch.from_numpy(np.concatenate([prompts, gold[:, :-1]], axis=1))
        with torch.inference_mode():
            scores = case.model(sequences).logits[:, prompts.shape[1] - 1 :].double()
        best = scores.topk(2)
        np.testing.assert_array_equal(best.indices[..., 0].numpy(), gold)
        assert (best.values[..., 0] - best.values[..., 1]).min() >= case.margin


def test_the_saved_model_generates_from_text_what_the_table_says_and_stops(case, folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype == DTYPES[case.memory.dtype]
    names = [ENTITY_MARK + name for name in case.world.table.entities] + [UNKNOWN]
    for queries in case.each_length():
        texts = [
            prompt_text(question.subject, question.relations, hops=case.world.hops)
            for question in case.named(queries)
        ]
        prompts, gold = gold_sequences(case.memory.chain, queries)
        encoded = tokenizer(texts, return_tensors="pt")
        np.testing.assert_array_equal(encoded["input_ids"].numpy(), prompts)
        emitted = model.generate(**encoded)[:, prompts.shape[1] :]
        np.testing.assert_array_equal(emitted.numpy(), gold)
        assert tokenizer.batch_decode(emitted, skip_special_tokens=True) == [
            "".join(names[entity] for entity in path) for path in gold_entities(case.world.table, queries)
        ]
