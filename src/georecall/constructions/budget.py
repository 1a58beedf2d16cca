"""Refuse what does not fit in memory, before anything is allocated."""

import os

from georecall.errors import ConstructionError

BYTES_PER_WEIGHT = 8


def require_memory(parameters: int, *, what: str) -> None:
    """Check that `parameters` float64 weights fit in this machine's memory.

    Raises:
        ConstructionError: they need more bytes than the machine has.
    """
    needed, has = parameters * BYTES_PER_WEIGHT, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > has:
        raise ConstructionError(
            f"{what} has {parameters:,} weights and would need {needed:,} bytes; this machine has {has:,}"
        )
