"""The worlds that run through every back-end, and strategies for names and tables of all kinds."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from jaxtyping import Int64

from georecall.constructions.associative import Associative
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.constructions.direct import Direct
from georecall.constructions.disjoint import DisjointOneHop
from georecall.constructions.one_hop import OneHop
from georecall.constructions.reembedding import Reembedding
from georecall.constructions.single_answer import SingleAnswer
from georecall.constructions.weights import Head, Layer, Mlp, TransformerWeights
from georecall.facts.names import RESERVED, WHITE_SPACE, fault, normalise
from georecall.facts.queries import Queries, all_queries, gold_entities, sample_queries
from georecall.facts.readers import read_table
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections, random_functions
from georecall.models.tokenizer import prompt_ids

EXAMPLES = Path(__file__).parents[1] / "examples"

SINGLE_ANSWER: Mapping[type[SingleAnswer], int] = {
    OneHop: 1,
    DisjointOneHop: 1,
    Direct: 3,
    Associative: 3,
    Reembedding: 3,
}
"""Constructions that answer in one step, and the number of hops up to which they run through every back-end."""

STEP_BY_STEP = (ChainOfThought,)
"""Constructions that answer hop by hop and run through every back-end."""

FEW_QUERIES = 600
SAMPLED_QUERIES = 40


@dataclass(frozen=True, kw_only=True)
class World:
    """A table, the hop limit and the levels it is compiled with, and whether only some questions are asked."""

    table: FactTable
    hops: int = 2
    levels: int = 2
    big: bool = False

    def queries(self, length: int) -> Queries:
        """All questions of `length` hops, or a sample of them."""
        n_subjects, n_relations = self.table.answers.shape
        if n_subjects * n_relations**length <= FEW_QUERIES:
            return all_queries(self.table, length)
        return sample_queries(self.table, length, SAMPLED_QUERIES, np.random.default_rng(length))


def gold_sequences(
    chain: ChainOfThought, queries: Queries
) -> tuple[Int64[np.ndarray, "batch places"], Int64[np.ndarray, "batch steps"]]:
    """Token ids of the prompts and of all that must be emitted, the end included."""
    emitted = chain.vocabulary.entity_ids(gold_entities(chain.table, queries))
    end = np.full((len(emitted), 1), chain.vocabulary.end)
    prompts = prompt_ids(chain.vocabulary, queries.subjects, queries.relations, hops=chain.hops)
    return prompts, np.concatenate([emitted, end], axis=1)


def _rng() -> np.random.Generator:
    return np.random.default_rng(2024)


def _facts(*facts: str) -> FactTable:
    """Facts written as `subject relation object`."""
    return FactTable.from_facts([tuple(fact.split()) for fact in facts])


def _ring(names: tuple[str, ...], relations: tuple[str, ...]) -> FactTable:
    """Relation number k leads from every name to the one k places on."""
    steps = np.arange(len(relations))
    answers = (np.arange(len(names))[:, None] + steps) % len(names)
    return FactTable(names, relations, names, answers)


def _names(count: int) -> FactTable:
    """A table of exactly `count` entities; the code must also hold the unknown."""
    return random_functions(count, 2, count, rng=_rng(), missing=0.1)


AWKWARD = (
    "<end>",
    "<pad>",
    "|",
    "->",
    "\\n",
    "</s>",
    "<unk>",
    "[UNK]",
    "<|endoftext|>",
    "unknown",
    "None",
    "line\nbreak",
    "carriage\r\nreturn",
    "tab\tstop",
    "comma, stop",
    'double "quotes"',
    "single 'quotes'",
    "back\\slash",
    "two  spaces",
    "no\u00a0break",
    "line\u2028separator",
    "{braces} {{doubled}}",
    "```fence```",
    "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}",
    "\N{WAVING WHITE FLAG}\ufe0f\u200d\N{RAINBOW}",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u200fmarked right-to-left",
    "Caf\u00e9",
    "\u00c5ngstr\u00f6m",
    "\u6771\u4eac",
    "\ud55c\uae00",
    "\u0301starts with a combining mark",
    "\0starts with NUL",
    "\N{MATHEMATICAL BOLD CAPITAL A}",
    "007",
    "NA",
    "1e5",
    "Ann",
    "Anna",
)

WORLDS: Mapping[str, World] = {
    "bijections": World(table=random_bijections(8, 3, rng=_rng()), hops=3),
    "disjoint attributes": World(table=random_bijections(7, 3, rng=_rng(), disjoint=True)),
    "missing facts": World(table=random_functions(15, 3, 25, rng=_rng(), missing=0.3)),
    "many relations": World(table=random_functions(5, 9, 9, rng=_rng(), missing=0.1)),
    "six hops": World(table=random_functions(3, 2, 4, rng=_rng(), missing=0.05), hops=6),
    "three levels": World(table=random_functions(9, 3, 14, rng=_rng(), missing=0.2), levels=3),
    "seven levels": World(table=random_functions(9, 2, 14, rng=_rng(), missing=0.2), levels=7),
    "family": World(table=read_table(EXAMPLES / "family.csv"), hops=3),
    "one fact": World(table=_facts("a is b"), hops=3),
    "one name, which leads to itself": World(table=_facts("a is a"), hops=4),
    "one name and no fact": World(table=FactTable(("a",), ("is",), (), np.full((1, 1), -1))),
    "two names": World(table=_ring(("a", "b"), ("stay", "next")), hops=3),
    "three names": World(table=_ring(("a", "b", "c"), ("stay", "next", "last")), hops=3),
    "cycles and self-loops": World(
        table=_facts("a next b", "b next c", "c next a", "d next d", "e next a", "a back c", "d back a"),
        hops=5,
    ),
    "attributes without facts": World(
        table=_facts("Alice born London", "Bob born Paris", "Bob wed Alice"), hops=3
    ),
    "awkward names": World(table=_ring(AWKWARD, AWKWARD[3::13])),
    "5 names and the unknown fill a code": World(table=_names(5), hops=3),
    "6 names and the unknown start a code": World(table=_names(6), hops=3),
    "19 names and the unknown fill a code": World(table=_names(19)),
    "20 names and the unknown start a code": World(table=_names(20)),
    "countries": World(table=read_table(EXAMPLES / "countries" / "countries.csv"), hops=3, big=True),
    "3431 names and the unknown fill a code": World(table=_names(3431), big=True),
    "3432 names and the unknown start a code": World(table=_names(3432), big=True),
    "3433 names": World(table=_names(3433), big=True),
}


def random_weights(
    rng: np.random.Generator, *, heads: int, layers: int, residual: bool, dim: int = 5
) -> TransformerWeights:
    """A transformer of 6 tokens and 8 positions that recalls nothing in particular."""

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) / shape[-1] ** 0.5

    def head() -> Head:
        return Head(query=draw(4, dim), key=draw(4, dim), value=draw(4, dim), output=draw(dim, 4))

    def layer() -> Layer:
        mlp = Mlp(w1=draw(7, dim), b1=draw(7), w2=draw(dim, 7), b2=draw(dim))
        return Layer(heads=tuple(head() for _ in range(heads)), mlp=mlp)

    return TransformerWeights(
        embedding=draw(6, dim),
        positions=draw(8, dim),
        layers=tuple(layer() for _ in range(layers)),
        unembedding=draw(3, dim),
        residual=residual,
    )


names: st.SearchStrategy[str] = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=RESERVED), min_size=1, max_size=6)
    .map(normalise)
    .filter(lambda name: fault(name) is None)
)
"""Names that a table takes, from all of Unicode."""

accented_names: st.SearchStrategy[str] = st.text(
    st.characters(min_codepoint=0xC0, max_codepoint=0x24F).filter(
        lambda letter: len(unicodedata.normalize("NFD", letter)) > 1
    ),
    min_size=1,
    max_size=4,
)
"""Names in NFC that look different in NFD."""

white_space: st.SearchStrategy[str] = st.text(WHITE_SPACE, max_size=3)


@st.composite
def tables(draw: st.DrawFn, *, named: st.SearchStrategy[str] = names) -> FactTable:
    """Small tables: some entities are subjects, some attributes, some both, and some facts are missing."""
    entities = draw(st.lists(named, min_size=1, max_size=7, unique=True))
    subjects = entities[: draw(st.integers(1, len(entities)))]
    attributes = draw(st.permutations(entities[draw(st.integers(0, len(subjects))) :]))
    relations = draw(st.lists(named, min_size=1, max_size=3, unique=True))
    answer = st.integers(-1, len(attributes) - 1)
    rows = st.lists(answer, min_size=len(relations), max_size=len(relations))
    answers = draw(st.lists(rows, min_size=len(subjects), max_size=len(subjects)))
    return FactTable(tuple(subjects), tuple(relations), tuple(attributes), np.array(answers, dtype=np.int64))


@st.composite
def chains(draw: st.DrawFn, *, named: st.SearchStrategy[str] = names) -> ChainOfThought:
    """Constructions of small tables with any hop limit and number of levels."""
    return ChainOfThought(draw(tables(named=named)), draw(st.integers(1, 4)), levels=draw(st.integers(2, 5)))
