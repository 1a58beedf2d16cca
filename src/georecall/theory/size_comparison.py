"""The smallest model that each construction gives, beside what no model can go below."""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from georecall.errors import GeorecallError
from georecall.theory.bounds import (
    LowerBound,
    bits_per_fact_bound,
    no_cot_dimension,
    no_cot_parameters,
    one_hop_dimension,
)
from georecall.theory.sizes import (
    ConstructionSize,
    associative_size,
    chain_of_thought_size,
    direct_size,
    one_hop_size,
    reembedding_size,
)

Kind = Literal["one hop", "direct", "associative", "re-embedding", "chain of thought"]

MOST_DIGITS = 300
"""Of N·k·R^k and of P, so that every bound is a finite float."""


@dataclass(frozen=True, kw_only=True)
class SmallestModel:
    """A construction that answers k hops about any table of R bijections of N subjects.

    `stored_bytes` are those of its parameters at b bits each. `other_parameters` lie outside the embeddings of
    the subjects; any model of this dimension without a chain of thought has at least `least_other_parameters`
    that depend on the table (None for a chain of thought, of which nothing is proved).
    """

    kind: Kind
    size: ConstructionSize
    stored_bytes: int
    other_parameters: int
    least_other_parameters: int | None

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class SizeComparison:
    """Lower bounds at b bits a parameter and P = `other_parameters`, and the model of every construction.

    `no_cot` bounds the dimension for k hops without a chain of thought, `one_hop` for one hop. `bits_per_fact`
    is what the code spends, p·log2 L; for N random attributes at least `bits_per_fact_bound` are needed.
    """

    subjects: int
    relations: int
    hops: int
    bits: int | float
    levels: int
    other_parameters: int
    bits_per_fact: float
    bits_per_fact_bound: float
    one_hop: LowerBound
    no_cot: LowerBound
    models: tuple[SmallestModel, ...]

    def dimension(self, kind: Kind) -> int:
        """The dimension of one kind of model."""
        return next(model.size.dimension for model in self.models if model.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def smallest_models(
    n_subjects: int,
    n_relations: int,
    hops: int,
    *,
    bits: int | float,
    levels: int = 2,
    other_parameters: int = 0,
) -> SizeComparison:
    """Every construction that answers k hops, at its size, next to the lower bounds.

    Raises GeorecallError for N < 2, R < 1, k < 1, P < 0, for bits that cannot tell L levels apart and for
    N·k·R^k or P of more than 300 digits, CodeError for levels outside 2 … 127. Source: docs/theory.md §3 to §5.
    """
    sizes = _sizes(n_subjects, n_relations, hops, levels)
    _check_digits("P", math.log10(max(other_parameters, 1)))
    no_cot = no_cot_dimension(n_subjects, n_relations, hops, bits=bits, other_parameters=other_parameters)
    _check_bits(bits, levels)
    return SizeComparison(
        subjects=n_subjects,
        relations=n_relations,
        hops=hops,
        bits=bits,
        levels=levels,
        other_parameters=other_parameters,
        bits_per_fact=sizes["chain of thought"].code_length * math.log2(levels),
        bits_per_fact_bound=bits_per_fact_bound(n_subjects),
        one_hop=one_hop_dimension(n_subjects, n_relations, bits=bits, other_parameters=other_parameters),
        no_cot=no_cot,
        models=tuple(
            SmallestModel(
                kind=kind,
                size=size,
                stored_bytes=math.ceil(size.parameters * Fraction(bits) / 8),
                other_parameters=size.parameters - n_subjects * size.dimension,
                least_other_parameters=None
                if kind == "chain of thought"
                else no_cot_parameters(
                    n_subjects, n_relations, hops, bits=bits, dimension=size.dimension
                ).least,
            )
            for kind, size in sizes.items()
        ),
    )


def along_hops(asked: SizeComparison) -> list[SizeComparison]:
    """The same comparison for k = 1, 2, … up to the k asked, or 6."""
    return [_again(asked, asked.subjects, hops) for hops in range(1, max(asked.hops, 6) + 1)]


def along_subjects(asked: SizeComparison) -> list[SizeComparison]:
    """The same comparison for N = 2^6, 2^7, …, 2^33, or from and to the powers of 2 around the N asked."""
    above = asked.subjects.bit_length()
    return [_again(asked, 2**power, asked.hops) for power in range(min(6, above - 1), max(33, above) + 1)]


def _again(asked: SizeComparison, n_subjects: int, hops: int) -> SizeComparison:
    return smallest_models(
        n_subjects,
        asked.relations,
        hops,
        bits=asked.bits,
        levels=asked.levels,
        other_parameters=asked.other_parameters,
    )


def _sizes(n_subjects: int, n_relations: int, hops: int, levels: int) -> dict[Kind, ConstructionSize]:
    world = (n_subjects, n_relations, hops)
    chain = chain_of_thought_size(*world, levels=levels)  # refuses what is no world before R^k is worked out
    _check_digits(
        "N·k·R^k", math.log10(n_subjects * hops) + min(hops, 4 * MOST_DIGITS) * math.log10(n_relations)
    )
    several: dict[Kind, ConstructionSize] = {
        "direct": direct_size(*world, levels=levels),
        "associative": associative_size(*world, levels=levels),
        "re-embedding": reembedding_size(*world, levels=levels),
        "chain of thought": chain,
    }
    if hops > 1:
        return several
    return {"one hop": one_hop_size(n_subjects, n_relations, levels=levels), **several}


def _check_digits(name: str, digits: float) -> None:
    if digits > MOST_DIGITS:
        raise GeorecallError(f"expected {name} of at most {MOST_DIGITS} digits, got {digits:.0f} or more")


def _check_bits(bits: int | float, levels: int) -> None:
    if bits < math.log2(levels):
        raise GeorecallError(
            f"bits must be at least log2 {levels} = {math.log2(levels):.4g}, as the entries of a code of {levels} "
            f"levels are, got {bits}"
        )
