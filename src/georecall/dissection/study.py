"""What the analyses of one ensemble share: the split, the draws, and what others have found already."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, TypeVar, cast

import numpy as np

from georecall.dissection.held_out_split import HeldOutSplit
from georecall.progress import Progress
from georecall.records import Record
from georecall.statistics.quantities import Quantity
from georecall.statistics.random_streams import stream


class Analysis(Record):
    """The result of one analysis, which knows how it is made; it is registered by a field of `Dissection`."""

    group: ClassVar[str]
    """Analyses of one group are asked for together."""

    @classmethod
    @abstractmethod
    def measured(cls, study: "Study") -> "Analysis":
        """Look at every member; what another analysis finds, `study.result` gives."""

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:  # noqa: ARG002
        """The numbers to be told first, of the first so many relations of these names."""
        return iter(())

    def notes(self) -> Iterator[str]:
        """Why a number is missing, or says less than it seems to."""
        return iter(())


AnyAnalysis = TypeVar("AnyAnalysis", bound=Analysis)


class Study:
    """The analyses of one model and its table, each made once, when it is first asked for."""

    def __init__(self, split: HeldOutSplit, *, seed: int, progress: Progress) -> None:
        self.split = split
        self.progress = progress
        self.results: dict[type[Analysis], Analysis] = {}
        self._seed = seed

    def result(self, kind: type[AnyAnalysis]) -> AnyAnalysis:
        """What the analysis finds, whether others were run before or not."""
        if kind not in self.results:
            self.results[kind] = kind.measured(self)
        return cast(AnyAnalysis, self.results[kind])

    def draws(self, kind: type[Analysis]) -> np.random.Generator:
        """The random draws of an analysis, named as it is, so that they do not depend on the others."""
        return stream(self._seed, kind.__name__.lower())
