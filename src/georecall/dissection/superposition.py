"""Are subject embeddings superpositions of the vectors of their answers?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from pydantic import Field, InstanceOf

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.study import Analysis, Study
from georecall.errors import AnalysisError
from georecall.progress import Progress, no_progress
from georecall.records import AsLists, derived
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity
from georecall.statistics.shares import Residuals
from georecall.statistics.subspaces import Subspaces, compare_subspaces
from georecall.statistics.superposition import FittedMap, Regressors, SuperpositionMap


@dataclass(frozen=True, kw_only=True)
class SuperpositionFit:
    """Joint ridge fits `e_s ≈ c + Σ_r A_r u_{f_r(s)}` on the training subjects (docs/theory.md §7).

    `offset` is c, `matrices` are the A_r. A_r is determined on the span of the
    attribute vectors only; the ridge is zero elsewhere.
    """

    offset: Float64[np.ndarray, "members dim"]
    matrices: Float64[np.ndarray, "members relations dim out"]

    def embed(
        self,
        attributes: Float64[np.ndarray, "members attributes out"],
        answers: Int64[np.ndarray, "subjects relations"],
    ) -> Float64[np.ndarray, "members subjects dim"]:
        """`c + Σ_r A_r u_{g_r(s)}` for any answers g, none of which may be missing."""
        maps = [
            SuperpositionMap(offset=offset, matrices=list(matrices))
            for offset, matrices in zip(self.offset, self.matrices, strict=True)
        ]
        vectors = attributes[:, answers].swapaxes(1, 2)
        return np.stack([own.embed(list(part)) for own, part in zip(maps, vectors, strict=True)])


class Superposition(Analysis):
    """How much of the held-out subjects' embeddings the fit explains, and by which relation.

        held_out_r2   : 1 − Σ‖e_s − ê_s‖² / Σ‖e_s − ē‖² over held-out subjects, ē the mean of the others
        shuffled_r2   : the same, with the facts of each relation permuted over the subjects
        shares        : Σ‖A_r(u_{f_r(s)} − ū)‖² / Σ‖e_s − ē‖² for each relation, over the same subjects

    All three are None, and `note` says why, if the fit has more regressors than training subjects: it would
    fit anything. The fit itself is kept in memory alone.
    """

    regressors: int
    training_subjects: int
    held_out_subjects: int
    strengths: Annotated[Float64[np.ndarray, " members"], AsLists()]
    held_out_r2: Estimate | None
    shuffled_r2: Estimate | None
    shares: Estimate | None
    subspaces: Subspaces
    fitted: InstanceOf[SuperpositionFit] | None = Field(default=None, exclude=True, repr=False)
    group: ClassVar[str] = "superposition"

    @property
    def fit(self) -> SuperpositionFit:
        """The fit itself.

        Raises:
            AnalysisError: this was read from a file, which does not hold it.
        """
        if self.fitted is None:
            raise AnalysisError("expected a superposition that was fitted here, got one that was read")
        return self.fitted

    @derived
    def note(self) -> str | None:
        """Why there is no R², in words."""
        if self.regressors <= self.training_subjects:
            return None
        return (
            f"the fit has {self.regressors} regressors and only {self.training_subjects} training subjects: "
            "its R² says nothing"
        )

    @classmethod
    def measured(cls, study: Study) -> "Superposition":
        """Of all relations together."""
        return superpose(study.split, rng=study.draws(cls), progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:  # noqa: ARG002
        """R² beside that of shuffled facts."""
        if self.held_out_r2 is not None and self.shuffled_r2 is not None:
            beside = {"shuffled facts": self.shuffled_r2}
            yield Quantity.of("R² of subject embeddings", self.held_out_r2, beside=beside)

    def notes(self) -> Iterator[str]:
        """Why there is no R²."""
        if self.note is not None:
            yield self.note


def superpose(
    split: HeldOutSplit, *, rng: np.random.Generator, progress: Progress = no_progress
) -> Superposition:
    """Fit the superposition of every member and judge it on held-out subjects.

    Raises:
        AnalysisError: a model gives all held-out subjects one embedding.
    """
    answers, shuffled = split.table.answers, split.shuffled_answers(rng)
    n_relations, out = answers.shape[1], split.model.unembedding.shape[2]
    regressors = n_relations * out + 1
    judging = regressors <= len(split.training)
    fits, own, controls = [], [], []
    for number, member in enumerate(split.members("superposition", progress)):
        _check_spread(member.subjects[split.held_out], number)
        fit = _fit(member, split, answers)
        fits.append(fit)
        if judging:
            own.append(_residuals(fit, member, split, answers))
            controls.append(_residuals(_fit(member, split, shuffled), member, split, shuffled))
    matrices = np.stack([np.stack(fit.matrices) for fit in fits])
    return Superposition(
        fitted=SuperpositionFit(
            offset=np.stack([fit.offset for fit in fits]),
            matrices=matrices,
        ),
        strengths=np.array([fit.strength for fit in fits]),
        regressors=regressors,
        training_subjects=len(split.training),
        held_out_subjects=len(split.held_out),
        held_out_r2=Estimate(np.stack([found.r2 for found in own])) if judging else None,
        shuffled_r2=Estimate(np.stack([found.r2 for found in controls])) if judging else None,
        shares=Estimate(np.stack([found.shares for found in own])) if judging else None,
        subspaces=compare_subspaces(matrices),
    )


def _check_spread(embeddings: Float64[np.ndarray, "held_out dim"], member: int) -> None:
    if not np.ptp(embeddings, axis=0).any():
        raise AnalysisError(
            f"expected subjects with different embeddings, got one for all in member {member}"
        )


def _vectors(
    member: Member, answers: Int64[np.ndarray, "rows relations"]
) -> list[Float64[np.ndarray, "rows out"]]:
    return list(member.attributes[answers].swapaxes(0, 1))


def _fit(member: Member, split: HeldOutSplit, answers: Int64[np.ndarray, "subjects relations"]) -> FittedMap:
    rows = split.training
    return Regressors(_vectors(member, answers[rows])).fit(member.subjects[rows])


def _residuals(
    fit: FittedMap, member: Member, split: HeldOutSplit, answers: Int64[np.ndarray, "subjects relations"]
) -> Residuals:
    rows = split.held_out
    return fit.residuals(_vectors(member, answers[rows]), member.subjects[rows])
