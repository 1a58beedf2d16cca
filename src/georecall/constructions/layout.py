"""Named directions of the residual stream: the only place that knows which coordinate means what."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType

from georecall.errors import ConstructionError


@dataclass(frozen=True)
class ResidualLayout:
    """Consecutive slices of the residual stream by name, in the order given; `dim` is their total size."""

    slices: Mapping[str, slice]

    @classmethod
    def of(cls, **sizes: int) -> "ResidualLayout":
        """Lay out slices of the given sizes one after the other.

        Raises:
            ConstructionError: a size is negative.
        """
        for name, size in sizes.items():
            if size < 0:
                raise ConstructionError(f"the residual slice {name!r} must have size 0 or more, got {size}")
        edges = accumulate(sizes.values(), initial=0)
        return cls(
            MappingProxyType(dict(zip(sizes, (slice(*pair) for pair in pairwise(edges)), strict=True)))
        )

    def __getitem__(self, name: str) -> slice:
        """The coordinates of the slice `name`."""
        return self.slices[name]

    @property
    def dim(self) -> int:
        """Size of the residual stream."""
        return max((part.stop for part in self.slices.values()), default=0)

    def to_dict(self) -> dict[str, list[int]]:
        """Start and stop of every slice."""
        return {name: [part.start, part.stop] for name, part in self.slices.items()}
