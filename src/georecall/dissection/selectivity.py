"""Which relations every hidden unit is active for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64

from georecall.dissection.specimen import Member, Specimen
from georecall.progress import Progress, no_progress
from georecall.statistics.estimates import Estimate, plain


@dataclass(frozen=True, kw_only=True)
class Selectivity:
    """Mean activation of every unit by relation, over the training subjects.

        share of r  : q_r = mean activation for r / Σ_i mean activation for i
        index       : (q* − q̄) / (q* + q̄) with the largest share q* and the mean q̄ of the others, in [0, 1]:
                      1 if the unit is active for one relation only, 0 if equally for all
        belongs to  : the relation with the largest share

    A unit that is never active is silent: it has NaN shares and index and belongs to −1. With one relation
    there is no index. `to_dict` leaves out the activations.
    """

    activations: Float64[np.ndarray, "members relations width"]

    @property
    def silent(self) -> Bool[np.ndarray, "members width"]:
        """Units that no training fact activates."""
        return np.logical_not(self.activations.any(axis=1))

    @property
    def shares(self) -> Float64[np.ndarray, "members relations width"]:
        """The q_r."""
        total = self.activations.sum(axis=1, keepdims=True)
        return np.divide(self.activations, total, out=np.full_like(self.activations, np.nan), where=total > 0)

    @property
    def index(self) -> Float64[np.ndarray, "members width"]:
        """The selectivity index."""
        relations = self.activations.shape[1]
        if relations == 1:
            return np.full_like(self.activations[:, 0], np.nan)
        largest = self.shares.max(axis=1)
        others = (1 - largest) / (relations - 1)
        return np.clip((largest - others) / (largest + others), 0, 1)

    @property
    def relation_of_unit(self) -> Int64[np.ndarray, "members width"]:
        """The relation that a unit belongs to, −1 for a silent one."""
        return np.where(self.silent, -1, self.activations.argmax(axis=1))

    @property
    def mean_index(self) -> Estimate:
        """Mean index of the units that are not silent; NaN if all are, or if there is one relation."""
        known = ~np.isnan(self.index)
        total, count = np.nansum(self.index, axis=1), known.sum(axis=1)
        return Estimate(np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0))

    @property
    def units(self) -> Int64[np.ndarray, "members relations"]:
        """How many units belong to each relation."""
        relations = np.arange(self.activations.shape[1])[:, None]
        return (self.relation_of_unit[:, None] == relations).sum(axis=2)

    def to_dict(self) -> dict[str, Any]:
        """Index and relation of every unit, counts, and the mean index."""
        return {
            "mean_index": self.mean_index.to_dict(),
            "silent": self.silent.sum(axis=1).tolist(),
            "units": self.units.tolist(),
            "index": plain(self.index),
            "relation_of_unit": self.relation_of_unit.tolist(),
        }


def measure_selectivity(specimen: Specimen, *, progress: Progress = no_progress) -> Selectivity:
    """Record the hidden layer for all facts of the training subjects."""
    means = [_mean_activations(member, specimen) for member in specimen.members("selectivity", progress)]
    return Selectivity(activations=np.stack(means))


def _mean_activations(member: Member, specimen: Specimen) -> Float64[np.ndarray, "relations width"]:
    hidden = member.activations(specimen.prompts(specimen.training)).hidden[0]
    by_relation = hidden.unflatten(0, (len(specimen.training), -1))
    return by_relation.double().mean(dim=0).cpu().numpy()
