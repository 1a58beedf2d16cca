"""The list of claims, and the run that settles them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from georecall.claims.attention import C9
from georecall.claims.bounds import K5
from georecall.claims.capacity import C1, C2
from georecall.claims.chain_of_thought import K4
from georecall.claims.claim import PRESETS, Claim, Outcome, Preset
from georecall.claims.dissection import C3, C4, C5, C6
from georecall.claims.hops import C8
from georecall.claims.one_hop import K1
from georecall.claims.several_hops import K2, K3
from georecall.claims.transfer import C7
from georecall.errors import FolderError, GeorecallError
from georecall.progress import Progress
from georecall.storage.files import write_text
from georecall.sweeps import Engine, SerialEngine

CLAIMS: tuple[Claim, ...] = (K1, K2, K3, K4, K5, C1, C2, C3, C4, C5, C6, C7, C8, C9)


def select(ids: str | None) -> tuple[Claim, ...]:
    """The claims of a comma-separated list of ids, all of them for None.

    Raises:
        GeorecallError: an id is not a claim's, or none is given.
    """
    if ids is None:
        return CLAIMS
    known = {claim.id: claim for claim in CLAIMS}
    wanted = [name.strip().upper() for name in ids.split(",")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise GeorecallError(f"expected claims among {', '.join(known)}, got {', '.join(map(repr, unknown))}")
    return tuple(known[name] for name in dict.fromkeys(wanted))


def reproduce(
    claims: Sequence[Claim],
    preset: str,
    folder: Path,
    progress: Progress,
    *,
    engine: Engine | None = None,
    retry_failed: bool = False,
) -> list[Outcome]:
    """Settle the claims at one size, serially if no engine is given; cells and `results.json` go to `folder`.

    `results.json` keeps the outcomes of other claims from earlier runs of the same preset.

    Raises:
        GeorecallError: the preset is not one of `PRESETS`.
        FolderError: `results.json` or a file of a cell is damaged.
    """
    size: Preset | None = next((known for known in PRESETS if known == preset), None)
    if size is None:
        raise GeorecallError(f"expected a preset among {', '.join(PRESETS)}, got {preset!r}")
    path = folder / "results.json"
    by_id = _outcomes_before(path, preset)
    outcomes = [
        claim.settle(
            size, folder / "cells", progress, engine=engine or SerialEngine(), retry_failed=retry_failed
        )
        for claim in claims
    ]
    by_id |= {outcome.id: outcome.to_dict() for outcome in outcomes}
    ordered = [by_id[claim.id] for claim in CLAIMS if claim.id in by_id]
    write_text(path, json.dumps(ordered, indent=2, ensure_ascii=False) + "\n")
    return outcomes


def _outcomes_before(path: Path, preset: str) -> dict[str, dict[str, Any]]:
    """The outcomes in `results.json` that are of this preset, by the ids of their claims."""
    if not path.exists():
        return {}
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        return {outcome["id"]: outcome for outcome in before if outcome["preset"] == preset}
    except (ValueError, TypeError, KeyError) as error:
        raise FolderError(f"{path}: is not a list of outcomes; delete it, the cells are kept") from error
