"""Predicted sizes of the constructions; the weights that are built have exactly these."""

from dataclasses import asdict, dataclass
from typing import Any

from georecall.errors import GeorecallError
from georecall.theory.code_registry import COMPOSITION, shortest_code


@dataclass(frozen=True, kw_only=True)
class ConstructionSize:
    """Size of a construction: `width` hidden units in its widest layer, `parameters` in all weights and biases.

    `code_length` is p, the symbols of a codeword of the code that is named (`theory.code_registry`).
    """

    code_length: int
    dimension: int
    width: int
    layers: int
    parameters: int

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def one_hop_size(
    n_subjects: int,
    n_relations: int,
    *,
    n_attributes: int | None = None,
    levels: int = 2,
    code_name: str = COMPOSITION,
) -> ConstructionSize:
    """One hop: d = width = R·p, for p = length of a code of the A attributes and the unknown (default A = N).

    Raises GeorecallError for a count below 1, CodeError for levels outside 2 … 127. Source: docs/theory.md §3.
    """
    _check(n_subjects, n_relations, 1, n_attributes)
    outputs = (n_subjects if n_attributes is None else n_attributes) + 1
    p = shortest_code(outputs, levels, name=code_name).length
    dim = n_relations * p
    rows = n_subjects + n_relations + 2
    return ConstructionSize(
        code_length=p,
        dimension=dim,
        width=dim,
        layers=1,
        parameters=rows * dim + _mlp(dim, dim, p) + outputs * p,
    )


def disjoint_one_hop_size(
    n_subjects: int,
    n_relations: int,
    *,
    n_attributes: int | None = None,
    n_outputs: int | None = None,
    levels: int = 2,
    code_name: str = COMPOSITION,
) -> ConstructionSize:
    """One hop where each relation has up to A attributes of its own: d = width = R·p, p for A + 1 names.

    `n_outputs` counts the attributes of all relations (default R·A). Raises as `one_hop_size`. Source:
    docs/theory.md §3.
    """
    _check(n_subjects, n_relations, 1, n_attributes)
    each = n_subjects if n_attributes is None else n_attributes
    p = shortest_code(each + 1, levels, name=code_name).length
    dim = n_relations * p
    rows = n_subjects + n_relations + 2
    outputs = (n_relations * each if n_outputs is None else n_outputs) + 1
    return ConstructionSize(
        code_length=p,
        dimension=dim,
        width=dim,
        layers=1,
        parameters=(rows + outputs) * dim + _mlp(dim, dim, dim),
    )


def direct_size(
    n_subjects: int,
    n_relations: int,
    hops: int,
    *,
    n_attributes: int | None = None,
    levels: int = 2,
    code_name: str = COMPOSITION,
) -> ConstructionSize:
    """Direct k hops: d = (R^k + 1)·p + k + 1, width R^k·p.

    Raises as `one_hop_size`. Source: docs/theory.md §4.
    """
    _check(n_subjects, n_relations, hops, n_attributes)
    outputs = (n_subjects if n_attributes is None else n_attributes) + 1
    p = shortest_code(outputs, levels, name=code_name).length
    width = n_relations**hops * p
    dim = width + p + hops + 1
    rows = n_subjects + n_relations + (hops + 1) + outputs
    return ConstructionSize(
        code_length=p,
        dimension=dim,
        width=width,
        layers=1,
        parameters=rows * dim + hops * _head(dim, hops + 1, n_relations) + _mlp(dim, width, dim),
    )


def associative_size(
    n_subjects: int,
    n_relations: int,
    hops: int,
    *,
    n_entities: int | None = None,
    n_attributes: int | None = None,
    levels: int = 2,
    code_name: str = COMPOSITION,
) -> ConstructionSize:
    """Deep associative k hops: k layers of width N·R, d = (k + 1)·(p + R + 1).

    p is the length of a code of the E entities and the unknown; the A attributes and the unknown are outputs
    (default E = N and A = E). Raises as `one_hop_size`. Source: docs/theory.md §4.
    """
    _check(n_subjects, n_relations, hops, n_entities)
    names = (n_subjects if n_entities is None else n_entities) + 1
    outputs = names if n_attributes is None else n_attributes + 1
    p = shortest_code(names, levels, name=code_name).length
    width = n_subjects * n_relations
    dim = (hops + 1) * (p + n_relations + 1)
    rows = n_subjects + n_relations + (hops + 1) + outputs
    layer = _head(dim, hops + 1, n_relations) + _mlp(dim, width, dim)
    return ConstructionSize(
        code_length=p, dimension=dim, width=width, layers=hops, parameters=rows * dim + hops * layer
    )


def reembedding_size(
    n_subjects: int,
    n_relations: int,
    hops: int,
    *,
    n_entities: int | None = None,
    n_attributes: int | None = None,
    levels: int = 2,
    code_name: str = COMPOSITION,
) -> ConstructionSize:
    """Re-embedding k hops: k layers of R·p units that select and k − 1 of N that re-embed, N + R·p a hop.

    d = k·(R + 1)·p + R + k + 1, for p and outputs as in `associative_size`; raises as it does. Source:
    docs/theory.md §4.
    """
    _check(n_subjects, n_relations, hops, n_entities)
    names = (n_subjects if n_entities is None else n_entities) + 1
    outputs = names if n_attributes is None else n_attributes + 1
    p = shortest_code(names, levels, name=code_name).length
    blocks = n_relations * p
    dim = hops * (blocks + p) + n_relations + hops + 1
    rows = n_subjects + n_relations + (hops + 1) + outputs
    head = _head(dim, hops + 1, n_relations)
    select, reembed = head + _mlp(dim, blocks, dim), head + _mlp(dim, n_subjects, dim)
    return ConstructionSize(
        code_length=p,
        dimension=dim,
        width=max(blocks, n_subjects) if hops > 1 else blocks,
        layers=2 * hops - 1,
        parameters=rows * dim + hops * select + (hops - 1) * reembed,
    )


def chain_of_thought_size(
    n_entities: int, n_relations: int, hops: int, *, levels: int = 2, code_name: str = COMPOSITION
) -> ConstructionSize:
    """Chain of thought of up to K hops: d = (R + 1)·p + 2(K + 1), width R·p.

    p is the length of a code of the E entities and the unknown; 2(K + 1) positions carry the longest prompt and
    its answers. Raises as `one_hop_size`. Source: docs/theory.md §4.
    """
    _check(n_entities, n_relations, hops, None)
    p = shortest_code(n_entities + 1, levels, name=code_name).length
    context = 2 * (hops + 1)
    width = n_relations * p
    dim = width + p + context
    rows = 2 * (2 + n_relations + n_entities) + context
    return ConstructionSize(
        code_length=p,
        dimension=dim,
        width=width,
        layers=1,
        parameters=rows * dim + _head(dim, context, n_relations) + _mlp(dim, width, dim),
    )


def _head(dim: int, match: int, carried: int) -> int:
    return 2 * (match + carried) * dim


def _mlp(dim: int, width: int, out: int) -> int:
    return width * (dim + 1) + out * (width + 1)


def _check(n_subjects: int, n_relations: int, hops: int, names: int | None) -> None:
    for name, count in {"subjects": n_subjects, "relations": n_relations, "hops": hops}.items():
        if count < 1:
            raise GeorecallError(f"expected 1 or more {name}, got {count}")
    if names is not None and names < 0:
        raise GeorecallError(f"expected 0 or more attributes, got {names}")
