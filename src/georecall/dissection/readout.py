"""Can each relation's answer be read off a subject embedding by a linear map?"""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.study import Analysis, Study
from georecall.progress import Progress, no_progress
from georecall.records import AsLists
from georecall.statistics.estimates import Estimate
from georecall.statistics.intervals import wilson_interval
from georecall.statistics.quantities import Quantity
from georecall.statistics.readout import nearness, reciprocal_ranks
from georecall.statistics.ridge import Ridge


class Readout(Analysis):
    """Rates at which a ridge fit from e_s to u_{f_r(s)} names the right attribute of held-out subjects.

    The attribute named is the one nearest to the estimate, `argmin_a ‖u_a − û‖`, among all A; by the decoder's
    score ⟨u_a, û⟩ a longer vector could win over the right one. `rates` and `shuffled` (facts permuted over
    subjects) have shape [members, relations], `wilson` are both ends of the interval over subjects of each rate.
    """

    rates: Estimate
    shuffled: Estimate
    wilson: Annotated[Float64[np.ndarray, "2 members relations"], AsLists()]
    chance: float
    held_out_subjects: int
    group: ClassVar[str] = "superposition"

    @classmethod
    def measured(cls, study: Study) -> "Readout":
        """Of every relation."""
        return read_out(study.split, rng=study.draws(cls), progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:
        """The rate of each relation."""
        for r, name in enumerate(names[:shown]):
            beside = {"shuffled facts": self.shuffled.at(r)}
            yield Quantity.of(f"read-out of {name}", self.rates.at(r), beside=beside, chance=self.chance)


def read_out(split: HeldOutSplit, *, rng: np.random.Generator, progress: Progress = no_progress) -> Readout:
    """Fit and judge the read-out of every relation in every member."""
    tables = split.table.answers, split.shuffled_answers(rng)
    found = []
    for member in split.members("linear read-out", progress):
        rows = Ridge(member.subjects[split.training])
        projected = rows.project(member.subjects[split.held_out])
        found.append([_hits(rows, projected, member, split, answers) for answers in tables])
    hits = np.array(found)
    trials = len(split.held_out)
    return Readout(
        rates=Estimate(hits[:, 0] / trials),
        shuffled=Estimate(hits[:, 1] / trials),
        wilson=np.stack(wilson_interval(hits[:, 0], trials)),
        chance=1 / len(split.table.attributes),
        held_out_subjects=trials,
    )


def _hits(
    rows: Ridge,
    projected: Float64[np.ndarray, "held_out training"],
    member: Member,
    split: HeldOutSplit,
    answers: Int64[np.ndarray, "subjects relations"],
) -> list[int]:
    """How many held-out subjects each relation is read off rightly, by a ridge of its own."""
    hits = []
    for column in answers.T:
        fit = rows.fit(member.attributes[column[split.training]])
        closeness = nearness(fit.predict(projected), member.attributes)
        ranks = reciprocal_ranks(closeness, column[split.held_out])
        hits.append(int((ranks == 1).sum()))
    return hits
