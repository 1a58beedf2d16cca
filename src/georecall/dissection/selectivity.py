"""Which relations every hidden unit is active for."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from pydantic import Field

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.study import Analysis, Study
from georecall.progress import Progress, no_progress
from georecall.records import AsLists, derived
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity


class Selectivity(Analysis):
    """How much every hidden unit is for one relation, by its mean activations over the training subjects.

        share of r  : q_r = mean activation for r / Σ_i mean activation for i
        index       : (q* − q̄) / (q* + q̄) with the largest share q* and the mean q̄ of the others, in [0, 1]:
                      1 if the unit is active for one relation only, 0 if equally for all
        belongs to  : the relation with the largest share
        units       : how many belong to each relation

    A unit that is never active is silent: it has NaN shares and index and belongs to −1. With one relation
    there is no index. The shares are kept in memory alone.
    """

    units: Annotated[Int64[np.ndarray, "members relations"], AsLists()]
    index: Annotated[Float64[np.ndarray, "members width"], AsLists()]
    relation_of_unit: Annotated[Int64[np.ndarray, "members width"], AsLists()]
    shares: Annotated[Float64[np.ndarray, "members relations width"], AsLists()] | None = Field(
        default=None, exclude=True, repr=False
    )
    group: ClassVar[str] = "selectivity"

    @classmethod
    def of(cls, activations: Float64[np.ndarray, "members relations width"]) -> "Selectivity":
        """From the mean activation of every unit by relation."""
        relations = activations.shape[1]
        total = activations.sum(axis=1, keepdims=True)
        shares = np.divide(activations, total, out=np.full_like(activations, np.nan), where=total > 0)
        owners = np.where(activations.any(axis=1), activations.argmax(axis=1), -1)
        return cls(
            units=(owners[:, None] == np.arange(relations)[:, None]).sum(axis=2),
            index=_index(shares),
            relation_of_unit=owners,
            shares=shares,
        )

    @classmethod
    def measured(cls, study: Study) -> "Selectivity":
        """For all facts of the training subjects."""
        return measure_selectivity(study.split, progress=study.progress)

    @property
    def is_silent(self) -> Bool[np.ndarray, "members width"]:
        """Units that no training fact activates."""
        return np.asarray(self.relation_of_unit < 0)

    @derived
    def silent(self) -> tuple[int, ...]:
        """How many units of each member no training fact activates."""
        return tuple(self.is_silent.sum(axis=1).tolist())

    @derived
    def mean_index(self) -> Estimate:
        """Mean index of the units that are not silent; NaN if all are, or if there is one relation."""
        known = ~np.isnan(self.index)
        total, count = np.nansum(self.index, axis=1), known.sum(axis=1)
        return Estimate(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:  # noqa: ARG002
        """The mean index, and how many units are silent in each member."""
        silent = Quantity(name="silent units", value=self.silent)
        yield Quantity.of("selectivity index of units", self.mean_index, controls=(silent,))


def _index(shares: Float64[np.ndarray, "members relations width"]) -> Float64[np.ndarray, "members width"]:
    relations = shares.shape[1]
    if relations == 1:
        return np.full_like(shares[:, 0], np.nan)
    largest = shares.max(axis=1)
    others = (1 - largest) / (relations - 1)
    return np.asarray(np.clip((largest - others) / (largest + others), 0, 1))


def measure_selectivity(split: HeldOutSplit, *, progress: Progress = no_progress) -> Selectivity:
    """Record the hidden layer for all facts of the training subjects."""
    means = [_mean_activations(member, split) for member in split.members("selectivity", progress)]
    return Selectivity.of(np.stack(means))


def _mean_activations(member: Member, split: HeldOutSplit) -> Float64[np.ndarray, "relations width"]:
    hidden = member.activations(split.prompts(split.training)).hidden[0]
    by_relation = hidden.unflatten(0, (len(split.training), -1))
    return by_relation.double().mean(dim=0).cpu().numpy()
