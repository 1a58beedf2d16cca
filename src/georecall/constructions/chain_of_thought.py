"""Chain of thought: one layer that answers one hop, says it, and is asked again."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int8, Shaped

from georecall.constructions.layout import ResidualLayout
from georecall.constructions.weights import Head, Layer, Mlp, TransformerWeights
from georecall.errors import ConstructionError
from georecall.facts.table import FactTable
from georecall.facts.vocabulary import Vocabulary
from georecall.theory.codes import CompositionCode

ATTENTION_GAP = 128.0
"""Score by which attention prefers the right place: over 104, every other weight is exactly 0 in float32."""

NAME_SCORE, END_SCORE = 4.0, 2.0
"""Scale of ⟨C(a), y⟩, and the score of the end: a selected name has at least 4, a silent output 0."""

CHUNK_ROWS = 8192
"""Embedding rows made at a time: a few tens of megabytes."""


@dataclass(frozen=True)
class ChainOfThought:
    """A one-layer transformer that recalls every fact and every chain of at most K facts, step by step.

    The prompt is `r_1 … r_k ␃ … ␃ s` with `P = K + 1` relation places; the answer is `f_{r_1}(s)`, then
    `f_{r_2}` of that, …, then `␃`. Step i is asked at place `P + i − 1` and reads the relation `P` places back.

        E[entity]   = Σ_i B_i C(f_i(entity))     a superposition of its answers; C(unknown) where there is none
        E[relation] = Σ_i B_i (C' if i is the relation else C(unknown))
        E[␃]        = E[␀] = Σ_i B_i C(unknown)
        attention   : carries −G·B_i 1 for every block i in which the token read holds C(unknown), none for C'
        MLP         : y = Σ_i B_iᵀ ReLU(block i), written to the output slice
        scores      : 4⟨C(a), y⟩ for the entity or unknown a, 2 for ␃, 0 for relations

    `C'` is `C(unknown)` with two neighbouring places swapped, so one place of each block, the flag, tells them
    apart. All embeddings have the same sum and the same norm. Where a relation is read its block survives and
    the right answer leads by at least 2; where ␃ is read every block is silent and ␃, at 2, leads by 2.
    `d = (R+1)·p + 2(K+1)`, width `R·p`, for p = length of a code for E + 1 names (docs/theory.md §4).
    """

    table: FactTable
    hops: int
    levels: int = 2

    def __post_init__(self) -> None:
        """Check the hop limit."""
        if self.hops < 1:
            raise ConstructionError(f"the hop limit must be 1 or more, got {self.hops}")

    def check_hops(self, asked: int) -> None:
        """Refuse a number of relations that the prompt has no places for.

        Raises:
            ConstructionError: `asked` is not between 1 and K.

        """
        if not 1 <= asked <= self.hops:
            raise ConstructionError(f"expected 1 to {self.hops} relations (the hop limit), got {asked}")

    def with_answer(self, subject: str, relation: str, attribute: str | None) -> "ChainOfThought":
        """The construction of the table with one answer changed; it shares the code, as the entities stay."""
        chain = ChainOfThought(self.table.with_answer(subject, relation, attribute), self.hops, self.levels)
        vars(chain).update({name: vars(self)[name] for name in ("code", "codewords") if name in vars(self)})
        return chain

    @cached_property
    def code(self) -> CompositionCode:
        """The code of the entities; the unknown has codeword 0, entity e has codeword e + 1."""
        return CompositionCode.shortest(self.n_entities + 1, self.levels)

    @property
    def n_relations(self) -> int:
        """R, the number of relations."""
        return len(self.table.relations)

    @property
    def n_entities(self) -> int:
        """E, the number of names that are subjects or attributes."""
        return len(self.table.entities)

    @property
    def vocabulary(self) -> Vocabulary:
        """The token ids."""
        return Vocabulary(n_relations=self.n_relations, n_entities=self.n_entities)

    @property
    def relation_places(self) -> int:
        """P = K + 1: with all K relations given, one ␃ is left to be read after the last answer."""
        return self.hops + 1

    @property
    def context(self) -> int:
        """Longest sequence read: P relation places, the subject, and K emitted entities."""
        return self.relation_places + 1 + self.hops

    @property
    def width(self) -> int:
        """Hidden units, R·p: one for every place of every block."""
        return self.n_relations * self.code.length

    @property
    def layout(self) -> ResidualLayout:
        """R blocks of p places, p places for the output, one direction for every position."""
        return ResidualLayout.of(blocks=self.width, output=self.code.length, positions=self.context)

    @property
    def silence(self) -> float:
        """G, by which closed blocks are inhibited: far enough for layer normalisation not to reopen them."""
        return 2.0 * self.levels

    @cached_property
    def codewords(self) -> Int8[np.ndarray, "names places"]:
        """Codewords of the unknown and of every entity, in this order."""
        return self.code.unrank(np.arange(self.n_entities + 1))

    def entity_rows(self, entities: slice) -> Float64[np.ndarray, "entities dim"]:
        """Embeddings of a range of entities: the superpositions of their answers."""
        start, stop, _ = entities.indices(self.n_entities)
        names = np.zeros((stop - start, self.n_relations), dtype=np.int64)
        answers = self.table.answers[start:stop]
        names[: len(answers)] = np.append(self.table.entity_of_attribute, -1)[answers] + 1
        return self.superpose(self.codewords[names])

    def superpose(
        self, blocks: Shaped[np.ndarray, "rows relations places"]
    ) -> Float64[np.ndarray, "rows dim"]:
        """Embeddings `Σ_i B_i block_i`."""
        rows = np.zeros((len(blocks), self.layout.dim))
        rows[:, self.layout["blocks"]] = blocks.reshape(len(blocks), -1)
        return rows

    def control_rows(self) -> Float64[np.ndarray, "controls dim"]:
        """Embeddings of ␀, ␃ and the relations, in the order of the vocabulary."""
        closed, opened = self._gate_patterns()
        is_open = np.concatenate([np.zeros((2, self.n_relations)), np.eye(self.n_relations)])[..., None]
        return self.superpose(is_open * opened + (1 - is_open) * closed)

    def embedding_chunks(self, rows: int = CHUNK_ROWS) -> Iterator[Float64[np.ndarray, "rows dim"]]:
        """The embedding in the order of the vocabulary, a few rows at a time."""
        yield self.control_rows()
        for start in range(0, self.n_entities, rows):
            yield self.entity_rows(slice(start, start + rows))

    def unembedding_chunks(self, rows: int = CHUNK_ROWS) -> Iterator[Float64[np.ndarray, "rows dim"]]:
        """The unembedding in the order of the vocabulary: `4 C(a)` for names, 2 for ␃, 0 for relations."""
        yield self._name_scores(self.codewords[:1])
        yield END_SCORE * self.positions().sum(axis=0, keepdims=True)
        yield np.zeros((self.n_relations, self.layout.dim))
        for start in range(1, self.n_entities + 1, rows):
            yield self._name_scores(self.codewords[start : start + rows])

    def positions(self) -> Float64[np.ndarray, "context dim"]:
        """One direction for each position."""
        rows = np.zeros((self.context, self.layout.dim))
        rows[:, self.layout["positions"]] = np.eye(self.context)
        return rows

    def layer(self) -> Layer:
        """The attention head that reads P places back, and the MLP that selects."""
        return Layer(heads=(self._head(),), mlp=self._mlp())

    def weights(self) -> TransformerWeights:
        """All weights at once; large tables are written a few rows at a time instead."""
        return TransformerWeights(
            embedding=np.concatenate(list(self.embedding_chunks())),
            positions=self.positions(),
            layers=(self.layer(),),
            unembedding=np.concatenate(list(self.unembedding_chunks())),
            residual=True,
        )

    @property
    def _flag(self) -> int:
        """The place of a block that is 1 in C(unknown) and 0 in C': the first place of level 1."""
        return self.code.composition[0]

    def _gate_patterns(self) -> tuple[Float64[np.ndarray, "places"], Float64[np.ndarray, "places"]]:
        """C(unknown) and C'."""
        closed = self.codewords[0].astype(np.float64)
        opened = closed.copy()
        opened[[self._flag - 1, self._flag]] = closed[[self._flag, self._flag - 1]]
        return closed, opened

    def _name_scores(self, codewords: Int8[np.ndarray, "names places"]) -> Float64[np.ndarray, "names dim"]:
        rows = np.zeros((len(codewords), self.layout.dim))
        rows[:, self.layout["output"]] = NAME_SCORE * codewords
        return rows

    def _head(self) -> Head:
        dim, places = self.layout.dim, self.code.length
        position = np.zeros((self.context, dim))
        position[:, self.layout["positions"]] = np.eye(self.context)
        back = np.eye(self.context, k=self.relation_places)
        flags = np.zeros((self.n_relations, dim))
        flags[np.arange(self.n_relations), np.arange(self.n_relations) * places + self._flag] = 1
        inhibit = np.zeros((dim, self.n_relations))
        inhibit[self.layout["blocks"]] = np.repeat(np.eye(self.n_relations), places, axis=0)
        return Head(
            query=ATTENTION_GAP * back @ position, key=position, value=flags, output=-self.silence * inhibit
        )

    def _mlp(self) -> Mlp:
        dim = self.layout.dim
        select = np.zeros((self.width, dim))
        select[:, self.layout["blocks"]] = np.eye(self.width)
        write = np.zeros((dim, self.width))
        write[self.layout["output"]] = np.tile(np.eye(self.code.length), (1, self.n_relations))
        return Mlp(w1=select, b1=np.zeros(self.width), w2=write, b2=np.zeros(dim))
