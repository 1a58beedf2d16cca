"""The price of attribute codes as tables in Markdown, those of docs/codes.md."""

import math
from collections.abc import Iterable, Iterator

from georecall.theory.bounds import bits_per_fact_bound
from georecall.theory.sizes import ConstructionSize, one_hop_size

LEVELS = (2, 3, 4, 8, 16)
SUBJECTS = tuple(10**exponent for exponent in range(2, 10))
RELATIONS = 8


def code_tables() -> str:
    """Two tables with a row for every N: p and d = R·p, then bits a fact, p·log2 L, for every L.

    p is that of the one-hop construction: the length of a code of N attributes and the unknown.
    """
    levels = [f"L = {count}" for count in LEVELS]
    return (
        f"Places of a codeword, p, and the dimension d = {RELATIONS}·p of {RELATIONS} relations:\n\n"
        + _table(["N", *levels], ([f"{n:,}", *_symbols(n)] for n in SUBJECTS))
        + "\nBits a fact, p·log2 L, beside the bound log2(N!)/N:\n\n"
        + _table(
            ["N", "bound", *levels],
            ([f"{n:,}", f"{bits_per_fact_bound(n):.2f}", *_bits(n)] for n in SUBJECTS),
        )
    )


def _sizes(n_subjects: int) -> Iterator[ConstructionSize]:
    return (one_hop_size(n_subjects, RELATIONS, levels=levels) for levels in LEVELS)


def _symbols(n_subjects: int) -> Iterator[str]:
    return (f"p = {size.code_length}, d = {size.dimension}" for size in _sizes(n_subjects))


def _bits(n_subjects: int) -> Iterator[str]:
    pairs = zip(LEVELS, _sizes(n_subjects), strict=True)
    return (f"{size.code_length * math.log2(levels):.2f}" for levels, size in pairs)


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---:"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
