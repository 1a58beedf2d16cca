"""Which relations of a table can be probed, and what is read off for each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.statistics.folds import Split, fold_numbers, splits
from georecall.statistics.readout import reciprocal_ranks

Kind = Literal["classes", "vectors"]
LEAST_SUBJECTS = 20
"""Relations with fewer answers are skipped."""
CLASS_SIZE = 5
"""Attributes of at least so many subjects count as classes."""
PROBED_DIMENSIONS = 64
"""Principal directions of the attribute vectors that a probe estimates, at most."""
NO_SPREAD = 1e-9
"""Vectors that differ by less than this part of their length are one vector."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is read off the states for one relation: a code of each subject's attribute.

    rows       : the subjects with an answer
    attributes : the relation's own attributes, as numbers of the table's
    labels     : for each row, the place of its answer in `attributes`
    codes      : vectors of one length. An estimate ŷ ranks the attributes by their nearness, and as the lengths
                 are equal, a short ŷ, which ridge gives, does not favour vectors near the mean
    folds      : for each row, the fold in which it is held out

    Of kind `classes`, the codes are one-hot, and only attributes seen in training can be named. Of kind `vectors`,
    they are the attributes' own vectors, centred, reduced to principal directions and set to unit length, and
    every attribute of the relation can be named. A relation is judged by one of the two.
    """

    relation: str
    kind: Kind
    judged: bool
    rows: Int64[np.ndarray, " rows"]
    attributes: Int64[np.ndarray, " attributes"]
    labels: Int64[np.ndarray, " rows"]
    codes: Float64[np.ndarray, "attributes code"]
    folds: Int64[np.ndarray, " rows"]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.folds.max()) + 1

    def splits(self) -> Iterator[Split]:
        """Places in `rows` of the training part and of the part held out, fold by fold."""
        return splits(self.folds)

    def permuted(self, rng: np.random.Generator) -> "Target":
        """The same target with its answers permuted over the subjects."""
        return replace(self, labels=rng.permutation(self.labels))

    def reciprocal_ranks(
        self,
        closeness: Float64[np.ndarray, "some attributes"],
        labels: Int64[np.ndarray, " some"],
        seen: Int64[np.ndarray, " attributes"],
    ) -> Float64[np.ndarray, " some"]:
        """1 / rank of the right attribute by closeness, where a tie is lost; 0 where it cannot be named.

        `seen` says how often each attribute is in the training part.
        """
        return reciprocal_ranks(closeness, labels, (seen > 0) | (self.kind == "vectors"))

    def scores(self, ranks: Float64[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
        """What a subject scores: whether the first place is right for `classes`, 1 / rank for `vectors`."""
        return (ranks == 1).astype(np.float64) if self.kind == "classes" else ranks


def choose_targets(
    table: FactTable,
    vectors: Float64[np.ndarray, "attributes out"],
    *,
    folds: int = 5,
    seed: int = 0,
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """The targets of every relation that can be probed; the others with the reason, in words.

    A relation is judged by `classes` if at least half of its subjects share their attribute with four others or
    more, else by `vectors`. Folds are the same for relations with the same subjects.

    Raises:
        ProbingError: no relation can be probed; vectors or folds do not fit the table.
    """
    _check(table, vectors, folds)
    targets: list[Target] = []
    skipped: dict[str, str] = {}
    for relation, answers in zip(table.relations, table.answers.T, strict=True):
        found = _targets(relation, answers, vectors, folds, seed)
        if isinstance(found, str):
            skipped[relation] = found
        else:
            targets.extend(found)
    if not targets:
        reasons = "; ".join(f"{relation!r}: {reason}" for relation, reason in skipped.items())
        raise ProbingError(f"expected a relation that can be probed, got none: {reasons}")
    return tuple(targets), skipped


def principal_codes(
    vectors: Float64[np.ndarray, "attributes out"], candidates: Int64[np.ndarray, " candidates"], most: int
) -> Float64[np.ndarray, "attributes code"]:
    """All vectors, less the candidates' mean, in the candidates' principal directions, `most` of them at most.

    There are no directions if the candidates have one vector.
    """
    own = vectors[candidates]
    centred = own - own.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    kept = int((spread[:most] > NO_SPREAD * np.linalg.norm(own)).sum())
    return np.asarray((vectors - own.mean(axis=0)) @ axes[:kept].T)


def _check(table: FactTable, vectors: np.ndarray, folds: int) -> None:
    if len(vectors) != len(table.attributes) or not np.isfinite(vectors).all():
        raise ProbingError(
            f"expected a finite vector for each of the {len(table.attributes)} attributes, got {len(vectors)}"
            f"{'' if np.isfinite(vectors).all() else ', not all of them finite'}"
        )
    if not 2 <= folds <= LEAST_SUBJECTS:
        raise ProbingError(f"expected 2 to {LEAST_SUBJECTS} folds, got {folds}")


def _targets(
    relation: str, answers: np.ndarray, vectors: np.ndarray, folds: int, seed: int
) -> Sequence[Target] | str:
    rows = np.flatnonzero(answers >= 0)
    attributes, labels, counts = np.unique(answers[rows], return_inverse=True, return_counts=True)
    if len(rows) < LEAST_SUBJECTS:
        return f"{len(rows)} subjects have an answer, and {LEAST_SUBJECTS} are needed"
    if len(attributes) < 2:
        return "all subjects have the same attribute"
    codes = _codes(attributes, counts, vectors)
    if not codes:
        return "no two attributes occur twice, and all attributes have the same vector"
    shared = counts[labels] >= CLASS_SIZE
    judged = (
        "classes" if "classes" in codes and (shared.mean() >= 0.5 or "vectors" not in codes) else "vectors"
    )
    numbers = fold_numbers(len(rows), folds, seed)
    return [
        Target(
            relation=relation,
            kind=kind,
            judged=kind == judged,
            rows=rows,
            attributes=attributes,
            labels=labels.astype(np.int64),
            codes=code,
            folds=numbers,
        )
        for kind, code in codes.items()
    ]


def _codes(attributes: np.ndarray, counts: np.ndarray, vectors: np.ndarray) -> dict[Kind, np.ndarray]:
    """The codes of each kind that is defined."""
    codes: dict[Kind, np.ndarray] = {}
    if np.count_nonzero(counts >= 2) >= 2:
        codes["classes"] = np.eye(len(attributes))
    reduced = principal_codes(vectors, attributes, PROBED_DIMENSIONS)[attributes]
    if reduced.shape[1]:
        lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
        codes["vectors"] = reduced / np.maximum(lengths, NO_SPREAD * lengths.max())
    return codes
