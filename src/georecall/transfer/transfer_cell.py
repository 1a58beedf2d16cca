"""Cells that train an ensemble and swap new worlds into it."""

from typing import Annotated

from pydantic import Field

from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.records import Record
from georecall.training.config import Size
from georecall.training.trained_cell import TrainedCell
from georecall.training.trainer import fresh_model
from georecall.transfer.embedding_solvers import METHODS, Method
from georecall.transfer.freeze_and_swap import Transfer, swap_worlds

Seed = Annotated[int, Field(ge=0)]


class TransferResult(Record):
    """Recall of the facts trained on, by member, and the transfer by each method.

    choosing : on the worlds that are there to choose a method
    transfer : on those that are reported
    untrained: on the same, into the models before training
    """

    recall: tuple[float, ...]
    choosing: dict[Method, Transfer]
    transfer: dict[Method, Transfer]
    untrained: dict[Method, Transfer]

    @property
    def method(self) -> Method:
        """The method that is best on the worlds drawn for choosing, which are not those reported."""
        return max(self.choosing, key=lambda method: float(self.choosing[method].accuracy.mean))

    @property
    def chosen(self) -> Transfer:
        """The transfer by that method."""
        return self.transfer[self.method]


class TransferCell(TrainedCell[TransferResult]):
    """New worlds of random bijections swapped into a trained ensemble, by several embedding solvers.

    The worlds of `choosing_seed` are there to choose a method, those of `worlds_seed` to report.
    """

    revision = 2

    methods: tuple[Method, ...] = METHODS
    worlds: Size = 5
    choosing_seed: Seed = 1
    worlds_seed: Seed = 2

    def measure(self, progress: Progress) -> TransferResult:
        """Train, and swap by each method, into the models before training too."""
        model, table, trainer = self.trained(progress)

        def swapped(model: RecallTransformer, seed: int) -> dict[Method, Transfer]:
            return {
                method: swap_worlds(
                    model, table, method=method, worlds=self.worlds, seed=seed, progress=progress
                )
                for method in self.methods
            }

        return TransferResult(
            recall=tuple(trainer.history[-1].recall),
            choosing=swapped(model, self.choosing_seed),
            transfer=swapped(model, self.worlds_seed),
            untrained=swapped(fresh_model(table, self.training).to(trainer.device), self.worlds_seed),
        )
