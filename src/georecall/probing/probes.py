"""Linear probes: what can be read off each input of a source, judged on subjects that had no say in the fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64
from joblib import delayed

from georecall.probing.features import Inputs
from georecall.probing.relations import Target
from georecall.probing.threads import in_threads
from georecall.progress import Progress, no_progress
from georecall.statistics.folds import Split
from georecall.statistics.readout import nearness
from georecall.statistics.ridge import Ridge


@dataclass(frozen=True, kw_only=True)
class Probe:
    """One target read off every input of one source.

    reciprocal_ranks : 1 / rank of the right attribute of each held-out subject, 0 where it cannot be named
    left_out         : the mean score of the training part, each of its subjects left out of the fit in turn
    strengths        : the ridge strength, chosen by leave-one-out inside the training part
    """

    source: str
    target: Target
    inputs: tuple[int | str, ...]
    first: int
    reciprocal_ranks: Float64[np.ndarray, "inputs rows"]
    left_out: Float64[np.ndarray, "inputs folds"]
    strengths: Float64[np.ndarray, "inputs folds"]

    @property
    def hits(self) -> Bool[np.ndarray, "inputs rows"]:
        """Whether the first place is right; a tie is not."""
        return np.asarray(self.reciprocal_ranks == 1)

    @property
    def scores(self) -> Float64[np.ndarray, "inputs rows"]:
        """What each held-out subject scores by each input."""
        return self.target.scores(self.reciprocal_ranks)

    @property
    def chosen(self) -> Int64[np.ndarray, " folds"]:
        """For each fold the input whose training part scores best when left out, the first of several."""
        return np.asarray(self.first + self.left_out[self.first :].argmax(axis=0))

    @property
    def chosen_scores(self) -> Float64[np.ndarray, " rows"]:
        """What each subject scores by the input chosen without it."""
        return self.scores[self.chosen[self.target.folds], np.arange(len(self.target.rows))]

    def only(self, number: int, *, source: str) -> "Probe":
        """The probe of one input alone, as a source of its own."""
        one = slice(number, number + 1)
        return Probe(
            source=source,
            target=self.target,
            inputs=self.inputs[one],
            first=0,
            reciprocal_ranks=self.reciprocal_ranks[one],
            left_out=self.left_out[one],
            strengths=self.strengths[one],
        )

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each input and fold: the held-out subjects together, and what the training part said."""
        for number, name in enumerate(self.inputs):
            for fold in range(self.target.n_folds):
                held_out = self.target.folds == fold
                yield {
                    "relation": self.target.relation,
                    "kind": self.target.kind,
                    "judged": self.target.judged,
                    "source": self.source,
                    "input": str(name),
                    "layer": name if isinstance(name, int) else None,
                    "fold": fold,
                    "subjects": int(held_out.sum()),
                    "hits": int(self.hits[number, held_out].sum()),
                    "reciprocal_rank": float(self.reciprocal_ranks[number, held_out].mean()),
                    "score": float(self.scores[number, held_out].mean()),
                    "left_out": float(self.left_out[number, fold]),
                    "strength": float(self.strengths[number, fold]),
                    "chosen": bool(self.chosen[fold] == number),
                }


def probe(
    inputs: Inputs,
    targets: Sequence[Target],
    *,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> tuple[Probe, ...]:
    """Probe every target on every input; `n_jobs` threads share the inputs, and change nothing in the results.

    Strengths and choices are made inside the training part of each fold. Targets of the same subjects share the
    decomposition of their features.
    """
    jobs = (delayed(_probe_input)(inputs, number, targets) for number in range(len(inputs.names)))
    found: list[list[_Outcome]] = []
    for outcomes in in_threads(jobs, n_jobs=n_jobs):
        found.append(outcomes)
        progress(f"probing {inputs.source}", len(found), len(inputs.names))
    return tuple(
        Probe(
            source=inputs.source,
            target=target,
            inputs=inputs.names,
            first=inputs.first,
            reciprocal_ranks=np.stack([outcome.reciprocal_ranks for outcome in of_target]),
            left_out=np.stack([outcome.left_out for outcome in of_target]),
            strengths=np.stack([outcome.strengths for outcome in of_target]),
        )
        for target, of_target in zip(targets, zip(*found, strict=True), strict=True)
    )


class _Outcome:
    """A target's part of one input, filled in fold by fold."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.reciprocal_ranks = np.empty(len(target.rows))
        self.left_out = np.empty(target.n_folds)
        self.strengths = np.empty(target.n_folds)

    def judge(
        self, fold: int, split: Split, rows: Ridge, projected: Float64[np.ndarray, "held_out training"]
    ) -> None:
        """Fit the training part, given as `rows`, and judge both parts."""
        target = self.target
        training, held_out = split
        labels, codes = target.labels[training], target.codes
        seen = np.bincount(labels, minlength=len(codes))
        fit = rows.fit(codes[labels])
        closeness = nearness(fit.predict(projected), codes)
        self.reciprocal_ranks[held_out] = target.reciprocal_ranks(closeness, target.labels[held_out], seen)
        left_out = target.reciprocal_ranks(nearness(fit.left_out, codes), labels, seen)
        self.left_out[fold] = target.scores(left_out).mean()
        self.strengths[fold] = fit.strength


def _probe_input(inputs: Inputs, number: int, targets: Sequence[Target]) -> list[_Outcome]:
    outcomes = [_Outcome(target) for target in targets]
    for together in _by_subjects(outcomes):
        target = together[0].target
        for fold, (training, held_out) in enumerate(target.splits()):
            features, others = inputs.split(number, target.rows[training], target.rows[held_out])
            rows = Ridge(features)
            projected = rows.project(others)
            for outcome in together:
                outcome.judge(fold, (training, held_out), rows, projected)
    return outcomes


def _by_subjects(outcomes: Sequence[_Outcome]) -> list[list[_Outcome]]:
    """Outcomes whose targets have the same subjects in the same folds."""
    groups: dict[tuple[bytes, bytes], list[_Outcome]] = {}
    for outcome in outcomes:
        key = outcome.target.rows.tobytes(), outcome.target.folds.tobytes()
        groups.setdefault(key, []).append(outcome)
    return list(groups.values())
