"""What a probe may look at: hidden states by layer, a subject's name, or another of its relations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Float64, Int64
from sklearn.feature_extraction.text import TfidfVectorizer

from georecall.errors import ProbingError
from georecall.facts.table import FactTable

Parts = tuple[Float64[np.ndarray, "training features"], Float64[np.ndarray, "held_out features"]]
"""Features of the training part, and of the part held out."""


@runtime_checkable
class Inputs(Protocol):
    """The inputs of one source, of which the training part chooses one."""

    @property
    def source(self) -> str:
        """What the inputs are taken from."""

    @property
    def names(self) -> tuple[int | str, ...]:
        """The inputs: layers by number, relations by name."""

    @property
    def first(self) -> int:
        """The first input that can be chosen; those before it are only probed."""

    def split(
        self, number: int, training: Int64[np.ndarray, " training"], held_out: Int64[np.ndarray, " held_out"]
    ) -> Parts:
        """One input's features of two parts of the subjects; what must be fitted, is fitted to the first alone."""


def checked_layers(states: int, layers: Sequence[int] | None) -> tuple[int, ...]:
    """The layer of each of so many states: those given, or 0, 1, 2 …

    Raises ProbingError unless they rise from 0 to at least one other, one for each state.
    """
    found = tuple(range(states)) if layers is None else tuple(layers)
    if len(found) != states or len(found) < 2 or found[0] != 0 or list(found) != sorted(set(found)):
        raise ProbingError(f"expected layer 0 and rising layers after it, for {states} states, got {found}")
    return found


@dataclass(frozen=True, kw_only=True)
class States:
    """Hidden states; `names` are their layers. Layer 0, the embedding, is probed as a control and is never chosen.

    Raises ProbingError if a state is not finite.
    """

    source: str
    names: tuple[int | str, ...]
    values: Float32[np.ndarray, "states subjects dim"]
    first: int = 1

    def __post_init__(self) -> None:
        """Check the states."""
        finite = np.isfinite(self.values).all(axis=(1, 2))
        if not finite.all():
            layer = self.names[int(finite.argmin())]
            raise ProbingError(f"{self.source}: expected finite states, got others at layer {layer}")

    def split(
        self, number: int, training: Int64[np.ndarray, " training"], held_out: Int64[np.ndarray, " held_out"]
    ) -> Parts:
        """The states of one layer, in float64."""
        state = self.values[number].astype(np.float64)
        return state[training], state[held_out]


@dataclass(frozen=True, kw_only=True)
class NameGrams:
    """TF-IDF of the character n-grams of a subject's name, n = 1 … 4, within words and at their ends."""

    subjects: tuple[str, ...]
    source: str = "character n-grams"
    names: tuple[int | str, ...] = ("name",)
    first: int = 0

    def split(
        self, number: int, training: Int64[np.ndarray, " training"], held_out: Int64[np.ndarray, " held_out"]
    ) -> Parts:
        """The n-grams of the training names, and how often they are in either part."""
        del number
        grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4))
        fitted = grams.fit_transform([self.subjects[row] for row in training])
        others = grams.transform([self.subjects[row] for row in held_out])
        return fitted.toarray(), others.toarray()


@dataclass(frozen=True, kw_only=True)
class OtherRelations:
    """The attributes of every relation but one, each relation alone, as one-hot vectors; all zero where missing."""

    table: FactTable
    without: str
    source: str = "other relation"
    first: int = 0

    @property
    def names(self) -> tuple[int | str, ...]:
        """The other relations."""
        return tuple(relation for relation in self.table.relations if relation != self.without)

    def split(
        self, number: int, training: Int64[np.ndarray, " training"], held_out: Int64[np.ndarray, " held_out"]
    ) -> Parts:
        """The attributes of one of them."""
        column = self.table.relation_index[str(self.names[number])]
        answers = self.table.answers[:, column]
        one_hot = (answers[:, None] == np.arange(len(self.table.attributes))).astype(np.float64)
        return one_hot[training], one_hot[held_out]
