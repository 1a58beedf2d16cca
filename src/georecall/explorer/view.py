"""A model laid open: its mechanism, and the rows and names that a page asks for one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from georecall.errors import GeorecallError
from georecall.explorer.mechanism import Mechanism, packed
from georecall.explorer.name_search import NameSearch

NO_FACT = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class About:
    """What a page says of a model in words, and how its tokens are numbered.

    `sizes` are pairs of a label and a value, `tensor` is the name of the embedding among the weights, and
    `command` what stands before the names in a command that changes a fact on disk, if there is one.
    """

    kind: str
    title: str
    sizes: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    relations: tuple[str, ...]
    hops: int
    tensor: str
    folder: str | None = None
    unknown: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """A model as it is explored: what can be looked at and chosen.

    Rows of the embedding, in float32 and in the directions that mean something, are numbered by the tokens that
    can stand in the position of the subject; outputs by the rows of `outputs`. `subjects` and `attributes` are the
    names among them that can be chosen; `controls` are the outputs before the attributes, by name.
    `answers` gives the outputs that are right, `NO_FACT` where there is none, for a range of rows.
    """

    about: About
    mechanism: Mechanism
    subjects: NameSearch
    attributes: NameSearch
    controls: tuple[str, ...]
    n_rows: int
    rows: Callable[[slice], Float32[np.ndarray, "rows dim"]]
    answers: Callable[[slice], Int64[np.ndarray, "rows relations"]]
    outputs: Float32[np.ndarray, "outputs scored"]

    @property
    def weights(self) -> int:
        """Numbers in the two matrices that grow with the names."""
        return self.n_rows * self.mechanism.dim + self.outputs.size

    def search(self, kind: str, text: str) -> list[dict[str, Any]]:
        """Names for what was typed: `subjects` or `attributes`; GeorecallError for another kind."""
        lists = {"subjects": self.subjects, "attributes": self.attributes}
        if kind not in lists:
            raise GeorecallError(f"expected subjects or attributes, got {kind!r}")
        names = lists[kind]
        return [{"id": number, "name": names.names[number - names.first]} for number in names.search(text)]

    def subject(self, token: int) -> dict[str, Any]:
        """A row of the embedding with the answers it should code for; GeorecallError if there is no such row."""
        _check(token, self.n_rows, "rows of the embedding")
        here = slice(token, token + 1)
        return {
            "id": token,
            "name": self._name(token, self.subjects),
            "row": self.rows(here)[0].tolist(),
            "answers": [
                None if answer == NO_FACT else self.attribute(answer)
                for answer in self.answers(here)[0].tolist()
            ],
        }

    def attribute(self, output: int) -> dict[str, Any]:
        """An output and the vector that codes for it; GeorecallError if there is no such output."""
        _check(output, len(self.outputs), "outputs")
        symbols = self.mechanism.components.shape[2]
        vector = self.outputs[output, :symbols] * np.float32(self.mechanism.code_scale)
        return {"id": output, "name": self._name(output, self.attributes), "vector": vector.tolist()}

    def top(self, state: Float32[np.ndarray, " any"], count: int) -> list[dict[str, Any]]:
        """The `count` best outputs for a final state, best first and then by id.

        Raises:
            GeorecallError: the state has another length, scores are too large for float32, or the count is not
                positive.
        """
        if len(state) != self.outputs.shape[1] or count < 1:
            raise GeorecallError(
                f"expected a state of {self.outputs.shape[1]} numbers and a count from 1 on, "
                f"got {len(state)} and {count}"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.outputs @ state
        if not np.isfinite(scores).all():
            raise GeorecallError("expected a state whose scores are finite in float32")
        best = _best(scores, min(count, len(scores)))
        return [
            {"id": output, "name": self._name(output, self.attributes), "score": float(scores[output])}
            for output in best.tolist()
        ]

    def page_data(self) -> dict[str, Any]:
        """What every page holds: words, numbering and the mechanism."""
        return {
            **vars(self.about),
            "controls": self.controls,
            "rows": self.n_rows,
            "outputs": len(self.outputs),
            "mechanism": self.mechanism.to_dict(),
        }

    def all_weights(self) -> dict[str, Any]:
        """All names, rows, answers and outputs, for a page that stands alone."""
        everything = slice(0, self.n_rows)
        shared = self.subjects is self.attributes
        return {
            "subjects": {"first": self.subjects.first, "names": self.subjects.names},
            "attributes": None
            if shared
            else {"first": self.attributes.first, "names": self.attributes.names},
            "embedding": packed(self.rows(everything), "<f4"),
            "answers": packed(self.answers(everything), "<i4"),
            "unembedding": packed(self.outputs, "<f4"),
        }

    def _name(self, number: int, names: NameSearch) -> str:
        return self.controls[number] if number < names.first else names.names[number - names.first]


def _best(scores: Float32[np.ndarray, " outputs"], count: int) -> Int64[np.ndarray, " count"]:
    """The largest scores; of those that tie with the last, the first."""
    least = np.partition(scores, -count)[-count]
    above = np.flatnonzero(scores > least)
    chosen = np.concatenate([above, np.flatnonzero(scores == least)[: count - len(above)]])
    return chosen[np.lexsort((chosen, -scores[chosen]))]


def _check(number: int, count: int, kind: str) -> None:
    if not 0 <= number < count:
        raise GeorecallError(f"expected one of {count:,} {kind}, got {number}")
