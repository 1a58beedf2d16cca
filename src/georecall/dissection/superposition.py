"""Are subject embeddings superpositions of the vectors of their answers?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from pydantic import Field, InstanceOf
from sklearn.metrics import r2_score

from georecall.dissection.specimen import Member, Specimen
from georecall.dissection.study import Analysis, Study
from georecall.errors import AnalysisError
from georecall.progress import Progress, no_progress
from georecall.records import AsLists, derived
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity
from georecall.statistics.ridge import ridge
from georecall.statistics.subspaces import Subspaces, compare_subspaces


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
        vectors = attributes[:, answers]
        return self.offset[:, None] + np.einsum("mrdo,msro->msd", self.matrices, vectors, optimize=True)


class Superposition(Analysis):
    """How much of the held-out subjects' embeddings the fit explains, and by which relation.

        held_out_r2   : 1 − Σ‖e_s − ê_s‖² / Σ‖e_s − ē‖² over held-out subjects: coordinates weighted by variance
        shuffled_r2   : the same, with the facts of each relation permuted over the subjects
        shares        : Σ‖A_r(u_{f_r(s)} − mean)‖² / Σ‖e_s − ē‖² for each relation, over the same subjects

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
        return superpose(study.specimen, rng=study.draws(cls), progress=study.progress)

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
    specimen: Specimen, *, rng: np.random.Generator, progress: Progress = no_progress
) -> Superposition:
    """Fit the superposition of every member and judge it on held-out subjects.

    Raises:
        AnalysisError: a model gives all held-out subjects one embedding.
    """
    answers, shuffled = specimen.table.answers, specimen.shuffled_answers(rng)
    n_relations, out = answers.shape[1], specimen.model.unembedding.shape[2]
    regressors = n_relations * out + 1
    judging = regressors <= len(specimen.training)
    fits, judged = [], []
    for number, member in enumerate(specimen.members("superposition", progress)):
        _check_spread(member.subjects[specimen.held_out], number)
        fit = _fit(member, specimen, answers)
        fits.append(fit)
        if judging:
            control = _r2(_fit(member, specimen, shuffled), member, specimen, shuffled)
            judged.append((_r2(fit, member, specimen, answers), control, _shares(fit, member, specimen)))
    estimates = [Estimate(np.array(kind)) for kind in zip(*judged, strict=True)] if judging else [None] * 3
    matrices = np.stack([_matrices(fit, n_relations) for fit in fits])
    return Superposition(
        fitted=SuperpositionFit(
            offset=np.stack([fit.intercept_ for fit in fits]),
            matrices=matrices,
        ),
        strengths=np.array([float(fit.alpha_) for fit in fits]),
        regressors=regressors,
        training_subjects=len(specimen.training),
        held_out_subjects=len(specimen.held_out),
        held_out_r2=estimates[0],
        shuffled_r2=estimates[1],
        shares=estimates[2],
        subspaces=compare_subspaces(matrices),
    )


def _check_spread(embeddings: Float64[np.ndarray, "held_out dim"], member: int) -> None:
    if not np.ptp(embeddings, axis=0).any():
        raise AnalysisError(
            f"expected subjects with different embeddings, got one for all in member {member}"
        )


def _regressors(
    member: Member, answers: Int64[np.ndarray, "rows relations"]
) -> Float64[np.ndarray, "rows regressors"]:
    return member.attributes[answers].reshape(len(answers), -1)


def _fit(member: Member, specimen: Specimen, answers: Int64[np.ndarray, "subjects relations"]) -> Any:
    rows = specimen.training
    return ridge(_regressors(member, answers[rows]), member.subjects[rows])


def _r2(
    fit: Any, member: Member, specimen: Specimen, answers: Int64[np.ndarray, "subjects relations"]
) -> float:
    rows = specimen.held_out
    predicted = fit.predict(_regressors(member, answers[rows]))
    return float(r2_score(member.subjects[rows], predicted, multioutput="variance_weighted"))


def _shares(fit: Any, member: Member, specimen: Specimen) -> Float64[np.ndarray, " relations"]:
    answers, embeddings = specimen.table.answers[specimen.held_out], member.subjects[specimen.held_out]
    vectors = member.attributes[answers]
    parts = np.einsum("rdo,sro->rsd", _matrices(fit, answers.shape[1]), vectors, optimize=True)
    return np.asarray(parts.var(axis=1).sum(axis=1) / embeddings.var(axis=0).sum())


def _matrices(fit: Any, n_relations: int) -> Float64[np.ndarray, "relations dim out"]:
    return np.asarray(fit.coef_).reshape(len(fit.coef_), n_relations, -1).swapaxes(0, 1)
