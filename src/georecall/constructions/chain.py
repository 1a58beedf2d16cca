"""Chains of thought: one layer that answers one hop, says it, and is asked again."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int8, Int64, Shaped

from georecall.constructions.layout import ResidualLayout
from georecall.constructions.rotation import random_rotation
from georecall.errors import ConstructionError
from georecall.facts.table import FactTable
from georecall.facts.vocabulary import Vocabulary
from georecall.theory.code import Code
from georecall.theory.code_registry import COMPOSITION, shortest_code

NAME_SCORE, END_SCORE = 4.0, 2.0
"""Scale of ⟨C(a), y⟩, and the score of the end: a selected name has at least 4, a silent output 0."""

CHUNK_ROWS = 1024
"""Embedding rows made at a time: a megabyte or two, which stay in the cache until they are written."""


@dataclass(frozen=True)
class Chain(ABC):
    """What every chain of thought shares: code, prompt, embeddings, gates, and the scores of the outputs.

    The prompt is `r_1 … r_k ␃ … ␃ s` with `P = K + 1` relation positions; the answer is `f_{r_1}(s)`, then
    `f_{r_2}` of that, …, then `␃`. Step i is asked at position `P + i − 1` and reads the relation `P` positions back.

        E[entity]   = Σ_i B_i C(f_i(entity))     a superposition of its answers; C(unknown) where there is none
        E[relation] = Σ_i B_i (C' if i is the relation else C(unknown))
        E[␃], E[␀]  = Σ_i B_i C(unknown)
        attention   : carries −G·B_i 1 for every block i in which the token read holds C(unknown), none for C'
        MLP         : y = Σ_i B_iᵀ (block i if it is open else 0), written to the output slice
        scores      : 4⟨C(a), y⟩ for the entity or unknown a, 2 for ␃, 0 for relations

    `C'` is `C(unknown)` with two neighbouring symbols swapped, so one symbol of each block, the flag, tells them
    apart. All embeddings have the same sum and the same norm. Where a relation is read its block survives and
    the right answer leads by at least 2; where ␃ is read every block is silent and ␃, at 2 or more, leads
    (docs/theory.md §4). With `rotation`, the seed of a random rotation of the stream, the same function has
    dense superpositions.
    """

    table: FactTable
    hops: int
    levels: int = field(default=2, kw_only=True)
    code_name: str = field(default=COMPOSITION, kw_only=True)
    rotation: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the hop limit."""
        if self.hops < 1:
            raise ConstructionError(f"the hop limit must be 1 or more, got {self.hops}")

    def check_hops(self, asked: int) -> None:
        """Refuse a number of relations that the prompt has no positions for.

        Raises:
            ConstructionError: `asked` is not between 1 and K.
        """
        if not 1 <= asked <= self.hops:
            raise ConstructionError(f"expected 1 to {self.hops} relations (the hop limit), got {asked}")

    def with_answer(self, subject: str, relation: str, attribute: str | None) -> "Chain":
        """The construction of the table with one answer changed; it shares the code, as the entities stay."""
        chain = replace(self, table=self.table.with_answer(subject, relation, attribute))
        shared = ("code", "codewords", "_rotation")
        vars(chain).update({name: vars(self)[name] for name in shared if name in vars(self)})
        return chain

    @property
    @abstractmethod
    def layout(self) -> ResidualLayout:
        """The named directions; the slices "blocks" and "output" are always there."""

    @property
    def layer_parameters(self) -> int:
        """At least as many parameters as a stock layer has: four square matrices, three of the MLP."""
        return self.layout.dim * (4 * self.layout.dim + 3 * self.width)

    @property
    @abstractmethod
    def inhibition_strength(self) -> float:
        """G, by which closed blocks are inhibited."""

    @property
    @abstractmethod
    def constant_direction(self) -> Float64[np.ndarray, "1 dim"]:
        """The direction along which every state that is asked has 1; ␃ has its score from it."""

    def positions(self) -> Float64[np.ndarray, "context dim"]:
        """What each position adds to the token in it: nothing, unless the construction says otherwise."""
        return np.zeros((self.context, self.layout.dim))

    # Sizes

    @cached_property
    def code(self) -> Code:
        """The code of the entities; the unknown has codeword 0, entity e has codeword e + 1."""
        return shortest_code(self.n_entities + 1, self.levels, name=self.code_name)

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
    def relation_positions(self) -> int:
        """P = K + 1: with all K relations given, one ␃ is left to be read after the last answer."""
        return self.hops + 1

    @property
    def scored(self) -> slice:
        """Coordinates of the stream outside of which every score's weights are 0."""
        return slice(self.layout["output"].start if self.rotation is None else 0, self.layout.dim)

    @property
    def context(self) -> int:
        """Longest sequence read: P relation positions, the subject, and K emitted entities."""
        return self.relation_positions + 1 + self.hops

    @property
    def width(self) -> int:
        """Hidden units, R·p: one for every symbol of every block."""
        return self.n_relations * self.code.length

    def directions(self, part: str) -> Float64[np.ndarray, "dim part"]:
        """The direction, a column, of every coordinate of a slice of the layout: unit vectors, rotated if asked for."""
        chosen = self.layout[part]
        if self._rotation is not None:
            return self._rotation[:, chosen]
        return np.eye(self.layout.dim, chosen.stop - chosen.start, k=-chosen.start)

    def unrotated(self, vectors: Shaped[np.ndarray, "*batch dim"]) -> Shaped[np.ndarray, "*batch dim"]:
        """Vectors of the stream in the coordinates of the layout."""
        return vectors if self._rotation is None else vectors @ self._rotation

    @cached_property
    def _rotation(self) -> Float64[np.ndarray, "dim dim"] | None:
        return None if self.rotation is None else random_rotation(self.layout.dim, self.rotation)

    # Weights

    @cached_property
    def codewords(self) -> Int8[np.ndarray, "names symbols"]:
        """Codewords of the unknown and of every entity, in this order."""
        return self.code.first_words(self.n_entities + 1)

    def entity_rows(self, entities: slice) -> Float64[np.ndarray, "entities dim"]:
        """Embeddings of a range of entities: the superpositions of their answers."""
        return self.superpose(self.codewords[self.names_of(entities)])

    def names_of(self, entities: slice) -> Int64[np.ndarray, "entities relations"]:
        """Index of the codeword of every answer of a range of entities; 0 where it is unknown."""
        start, stop, _ = entities.indices(self.n_entities)
        names = np.zeros((stop - start, self.n_relations), dtype=np.int64)
        answers = self.table.answers[start:stop]
        names[: len(answers)] = self._name_of_answer[answers]
        return names

    @cached_property
    def _name_of_answer(self) -> Int64[np.ndarray, " answers"]:
        """Index of the codeword of every attribute, and at last, where −1 finds it, of the unknown."""
        return np.append(self.table.entity_of_attribute + 1, 0)

    def superpose(
        self, blocks: Shaped[np.ndarray, "rows relations symbols"]
    ) -> Float64[np.ndarray, "rows dim"]:
        """Embeddings of entities `Σ_i B_i block_i`."""
        return self._rows(blocks=blocks.reshape(len(blocks), -1))

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
        yield self._rows(output=NAME_SCORE * self.codewords[:1])
        yield END_SCORE * self.constant_direction
        yield np.zeros((self.n_relations, self.layout.dim))
        for start in range(1, self.n_entities + 1, rows):
            yield self._rows(output=NAME_SCORE * self.codewords[start : start + rows])

    def flag_reader(self) -> Float64[np.ndarray, "relations dim"]:
        """Reads the flag of every block: 1 where the block of the token read says "closed", 0 for "open"."""
        flags = np.zeros((self.n_relations, self.width))
        relations = np.arange(self.n_relations)
        flags[relations, relations * self.code.length + self.code.flag] = 1
        return self._rows(blocks=flags)

    def inhibition(self) -> Float64[np.ndarray, "dim relations"]:
        """Carries each flag to its block: −G·B_i 1."""
        blocks = np.repeat(np.eye(self.n_relations), self.code.length, axis=1)
        return -self.inhibition_strength * self._rows(blocks=blocks).T

    def select(self, units: slice = slice(None)) -> Float64[np.ndarray, "units dim"]:
        """Reads every symbol of every block; the rows of a range of hidden units."""
        start, stop, _ = units.indices(self.width)
        return self._rows(blocks=np.eye(stop - start, self.width, k=start))

    def block_sums(self, units: slice = slice(None)) -> Float64[np.ndarray, "units dim"]:
        """Reads, for every symbol of every block, the sum of its block; the rows of a range of hidden units."""
        block = np.arange(self.width) // self.code.length
        return self._rows(blocks=(block[units, None] == block).astype(np.float64))

    def write(self, coordinates: slice = slice(None)) -> Float64[np.ndarray, "coordinates width"]:
        """Writes the sum of the blocks, symbol by symbol, to the output slice; the rows of a range of coordinates."""
        return np.tile(self.directions("output")[coordinates], self.n_relations)

    def _rows(self, **parts: Shaped[np.ndarray, "rows _"]) -> Float64[np.ndarray, "rows dim"]:
        """Vectors of the stream given by their values on slices of the layout."""
        rows = np.zeros((len(next(iter(parts.values()))), self.layout.dim))
        for name, part in parts.items():
            rows[:, self.layout[name]] = part
        return rows if self._rotation is None else rows @ self._rotation.T

    def _gate_patterns(self) -> tuple[Float64[np.ndarray, "symbols"], Float64[np.ndarray, "symbols"]]:
        """C(unknown) and C'."""
        closed = self.codewords[0].astype(np.float64)
        opened, flag = closed.copy(), self.code.flag
        opened[[flag - 1, flag]] = closed[[flag, flag - 1]]
        return closed, opened
