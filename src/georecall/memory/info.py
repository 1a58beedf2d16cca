"""Sizes of a memory, beside what theory says it needs."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from georecall.constructions.certificate import Basis

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory


@dataclass(frozen=True, kw_only=True)
class MemoryInfo:
    """Sizes of a memory.

    `bits_per_fact` is what the code spends on a fact, p·log2 L; `bound_bits_per_fact` is what any memory needs
    that could hold any entity in any cell, log2 E. `margin` is the certified least lead of a right score, and
    `basis` how it is known: "proved", "asked" or "sampled" (see `constructions.certificate.Certificate`); of a
    rotated memory `asked` of `steps` were asked.
    """

    subjects: int
    relations: int
    attributes: int
    facts: int
    missing: int
    architecture: str
    hops: int
    levels: int
    rotation: int | None
    code_length: int
    dim: int
    width: int
    parameters: int
    bits_per_fact: float
    bound_bits_per_fact: float
    dtype: str
    margin: float
    basis: Basis
    asked: int
    steps: int
    exact_dtypes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def memory_info(memory: "FactMemory") -> MemoryInfo:
    """Count and compare."""
    table, chain = memory.table, memory.chain
    shapes = [source.shape for source in memory.architecture.tensors(chain).values()]
    return MemoryInfo(
        subjects=len(table.subjects),
        relations=len(table.relations),
        attributes=len(table.attributes),
        facts=table.n_facts,
        missing=table.answers.size - table.n_facts,
        architecture=memory.architecture.name,
        hops=chain.hops,
        levels=chain.levels,
        rotation=chain.rotation,
        code_length=chain.code.length,
        dim=chain.layout.dim,
        width=chain.width,
        parameters=sum(math.prod(shape) for shape in shapes),
        bits_per_fact=chain.code.bits_per_codeword,
        bound_bits_per_fact=math.log2(chain.n_entities),
        dtype=memory.dtype,
        margin=memory.certificate.margin,
        basis=memory.certificate.basis,
        asked=memory.certificate.asked,
        steps=memory.certificate.steps,
        exact_dtypes=memory.exact_dtypes,
    )
