"""Queries, their answers by table look-up, and the one definition of a right answer."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64

from georecall.errors import GeorecallError
from georecall.facts.table import FactTable

MAX_QUERIES = 10**8


@dataclass(frozen=True)
class Query:
    """A question by names: the attribute that the relations, followed in order, lead to from the subject."""

    subject: str
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Queries:
    """Questions by indices into the subjects and relations of one table."""

    subjects: Int64[np.ndarray, " batch"]
    relations: Int64[np.ndarray, "batch hops"]

    def split(self, size: int) -> Iterator["Queries"]:
        """The queries in order, at most `size` at a time."""
        for start in range(0, len(self.subjects), size):
            part = slice(start, start + size)
            yield Queries(self.subjects[part], self.relations[part])


def all_queries(table: FactTable, hops: int) -> Queries:
    """All N R^k queries of k hops, ordered by subject, then by the relations from first to last.

    Raises GeorecallError if hops is below one, or there are more than 10^8 queries.
    """
    _check_hops(hops)
    n_subjects, n_relations = table.answers.shape
    digits = math.log10(n_subjects) + hops * math.log10(n_relations)
    if digits > 9 or n_subjects * n_relations**hops > MAX_QUERIES:
        size = f"{n_subjects}·{n_relations}^{hops}, about 10^{digits:.1f}"
        raise GeorecallError(f"expected at most 10^8 queries, got {size}; draw some with sample_queries")
    subject, chain = np.divmod(np.arange(n_subjects * n_relations**hops), n_relations**hops)
    places = n_relations ** np.arange(hops - 1, -1, -1)
    return Queries(subject, chain[:, None] // places % n_relations)


def sample_queries(table: FactTable, hops: int, count: int, rng: np.random.Generator) -> Queries:
    """Queries of k hops drawn uniformly and independently, with replacement.

    Raises GeorecallError if hops is below one, or count is negative.
    """
    _check_hops(hops)
    if count < 0:
        raise GeorecallError(f"expected a count of at least 0, got {count}")
    n_subjects, n_relations = table.answers.shape
    return Queries(rng.integers(n_subjects, size=count), rng.integers(n_relations, size=(count, hops)))


def gold_paths(table: FactTable, queries: Queries) -> Int64[np.ndarray, "batch hops"]:
    """Index of the attribute reached after each hop; -1 from the first hop on that is unknown.

    p_0 = s,  a_h = answers[p_{h-1}, r_h],  p_h = the subject that a_h is. A hop is unknown when the fact is
    missing or when the entity it starts from is no subject.

    Raises GeorecallError if a subject or relation index is not in the table.
    """
    _check_indices("subject", queries.subjects, len(table.subjects))
    _check_indices("relation", queries.relations, len(table.relations))
    next_subject = np.append(table.subject_of_attribute, -1)  # the last entry serves the unknown, -1
    paths = np.empty_like(queries.relations)
    at = queries.subjects
    for hop, relation in enumerate(queries.relations.T):
        paths[:, hop] = np.where(at >= 0, table.answers[at, relation], -1)
        at = next_subject[paths[:, hop]]
    return paths


def gold_entities(table: FactTable, queries: Queries) -> Int64[np.ndarray, "batch hops"]:
    """Index in `entities` of what `gold_paths` gives; -1 where it is unknown. Raises as `gold_paths` does."""
    entities: np.ndarray = np.append(table.entity_of_attribute, -1)[gold_paths(table, queries)]
    return entities


def correct(
    scores: Float[np.ndarray, "batch attributes"], gold: Int64[np.ndarray, " batch"]
) -> Bool[np.ndarray, " batch"]:
    """Whether the gold attribute's score is strictly greater than every other and no score in the row is NaN.

    A tie is wrong, and so is every row whose gold answer is unknown, -1.

    Raises GeorecallError if a gold answer is no attribute.
    """
    _check_indices("gold", gold, scores.shape[1], least=-1)
    right = np.zeros(len(gold), dtype=np.bool_)
    rows = np.flatnonzero(gold >= 0)
    known = scores[rows]
    as_high = known >= scores[rows, gold[rows]][:, None]  # gold itself and every rival
    right[rows] = (np.count_nonzero(as_high, axis=1) == 1) & ~np.isnan(known).any(axis=1)
    return right


def margins(
    scores: Float[np.ndarray, "batch attributes"], gold: Int64[np.ndarray, " batch"]
) -> Float[np.ndarray, " batch"]:
    """The gold attribute's score minus the best other; positive exactly where the answer is `correct`.

    -inf where gold is unknown, -1; otherwise NaN where the row has a NaN, inf where there is no other
    attribute, and 0 where gold and the best other are the same infinity.

    Raises GeorecallError if a gold answer is no attribute.
    """
    _check_indices("gold", gold, scores.shape[1], least=-1)
    result = np.full(len(gold), -np.inf, dtype=scores.dtype)
    rows = np.flatnonzero(gold >= 0)
    score = scores[rows, gold[rows]]
    others = scores[rows]
    others[np.arange(len(rows)), gold[rows]] = -np.inf
    best = others.max(axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = score - best
    result[rows] = np.where(score == best, 0 if scores.shape[1] > 1 else np.inf, gap)
    return result


def _check_hops(hops: int) -> None:
    if hops < 1:
        raise GeorecallError(f"expected at least 1 hop, got {hops}")


def _check_indices(kind: str, indices: np.ndarray, size: int, *, least: int = 0) -> None:
    if indices.size and (indices.min() < least or indices.max() >= size):
        raise GeorecallError(
            f"expected {kind} indices from {least} to {size - 1}, got {indices.min()} to {indices.max()}"
        )
