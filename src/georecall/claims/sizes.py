"""The sizes of a claim's cells in words."""

from collections.abc import Iterable, Sequence
from typing import Any

from georecall.sweeps.cells import Cell

SYMBOLS = {"n_subjects": "N", "n_relations": "R", "hops": "k", "dim": "d"}
MOST_LISTED = 5


def sizes_text(cells: Sequence[Cell]) -> str:
    """Such as: N = 32, 64, 128; R = 2, 4; 3 seeds; 8 cells. What a cell does not have is left out."""
    configs = [cell.config for cell in cells]
    parts = [
        f"{symbol} = {listed(values)}"
        for field, symbol in SYMBOLS.items()
        if (values := field_values(configs, field))
    ]
    if tables := field_names(configs, "example"):
        parts.append(", ".join(tables))
    if seeds := field_values(configs, "seeds"):
        parts.append(f"{listed(seeds)} {'seed' if seeds == [1] else 'seeds'}")
    return "; ".join([*parts, f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'}"])


def field_values(configs: Iterable[dict[str, Any]], field: str) -> list[int]:
    """The different whole numbers of a field, which may stand in the training config of a cell."""
    found = (config.get(field, (config.get("training") or {}).get(field)) for config in configs)
    return sorted({value for value in found if isinstance(value, int)})


def field_names(configs: Iterable[dict[str, Any]], field: str) -> list[str]:
    """The different names in a field, in order of appearance."""
    return list(dict.fromkeys(config[field] for config in configs if field in config))


def listed(values: Sequence[int], *, last: str = ", ") -> str:
    """2, 4, 8, with another word before the last if wanted; a long list by its ends: 1 … 60."""
    if len(values) > MOST_LISTED:
        return f"{values[0]:,} … {values[-1]:,}"
    *rest, end = [f"{value:,}" for value in values] or [""]
    return f"{', '.join(rest)}{last}{end}" if rest else end
