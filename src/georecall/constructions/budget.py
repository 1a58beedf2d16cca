"""Refuse what does not fit in memory, before anything is allocated."""

import os
from dataclasses import asdict, dataclass
from typing import Any

from georecall.errors import ConstructionError

BYTES_PER_WEIGHT = 8


@dataclass(frozen=True, kw_only=True)
class MemoryNeed:
    """Bytes that weights need and bytes that this machine has."""

    needed: int
    available: int

    @property
    def fits(self) -> bool:
        """Whether the machine has as many bytes as are needed."""
        return self.needed <= self.available

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `fits`."""
        return asdict(self) | {"fits": self.fits}


def memory_need(parameters: int) -> MemoryNeed:
    """What `parameters` float64 weights need, all held at once; nothing is allocated."""
    return MemoryNeed(
        needed=parameters * BYTES_PER_WEIGHT,
        available=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )


def require_memory(parameters: int, *, what: str) -> None:
    """Check that `parameters` float64 weights fit in this machine's memory.

    Raises:
        ConstructionError: they need more bytes than the machine has.
    """
    need = memory_need(parameters)
    if not need.fits:
        raise ConstructionError(
            f"{what} has {parameters:,} weights and would need {need.needed:,} bytes; "
            f"this machine has {need.available:,}"
        )
