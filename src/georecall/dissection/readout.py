"""Can each relation's answer be read off a subject embedding by a linear map?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from georecall.dissection.specimen import Member, Specimen
from georecall.facts.queries import correct
from georecall.progress import Progress, no_progress
from georecall.statistics.estimates import Estimate, plain, wilson_interval
from georecall.statistics.ridge import ridge


@dataclass(frozen=True, kw_only=True)
class Readout:
    """Rates at which a ridge fit from e_s to u_{f_r(s)} names the right attribute of held-out subjects.

    The attribute named is the one nearest to the estimate, `argmin_a ‖u_a − û‖`, among all A. The distance is
    what the fit makes small, and an exact estimate is always named rightly; by the decoder's score ⟨u_a, û⟩ a
    longer vector could win over the right one. `rates` and `shuffled` (facts permuted over subjects) have
    shape [members, relations], `wilson` are both ends of the interval over subjects of each rate.
    """

    rates: Estimate
    shuffled: Estimate
    wilson: tuple[Float64[np.ndarray, "members relations"], Float64[np.ndarray, "members relations"]]
    chance: float
    held_out_subjects: int

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return {
            "rates": self.rates.to_dict(),
            "shuffled": self.shuffled.to_dict(),
            "wilson": [plain(end) for end in self.wilson],
            "chance": self.chance,
            "held_out_subjects": self.held_out_subjects,
        }


def read_out(specimen: Specimen, *, rng: np.random.Generator, progress: Progress = no_progress) -> Readout:
    """Fit and judge the read-out of every relation in every member."""
    tables = specimen.table.answers, specimen.shuffled_answers(rng)
    hits = np.array(
        [
            [_hits(member, specimen, answers) for answers in tables]
            for member in specimen.members("linear read-out", progress)
        ]
    )
    trials = len(specimen.held_out)
    return Readout(
        rates=Estimate(hits[:, 0] / trials),
        shuffled=Estimate(hits[:, 1] / trials),
        wilson=wilson_interval(hits[:, 0], trials),
        chance=1 / len(specimen.table.attributes),
        held_out_subjects=trials,
    )


def _hits(
    member: Member, specimen: Specimen, answers: Int64[np.ndarray, "subjects relations"]
) -> Int64[np.ndarray, " relations"]:
    """How many held-out subjects each relation is read off rightly; one decomposition serves all relations."""
    training, held_out = specimen.training, specimen.held_out
    vectors = member.attributes
    targets = vectors[answers[training]].reshape(len(training), -1)
    fit = ridge(member.subjects[training], targets)
    estimates = fit.predict(member.subjects[held_out]).reshape(-1, answers.shape[1], vectors.shape[1])
    closeness = estimates @ vectors.T - (vectors**2).sum(axis=1) / 2
    right = correct(closeness.reshape(-1, len(vectors)), answers[held_out].ravel())
    return right.reshape(-1, answers.shape[1]).sum(axis=0)
