"""All analyses of one ensemble, on one split of the subjects."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from georecall.dissection.ablation import Ablation, ablate
from georecall.dissection.gates import Gates, measure_gates
from georecall.dissection.patching import Patching, patch_relations
from georecall.dissection.readout import Readout, read_out
from georecall.dissection.selectivity import Selectivity, measure_selectivity
from georecall.dissection.specimen import Specimen
from georecall.dissection.superposition import Superposition, superpose
from georecall.dissection.swap import Swap, swap_components
from georecall.errors import AnalysisError
from georecall.facts.table import FactTable
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress

ANALYSES = ("superposition", "readout", "swap", "selectivity", "ablation", "patching", "gates")


@dataclass(frozen=True, kw_only=True)
class Dissection:
    """The results of the analyses that were run; None for the others."""

    members: int
    training_subjects: int
    held_out_subjects: int
    seed: int
    superposition: Superposition | None
    readout: Readout | None
    swap: Swap | None
    selectivity: Selectivity | None
    ablation: Ablation | None
    patching: Patching | None
    gates: Gates | None

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        results = {name: getattr(self, name) for name in ANALYSES}
        return {
            "members": self.members,
            "training_subjects": self.training_subjects,
            "held_out_subjects": self.held_out_subjects,
            "seed": self.seed,
            **{name: result and result.to_dict() for name, result in results.items()},
        }


def dissect(
    model: RecallTransformer,
    table: FactTable,
    *,
    only: Collection[str] = ANALYSES,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Dissection:
    """Run the analyses named, in the order of `ANALYSES`; the seed decides the split and every draw.

    An analysis gives the same whether others run or not. What one needs of another, the fit for the swap and
    the selectivity for the ablation, is worked out and returned with it.

    Raises:
        AnalysisError: an analysis is not known, or as in `Specimen.of` and `superpose`.
    """
    unknown = set(only) - set(ANALYSES)
    if unknown:
        raise AnalysisError(
            f"expected analyses among {', '.join(ANALYSES)}, got {', '.join(sorted(unknown))}"
        )
    specimen = Specimen.of(model, table, seed=seed)

    def draws(name: str) -> np.random.Generator:
        return np.random.default_rng([seed, ANALYSES.index(name)])

    def wanted(*names: str) -> bool:
        return any(name in only for name in names)

    superposition = selectivity = swap = ablation = None
    if wanted("superposition", "swap"):
        superposition = superpose(specimen, rng=draws("superposition"), progress=progress)
        if wanted("swap"):
            swap = swap_components(specimen, superposition.fit, rng=draws("swap"), progress=progress)
    if wanted("selectivity", "ablation"):
        selectivity = measure_selectivity(specimen, progress=progress)
        if wanted("ablation"):
            ablation = ablate(specimen, selectivity, rng=draws("ablation"), progress=progress)
    return Dissection(
        members=model.members,
        training_subjects=len(specimen.training),
        held_out_subjects=len(specimen.held_out),
        seed=seed,
        superposition=superposition,
        readout=read_out(specimen, rng=draws("readout"), progress=progress) if wanted("readout") else None,
        swap=swap,
        selectivity=selectivity,
        ablation=ablation,
        patching=patch_relations(specimen, progress=progress) if wanted("patching") else None,
        gates=measure_gates(specimen, progress=progress) if wanted("gates") else None,
    )
