"""Counterfactual embeddings: one relation's component of a subject replaced by that of another attribute."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.study import Analysis, Study
from georecall.dissection.superposition import Superposition, SuperpositionFit
from georecall.progress import Progress, no_progress
from georecall.records import Record, derived
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity

SAMPLES = 2000
"""Swaps (s, r, b) for each member, shared evenly by the relations; each is followed by questions of all R."""

SCALES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
NO_OP, WHOLE = SCALES.index(0.0), SCALES.index(1.0)


class AnswerRates(Record):
    """What held-out subjects answer after a change meant for relation r, from f_r(s) to b.

    `became[·, r, r']` is the rate at which the answer of r' is b, `kept[·, r, r']` that at which it is f_{r'}(s).
    """

    became: Estimate
    kept: Estimate

    @derived
    def follow(self) -> Estimate:
        """[members, relations]: the changed relation answers b."""
        return Estimate(np.diagonal(self.became.values, axis1=1, axis2=2).copy())

    @derived
    def old(self) -> Estimate:
        """[members, relations]: the changed relation still answers f_r(s)."""
        return Estimate(np.diagonal(self.kept.values, axis1=1, axis2=2).copy())

    @derived
    def stay(self) -> Estimate | None:
        """[members, relations]: the mean rate at which the other relations still answer; None if there are none."""
        relations = self.kept.values.shape[1]
        if relations == 1:
            return None
        return Estimate((self.kept.values.sum(axis=2) - self.old.values) / (relations - 1))


class Swap(Analysis):
    """Answers after `e_s + t·A_r(u_b − u_{f_r(s)})` for every scale t, and of the controls at t = 1.

    `random_direction` is a Gaussian direction of the same norm; `wrong_relation` the same change written by the
    matrix of another relation, None if there is no other.
    """

    samples: int
    scales: tuple[float, ...]
    doses: tuple[AnswerRates, ...]
    random_direction: AnswerRates
    wrong_relation: AnswerRates | None
    group: ClassVar[str] = "interventions"

    @property
    def swap(self) -> AnswerRates:
        """The whole change, t = 1."""
        return self.doses[WHOLE]

    @property
    def no_op(self) -> AnswerRates:
        """No change, t = 0."""
        return self.doses[NO_OP]

    @classmethod
    def measured(cls, study: Study) -> "Swap":
        """With the components that the superposition fits."""
        fit = study.result(Superposition).fit
        return swap_components(study.split, fit, rng=study.draws(cls), progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:
        """For each relation how often the answer follows, and how often the others stay."""
        controls = {"no change": self.no_op, "random direction": self.random_direction}
        if self.wrong_relation is not None:
            controls["wrong relation"] = self.wrong_relation
        for r, name in enumerate(names[:shown]):
            follow = {control: answers.follow.at(r) for control, answers in controls.items()}
            yield Quantity.of(f"swap of {name}: answer follows", self.swap.follow.at(r), beside=follow)
            if self.swap.stay is not None:
                stay = {control: answers.stay.at(r) for control, answers in controls.items() if answers.stay}
                yield Quantity.of(f"swap of {name}: others stay", self.swap.stay.at(r), beside=stay)


@dataclass(frozen=True, kw_only=True)
class Swaps:
    """The changes to be made, the same for all members: for each relation r, subjects s and new attributes b.

    `others` names the relation r' ≠ r of the wrong-relation control. The draws are with replacement.
    """

    subjects: Int64[np.ndarray, "relations draws"]
    new: Int64[np.ndarray, "relations draws"]
    others: Int64[np.ndarray, "relations draws"]

    @classmethod
    def draw(cls, split: HeldOutSplit, *, rng: np.random.Generator) -> "Swaps":
        """Held-out subjects, attributes b ≠ f_r(s), and relations r' ≠ r, uniformly."""
        n_relations, n_attributes = split.table.answers.shape[1], len(split.table.attributes)
        relations = np.arange(n_relations)[:, None]
        shape = n_relations, max(1, SAMPLES // n_relations)
        subjects = rng.choice(split.held_out, shape)
        old = split.table.answers[subjects, relations]
        return cls(
            subjects=subjects,
            new=_another(old, n_attributes, rng),
            others=_another(np.broadcast_to(relations, shape), n_relations, rng),
        )


def swap_components(
    split: HeldOutSplit,
    fit: SuperpositionFit,
    *,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Swap:
    """Change components of held-out subjects and ask all relations; the A_r come from the training subjects."""
    swaps = Swaps.draw(split, rng=rng)
    n_relations, draws = swaps.subjects.shape
    noise = rng.standard_normal((n_relations, draws, fit.offset.shape[1]))
    rates = [
        [_rates(member, split, swaps, change) for change in _changes(member, split, swaps, matrices, noise)]
        for member, matrices in zip(split.members("component swap", progress), fit.matrices, strict=True)
    ]
    answers = [_answer_rates(kind) for kind in zip(*rates, strict=True)]
    return Swap(
        samples=swaps.subjects.size,
        scales=SCALES,
        doses=tuple(answers[: len(SCALES)]),
        random_direction=answers[len(SCALES)],
        wrong_relation=answers[-1] if n_relations > 1 else None,
    )


def _another(
    values: Int64[np.ndarray, "*shape"], count: int, rng: np.random.Generator
) -> Int64[np.ndarray, "*shape"]:
    """Uniformly one of 0 … count − 1 that is not the value given; the value itself if there is no other."""
    return (values + rng.integers(1, max(count, 2), size=values.shape)) % count


def _changes(
    member: Member,
    split: HeldOutSplit,
    swaps: Swaps,
    matrices: Float64[np.ndarray, "relations dim out"],
    noise: Float64[np.ndarray, "relations draws dim"],
) -> Sequence[Float64[np.ndarray, "relations draws dim"]]:
    """The changes of all scales, the random direction, and the wrong relation's if there is one."""
    n_relations, draws = swaps.subjects.shape
    relations = np.arange(n_relations)[:, None]
    old = split.table.answers[swaps.subjects, relations]
    difference = member.attributes[swaps.new] - member.attributes[old]
    written = np.einsum("wdo,rno->wrnd", matrices, difference, optimize=True)
    own = written[relations, relations, np.arange(draws)]
    norms = [np.linalg.norm(vectors, axis=-1, keepdims=True) for vectors in (own, noise)]
    wrong = [written[swaps.others, relations, np.arange(draws)]] if n_relations > 1 else []
    return [*(scale * own for scale in SCALES), noise * (norms[0] / norms[1]), *wrong]


def _rates(
    member: Member, split: HeldOutSplit, swaps: Swaps, change: Float64[np.ndarray, "relations draws dim"]
) -> Float64[np.ndarray, "2 relations relations"]:
    changed = member.tensor((member.subjects[swaps.subjects] + change).reshape(-1, change.shape[-1]))
    answers = member.ask_all(changed).reshape(*swaps.subjects.shape, -1)
    became: Bool[np.ndarray, "relations draws relations"] = answers == swaps.new[..., None]
    kept = answers == split.table.answers[swaps.subjects]
    return np.stack([became.mean(axis=1), kept.mean(axis=1)])


def _answer_rates(rates: Sequence[Float64[np.ndarray, "2 relations relations"]]) -> AnswerRates:
    became, kept = np.stack(rates, axis=1)
    return AnswerRates(became=Estimate(became), kept=Estimate(kept))
