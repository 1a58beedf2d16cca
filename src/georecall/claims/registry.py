"""The list of claims, and the run that settles them."""

import json
from collections.abc import Sequence
from pathlib import Path

from georecall.claims.bounds import K5
from georecall.claims.chain_of_thought import K4
from georecall.claims.claim import PRESETS, Claim, Outcome, Preset
from georecall.claims.one_hop import K1
from georecall.claims.several_hops import K2, K3
from georecall.errors import GeorecallError
from georecall.progress import Progress
from georecall.storage.files import write_text

CLAIMS: tuple[Claim, ...] = (K1, K2, K3, K4, K5)


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


def reproduce(claims: Sequence[Claim], preset: str, folder: Path, progress: Progress) -> list[Outcome]:
    """Settle the claims at one size; cells and `results.json` go to `folder`.

    Raises:
        GeorecallError: the preset is not one of `PRESETS`.
    """
    size: Preset | None = next((known for known in PRESETS if known == preset), None)
    if size is None:
        raise GeorecallError(f"expected a preset among {', '.join(PRESETS)}, got {preset!r}")
    outcomes = [claim.settle(size, folder / "cells", progress) for claim in claims]
    text = json.dumps([outcome.to_dict() for outcome in outcomes], indent=2, ensure_ascii=False)
    write_text(folder / "results.json", text + "\n")
    return outcomes
