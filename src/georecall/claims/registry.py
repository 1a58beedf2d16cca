"""The list of claims, and the run that settles them."""

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

from georecall.claims.claim import PRESETS, Claim, Outcome, Preset
from georecall.claims.timing import expectations
from georecall.claims.total import TotalProgress
from georecall.errors import GeorecallError
from georecall.progress import Progress
from georecall.sweeps import Engine, SerialEngine

CELLS = "cells"
"""The folder of the cells in that of a report."""


def find_claims() -> tuple[Claim, ...]:
    """The claims of all modules of the package, by family and number: a file with one in it is all that it takes.

    Raises:
        GeorecallError: two claims have one id.
    """
    package = import_module("georecall.claims")
    names = sorted(module.name for module in iter_modules(package.__path__))
    modules = [import_module(f"{package.__name__}.{name}") for name in names]
    found = {
        id(value): value for module in modules for value in vars(module).values() if isinstance(value, Claim)
    }
    claims = sorted(found.values(), key=lambda claim: claim.order)
    for one, other in pairwise(claims):
        if one.id == other.id:
            raise GeorecallError(f"expected one claim of each id, got two of {one.id}")
    return tuple(claims)


CLAIMS = find_claims()


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


def checked_preset(preset: str) -> Preset:
    """The preset of that name.

    Raises:
        GeorecallError: it is not one of `PRESETS`.
    """
    for known in PRESETS:
        if known == preset:
            return known
    raise GeorecallError(f"expected a preset among {', '.join(PRESETS)}, got {preset!r}")


def reproduce(
    claims: Sequence[Claim],
    preset: str,
    folder: Path,
    progress: Progress,
    *,
    engine: Engine | None = None,
    retry_failed: bool = False,
) -> list[Outcome]:
    """Measure what the claims lack at one size, serially if no engine is given; then say how all claims stand.

    Cells go to `folder`; those that are finished there are kept. A claim with something missing here is left out.

    Raises:
        GeorecallError: the preset is not one of `PRESETS`.
        FolderError: a file of a cell is damaged.
    """
    size, root = checked_preset(preset), folder / CELLS
    able = [claim for claim in claims if claim.missing() is None]
    heard = TotalProgress(progress, expectations(able, size, root, retry_failed=retry_failed))
    for claim in able:
        claim.measure(size, root, heard, engine=engine or SerialEngine(), retry_failed=retry_failed)
    return settled_outcomes(size, folder)


def settled_outcomes(preset: str, folder: Path) -> list[Outcome]:
    """Every claim as settled at one size by the cells in `folder`; nothing is measured.

    Raises as `reproduce`.
    """
    size = checked_preset(preset)
    return [claim.outcome(size, folder / CELLS) for claim in CLAIMS]
