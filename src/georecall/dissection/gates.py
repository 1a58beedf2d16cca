"""The linear maps that open gates leave: how many directions they pass, and whether subjects share them."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.study import Analysis, Study
from georecall.progress import Progress, no_progress
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity
from georecall.statistics.subspaces import energy_rank, participation_ratio


class Gates(Analysis):
    """Jacobians `J_{s,r} = W2 diag(gate) W1` of the MLP, a gate being 1 where the pre-activation is positive.

        energy_ranks   : singular values of the mean M_r over held-out subjects that hold 99 % of Σσ²
        effective_ranks: participation ratio (Σσ²)² / Σσ⁴ of M_r
        agreement      : [members, r, r'], mean cosine of J_{s,r} and J_{t,r'} over subjects s ≠ t if r = r',
                         over all s, t otherwise; Jacobians that are zero are left out

    NaN where a mean is zero, or where fewer than two Jacobians are left. With agreement near 1 on the diagonal
    the MLP is one linear map for each relation (docs/theory.md §7).
    """

    energy_ranks: Estimate
    effective_ranks: Estimate
    agreement: Estimate
    group: ClassVar[str] = "selectivity"

    @classmethod
    def measured(cls, study: Study) -> "Gates":
        """The Jacobians at held-out facts."""
        return measure_gates(study.split, progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:
        """How alike the maps of one relation are, and through how many directions they pass."""
        for r, name in enumerate(names[:shown]):
            others = [i for i in range(len(names)) if i != r]
            between = {"with other relations": self.agreement.at(r, others)} if others else {}
            yield Quantity.of(
                f"gates of {name}: agreement of subjects", self.agreement.at(r, r), beside=between
            )
            ratio = {"participation ratio": self.effective_ranks.at(r)}
            directions = self.energy_ranks.at(r)
            yield Quantity.of(f"gates of {name}: directions passed", directions, beside=ratio, form=".1f")

    def notes(self) -> Iterator[str]:
        """Relations without numbers."""
        if np.isnan(self.energy_ranks.mean).any():
            yield "the gates of a relation without numbers are closed for all held-out subjects of some member"


def measure_gates(split: HeldOutSplit, *, progress: Progress = no_progress) -> Gates:
    """The Jacobians of every member at the facts of held-out subjects."""
    ranks, agreement = [], []
    for member in split.members("gates", progress):
        gates, w1, w2 = _gates(member, split)
        ranks.append([_ranks((w2 * gate) @ w1) for gate in gates.mean(axis=1)])
        agreement.append(_agreement(gates, (w2.T @ w2) * (w1 @ w1.T)))
    found = np.array(ranks)
    return Gates(
        energy_ranks=Estimate(found[..., 0]),
        effective_ranks=Estimate(found[..., 1]),
        agreement=Estimate(np.stack(agreement)),
    )


def _gates(
    member: Member, split: HeldOutSplit
) -> tuple[
    Float64[np.ndarray, "relations batch width"],
    Float64[np.ndarray, "width dim"],
    Float64[np.ndarray, "out width"],
]:
    layer = member.model.only_layer
    active = member.activations(split.prompts(split.held_out)).pre_activation[0] > 0
    gates = active.unflatten(0, (len(split.held_out), -1)).transpose(0, 1)
    w1, w2 = (part[0].double().cpu().numpy() for part in (layer.w1, layer.w2))
    return gates.double().cpu().numpy(), w1, w2


def _ranks(matrix: Float64[np.ndarray, "out dim"]) -> tuple[float, float]:
    values = np.linalg.svd(matrix, compute_uv=False)
    rank = energy_rank(values)
    return (float(rank), participation_ratio(values)) if rank else (np.nan, np.nan)


def _agreement(
    gates: Float64[np.ndarray, "relations batch width"], products: Float64[np.ndarray, "width width"]
) -> Float64[np.ndarray, "relations relations"]:
    """Mean cosines without any Jacobian written out: `⟨J, J'⟩ = gateᵀ ((W2ᵀW2) ∘ (W1 W1ᵀ)) gate'`."""
    squared = np.einsum("rbw,rbw->rb", gates @ products, gates)
    known = squared > 0
    scale = np.divide(1, np.sqrt(np.where(known, squared, 1)), where=known, out=np.zeros_like(squared))
    total = np.einsum("rbw,rb->rw", gates, scale)
    counts = known.sum(axis=1).astype(np.float64)
    same = np.diag(counts)  # every Jacobian has cosine 1 with itself, which is no agreement
    pairs = np.outer(counts, counts) - same
    return np.divide(
        total @ products @ total.T - same, pairs, out=np.full_like(pairs, np.nan), where=pairs > 0
    )
