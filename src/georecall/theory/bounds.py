"""Lower bounds by counting: what no exact memory can go below.

n parameters of `bits` bits take at most 2^(bits·n) values, so they cannot recall more tables than that, where
any two tables differ in an answer. Only parameters that may depend on the table count: `other_parameters` (P)
are all of those outside the subject embeddings (MLP, attention, a trained unembedding); P = 0 says that
everything else was fixed before the table was known.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

from georecall.errors import GeorecallError

_ROUNDING = 1e-14  # relative, and more than the error of the logarithms: no ceiling may exceed the truth


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """A number that no exact memory can go below, and the count that proves it.

    `value` is the real bound (at least 0) and `least` its ceiling, with rounding errors given away. The proof
    counts tables that differ in `answers` answers about each of `subjects` subjects, the roots of trees in which
    every inner node has `branching` children (0: nothing is proved).
    """

    value: float
    least: int
    subjects: int
    answers: int
    branching: int

    def to_dict(self) -> dict[str, float | int]:
        """The fields by name."""
        return asdict(self)


_NOTHING = LowerBound(value=0.0, least=0, subjects=0, answers=0, branching=0)


def log2_factorial(n: int) -> float:
    """log2 n!, with a relative error below 1e-14.

    Raises GeorecallError for n < 0.
    """
    _require("n", n, 0)
    return math.lgamma(n + 1) / math.log(2)


def bits_per_fact_bound(n_subjects: int) -> float:
    """Least bits a fact for uniformly random bijections of N subjects, log2(N!)/N ≈ log2 N − 1.4427.

    A constant-composition code of p symbols over L levels takes p·log2 L bits a fact and is never below it, as
    L^p ≥ its capacity ≥ N and N^N ≥ N!. Raises GeorecallError for N < 1. Source: docs/theory.md §5.
    """
    _require("n_subjects", n_subjects, 1)
    return log2_factorial(n_subjects) / n_subjects


def one_hop_bits(n_subjects: int, n_relations: int) -> float:
    """Bits that tell all tables of R bijections of N subjects apart, R·log2 N!.

    Raises GeorecallError for N < 1 or R < 1. Source: docs/theory.md §5.
    """
    _require("n_subjects", n_subjects, 1)
    _require("n_relations", n_relations, 1)
    return n_relations * log2_factorial(n_subjects)


def one_hop_dimension(
    n_subjects: int, n_relations: int, *, bits: int | float, other_parameters: int = 0
) -> LowerBound:
    """Least d with bits·(N·d + P) ≥ R·log2 N!, for exact recall of every table of R bijections.

    Raises GeorecallError for N < 1, R < 1, P < 0 or bits ≤ 0. Source: docs/theory.md §5.
    """
    _require_bits(bits)
    _require("other_parameters", other_parameters, 0)
    count = _Count(n_subjects, n_relations, 1, one_hop_bits(n_subjects, n_relations) / bits)
    return count.bound(given=other_parameters, share=n_subjects)


def no_cot_dimension(
    n_subjects: int, n_relations: int, hops: int, *, bits: int | float, other_parameters: int = 0
) -> LowerBound:
    """Least d for exact k-hop recall with no chain of thought: d ≥ A·log2(N/2)/bits − P/T, best T and A.

    Claim. Let S = 1 + B + … + B^(k−1) for some B ≤ R, let T·S ≤ N/2 and A = B^(k−1)·R. If the answer to
    (s; r_1 … r_k) depends on the embedding of no subject but s, then bits·(T·d + P) ≥ T·A·log2(N/2).

    Proof. Fix T roots and, on T·S distinct subjects, disjoint trees of depth k−1 in which every inner node
    has one child by each of the relations 1 … B. This prescribes f_1 … f_B on the inner nodes, one to one,
    and nothing on the m = T·B^(k−1) nodes of depth k−1. There each of the R relations may be any one-to-one
    map that avoids its prescribed images, and every choice extends to a bijection. A relation chooses m
    images one after another, each among at least N − T·S + 1 > N/2 subjects, so there are at least
    (N/2)^(m·R) worlds. The paths to the nodes of depth k−1 are the same in all of them, so the k-hop answers
    about the T roots spell the choice out: different worlds need different weights, and only T·d + P
    parameters are read. ∎

    The bound on d grows with T, so T = ⌊N/2S⌋ is the best for each B. Every B ≤ R is tried: B < R proves
    something where R^(k−1) exceeds N. If B = R is admissible, either d ≥ R^k·log2(N/2)/(2·bits) or
    P ≥ T·R^k·log2(N/2)/(2·bits), which is Ω(N·R·log N/bits) for R ≥ 2.

    The number of layers does not enter. Not covered: chain of thought, which reads the embeddings of the
    subjects it names; an unembedding tied to the subject embeddings; tables recalled only in part. For k = 1
    and a large P `one_hop_dimension`, which counts the answers of all subjects, proves more.
    Raises GeorecallError for N < 2, R < 1, k < 1, P < 0 or bits ≤ 0. Source: docs/theory.md §5.
    """
    _require("other_parameters", other_parameters, 0)
    counts = _evaluation_trees(n_subjects, n_relations, hops, bits=bits)
    best = max(counts, key=lambda count: (count.parameters - other_parameters) / count.subjects, default=None)
    return best.bound(given=other_parameters, share=best.subjects) if best else _NOTHING


def no_cot_parameters(
    n_subjects: int, n_relations: int, hops: int, *, bits: int | float, dimension: int
) -> LowerBound:
    """Least P for a given d by the claim of `no_cot_dimension`: P ≥ T·(A·log2(N/2)/bits − d).

    At the best T and A, which need not be those that are best for d.
    Raises GeorecallError for N < 2, R < 1, k < 1, d < 0 or bits ≤ 0. Source: docs/theory.md §5.
    """
    _require("dimension", dimension, 0)
    counts = _evaluation_trees(n_subjects, n_relations, hops, bits=bits)
    best = max(counts, key=lambda count: count.parameters - count.subjects * dimension, default=None)
    return best.bound(given=best.subjects * dimension, share=1) if best else _NOTHING


class _Count(NamedTuple):
    """Telling tables apart by `answers` answers about each of `subjects` takes `parameters` parameters."""

    subjects: int
    answers: int
    branching: int
    parameters: float

    def bound(self, *, given: int, share: int) -> LowerBound:
        """Least x ≥ 0 with share·x + given ≥ parameters."""
        value = (self.parameters - given) / share
        least = math.ceil((self.parameters * (1 - _ROUNDING) - given) / share)
        return LowerBound(
            value=max(value, 0.0),
            least=max(least, 0),
            subjects=self.subjects,
            answers=self.answers,
            branching=self.branching,
        )


def _evaluation_trees(n_subjects: int, n_relations: int, hops: int, *, bits: int | float) -> Iterator[_Count]:
    """The most trees of every admissible branching, as in the proof of `no_cot_dimension`."""
    _require("n_subjects", n_subjects, 2)
    _require("n_relations", n_relations, 1)
    _require("hops", hops, 1)
    _require_bits(bits)
    per_answer = math.log2(n_subjects / 2) / bits
    branchings = range(1, n_relations + 1) if hops > 1 else (1,)  # of one hop, a root is the whole tree
    for branching in branchings:
        if branching > 1 and hops > n_subjects.bit_length():
            return  # more than N nodes; a power that may be huge is not worked out
        nodes = hops if branching == 1 else (branching**hops - 1) // (branching - 1)
        trees = n_subjects // (2 * nodes)
        if trees == 0:
            return
        answers = branching ** (hops - 1) * n_relations
        yield _Count(trees, answers, branching, trees * answers * per_answer)


def _require(name: str, value: int, least: int) -> None:
    if value < least:
        raise GeorecallError(f"{name} must be at least {least}, got {value}")


def _require_bits(bits: int | float) -> None:
    if not 0 < bits < math.inf:
        raise GeorecallError(f"bits must be positive and finite, got {bits}")
