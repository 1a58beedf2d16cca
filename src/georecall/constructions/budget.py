"""Refuse what does not fit in memory, before anything is allocated."""

from dataclasses import asdict, dataclass
from typing import Any

import psutil

from georecall.errors import ConstructionError

BYTES_PER_WEIGHT = 8


@dataclass(frozen=True, kw_only=True)
class MemoryNeed:
    """Bytes that weights need and bytes that are free on this machine."""

    needed: int
    available: int

    @property
    def fits(self) -> bool:
        """Whether as many bytes as are needed are free."""
        return self.needed <= self.available

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `fits`."""
        return asdict(self) | {"fits": self.fits}


def memory_need(parameters: int) -> MemoryNeed:
    """What `parameters` float64 weights need, all held at once; nothing is allocated."""
    return MemoryNeed(
        needed=parameters * BYTES_PER_WEIGHT,
        available=psutil.virtual_memory().available,
    )


def require_memory(parameters: int, *, what: str) -> None:
    """Check that `parameters` float64 weights fit in this machine's memory.

    Raises:
        ConstructionError: they need more bytes than are free.
    """
    need = memory_need(parameters)
    if not need.fits:
        raise ConstructionError(
            f"{what} has {parameters:,} weights and would need {need.needed:,} bytes; "
            f"this machine has {need.available:,} free"
        )
