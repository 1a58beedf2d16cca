"""All analyses of one ensemble, on one split of the subjects."""

from collections.abc import Collection
from typing import Any, get_args

from georecall.dissection.ablation import Ablation
from georecall.dissection.gates import Gates
from georecall.dissection.held_out_split import HeldOutSplit
from georecall.dissection.readout import Readout
from georecall.dissection.relation_patching import Patching
from georecall.dissection.selectivity import Selectivity
from georecall.dissection.study import Analysis, AnyAnalysis, Study
from georecall.dissection.superposition import Superposition
from georecall.dissection.swap import Swap
from georecall.errors import AnalysisError
from georecall.facts.table import FactTable
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress
from georecall.records import Record


class Dissection(Record):
    """The results of the analyses that were run; None for the others.

    A field that holds an `Analysis` registers it, in this order.
    """

    members: int
    training_subjects: int
    held_out_subjects: int
    seed: int
    superposition: Superposition | None = None
    readout: Readout | None = None
    swap: Swap | None = None
    selectivity: Selectivity | None = None
    ablation: Ablation | None = None
    patching: Patching | None = None
    gates: Gates | None = None

    @property
    def results(self) -> dict[str, Analysis]:
        """What was run, by name."""
        found = {name: getattr(self, name) for name in ANALYSES}
        return {name: result for name, result in found.items() if result is not None}

    def result(self, kind: type[AnyAnalysis]) -> AnyAnalysis:
        """The result of an analysis.

        Raises:
            AnalysisError: it was not run.
        """
        for found in self.results.values():
            if isinstance(found, kind):
                return found
        raise AnalysisError(f"expected a dissection with a {kind.__name__}, got {', '.join(self.results)}")


def analyses_of(dissection: type[Dissection]) -> dict[str, type[Analysis]]:
    """The analyses that its fields register."""
    return {
        name: kind
        for name, field in dissection.model_fields.items()
        for kind in get_args(field.annotation)
        if issubclass(kind, Analysis)
    }


ANALYSES = analyses_of(Dissection)


def groups() -> dict[str, list[str]]:
    """The analyses that are asked for together."""
    found: dict[str, list[str]] = {}
    for name, kind in ANALYSES.items():
        found.setdefault(kind.group, []).append(name)
    return found


def dissect(
    model: RecallTransformer,
    table: FactTable,
    *,
    only: Collection[str] = tuple(ANALYSES),
    seed: int = 0,
    progress: Progress = no_progress,
) -> Dissection:
    """Run the analyses named, in the order of `ANALYSES`; the seed decides the split and every draw.

    An analysis gives the same whether others run or not. What one needs of another, the fit for the swap and
    the selectivity for the ablation, is worked out and returned with it.

    Raises:
        AnalysisError: an analysis is not known, or as in `HeldOutSplit.of` and `superpose`.
    """
    unknown = set(only) - set(ANALYSES)
    if unknown:
        raise AnalysisError(
            f"expected analyses among {', '.join(ANALYSES)}, got {', '.join(sorted(unknown))}"
        )
    split = HeldOutSplit.of(model, table, seed=seed)
    study = Study(split, seed=seed, progress=progress)
    for name, kind in ANALYSES.items():
        if name in only:
            study.result(kind)
    results: dict[str, Any] = {name: study.results.get(kind) for name, kind in ANALYSES.items()}
    return Dissection(
        members=model.members,
        training_subjects=len(split.training),
        held_out_subjects=len(split.held_out),
        seed=seed,
        **results,
    )
