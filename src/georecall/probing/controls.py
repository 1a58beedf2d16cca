"""Probes beside what they must beat: what needs no hidden state, no training, or no right answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby

import numpy as np
from jaxtyping import Float32, Float64

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.probing.features import NameGrams, OtherRelations, States, checked_layers
from georecall.probing.probes import Probe, probe
from georecall.probing.relations import Target
from georecall.progress import Progress, no_progress
from georecall.statistics.random_streams import stream


@dataclass(frozen=True, kw_only=True)
class Control:
    """Something a probe must beat: one probe, or several, of which each subject's mean counts."""

    name: str
    probes: tuple[Probe, ...]

    @property
    def scores(self) -> Float64[np.ndarray, " rows"]:
        """What each subject scores."""
        return np.asarray(np.mean([probe.chosen_scores for probe in self.probes], axis=0))


@dataclass(frozen=True, kw_only=True)
class ControlledProbe:
    """One target read off the hidden states, and its controls under the same folds, by name."""

    probe: Probe
    controls: Mapping[str, Control]

    @property
    def by_relation(self) -> dict[str, float]:
        """The mean score by each other relation alone."""
        if "other relation" not in self.controls:
            return {}
        (others,) = self.controls["other relation"].probes
        return {
            str(name): float(score)
            for name, score in zip(others.inputs, others.scores.mean(axis=1), strict=True)
        }


def probe_with_controls(
    states: Float32[np.ndarray, "states subjects dim"],
    table: FactTable,
    targets: Sequence[Target],
    *,
    layers: Sequence[int] | None = None,
    random_states: Float32[np.ndarray, "states subjects dim"] | None = None,
    shuffles: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> tuple[ControlledProbe, ...]:
    """Probe the targets of `relations.choose_targets` on the states after `layers`, and on all that they must beat.

    majority          : attributes in order of their frequency in training
    shuffled labels   : answers permuted over the subjects, layers chosen anew; the mean of several shuffles
    character n-grams : the subject's name
    layer 0           : the state before the first block
    random weights    : the states of a model of the same shape that was not trained, if given; own layers
    other relation    : the answer to one other relation, which the training part chooses, if there is one

    Raises:
        ProbingError: states of another number of subjects or layers than expected, or that are not finite.
    """
    if states.shape[1] != len(table.subjects):
        raise ProbingError(f"expected states of {len(table.subjects)} subjects, got {states.shape[1]}")
    numbers = checked_layers(len(states), layers)
    rng = stream(seed, "shuffled labels")
    shuffled = [target.permuted(rng) for _ in range(shuffles) for target in targets]

    run = partial(probe, n_jobs=n_jobs, progress=progress)
    on_states = run(States(source="hidden states", names=numbers, values=states), [*targets, *shuffled])
    main = on_states[: len(targets)]
    found: dict[str, Sequence[Sequence[Probe]]] = {
        "majority": [[majority(target)] for target in targets],
        "shuffled labels": [on_states[len(targets) + place :: len(targets)] for place in range(len(targets))],
        "character n-grams": _each(run(NameGrams(subjects=table.subjects), targets)),
        "layer 0": [[one.only(0, source="layer 0")] for one in main],
    }
    if random_states is not None:
        untrained = States(source="random weights", names=numbers, values=random_states)
        found["random weights"] = _each(run(untrained, targets))
    if len(table.relations) > 1:
        by_relation = groupby(targets, key=lambda target: target.relation)
        probes = [
            run(OtherRelations(table=table, without=relation), list(own)) for relation, own in by_relation
        ]
        found["other relation"] = _each(chain.from_iterable(probes))
    return tuple(
        ControlledProbe(
            probe=one,
            controls={
                name: Control(name=name, probes=tuple(probes[place])) for name, probes in found.items()
            },
        )
        for place, one in enumerate(main)
    )


def majority(target: Target) -> Probe:
    """The attributes in order of their frequency in the training part, those of one frequency in table order."""
    ranks = np.empty((1, len(target.rows)))
    for training, held_out in target.splits():
        seen = np.bincount(target.labels[training], minlength=len(target.attributes))
        order = np.argsort(-seen, kind="stable")
        closeness = np.empty((len(held_out), len(seen)))
        closeness[:, order] = -np.arange(len(seen))
        ranks[0, held_out] = target.reciprocal_ranks(closeness, target.labels[held_out], seen)
    undefined = np.full((1, target.n_folds), np.nan)
    return Probe(
        source="majority",
        target=target,
        inputs=("frequency",),
        first=0,
        reciprocal_ranks=ranks,
        left_out=undefined,
        strengths=undefined,
    )


def _each(probes: Iterable[Probe]) -> list[list[Probe]]:
    return [[one] for one in probes]
