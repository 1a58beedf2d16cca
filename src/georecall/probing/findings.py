"""What the hidden states of a model say of the relations of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.reading import Reading
from georecall.probing.controls import ControlledProbe, probe_with_controls
from georecall.probing.evidence import Evidence, score_by_input, weigh_evidence
from georecall.probing.joint_fit import JointFit, fit_jointly
from georecall.probing.probes import Probe
from georecall.probing.relations import choose_targets
from georecall.progress import Progress, no_progress
from georecall.statistics.intervals import Interval, mean_interval


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the states say of every relation, with all controls; `skipped` has the reason for the relations left out.

    `joint` is None, and `joint_skipped` says why, if too few subjects have an answer to every relation.
    """

    seed: int
    layers: tuple[int, ...]
    probes: tuple[ControlledProbe, ...]
    evidence: tuple[Evidence, ...]
    skipped: Mapping[str, str]
    joint: JointFit | None
    joint_skipped: str | None

    @property
    def judged(self) -> tuple[ControlledProbe, ...]:
        """For each relation the probe of the kind that it is judged by."""
        return tuple(controlled for controlled in self.probes if controlled.probe.target.judged)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that were probed."""
        return tuple(evidence.relation for evidence in self.evidence)

    def to_dict(self) -> dict[str, Any]:
        """Verdicts and fits; the single folds are in `records`."""
        return {
            "layers": list(self.layers),
            "evidence": [evidence.to_dict() for evidence in self.evidence],
            "curves": [point for controlled in self.judged for point in _curves(controlled, self.seed)],
            "skipped": dict(self.skipped),
            "joint": self.joint and self.joint.to_dict(),
            "joint_skipped": self.joint_skipped,
        }

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each relation, kind of target, source, input and fold."""
        for controlled in self.probes:
            yield from controlled.probe.records()
            for control in controlled.controls.values():
                for number, probe in enumerate(control.probes):
                    for record in probe.records():
                        yield record | {"source": control.name, "repeat": number}


def analyse(
    reading: Reading,
    table: FactTable,
    *,
    folds: int = 5,
    shuffles: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> Findings:
    """Probe every relation that can be probed, with all controls, and fit the superposition of them all.

    Raises:
        ProbingError: no relation can be probed, or states are not finite.
    """
    targets, skipped = choose_targets(table, reading.vectors, folds=folds, seed=seed)
    options: dict[str, Any] = {
        "random_states": reading.random_states,
        "layers": reading.layers,
        "seed": seed,
        "n_jobs": n_jobs,
    }
    probes = probe_with_controls(
        reading.states, table, targets, shuffles=shuffles, progress=progress, **options
    )
    evidence = tuple(weigh_evidence(one, seed=seed) for one in probes if one.probe.target.judged)
    joint, reason = None, None
    try:
        joint = fit_jointly(
            reading.states,
            table,
            reading.vectors,
            [found.relation for found in evidence],
            folds=folds,
            progress=progress,
            **options,
        )
    except ProbingError as error:
        reason = str(error)
    return Findings(
        seed=seed,
        layers=reading.layers,
        probes=probes,
        evidence=evidence,
        skipped=skipped,
        joint=joint,
        joint_skipped=reason,
    )


def _curves(controlled: ControlledProbe, seed: int) -> Iterator[dict[str, Any]]:
    """Scores by layer, with intervals, of the states and of what also has layers; the other controls have no layer."""
    probe = controlled.probe
    relation = {"relation": probe.target.relation, "kind": probe.target.kind}
    by_layer = {"hidden states": [probe]} | {
        name: control.probes
        for name, control in controlled.controls.items()
        if len(control.probes[0].inputs) == len(probe.inputs) and name != "other relation"
    }
    for source, probes in by_layer.items():
        for layer, interval in zip(probe.inputs, _by_layer(probes, seed), strict=True):
            yield relation | {"source": source, "layer": layer} | interval.to_dict()
    for name, control in controlled.controls.items():
        if name not in by_layer:
            yield (
                relation
                | {"source": name, "layer": None}
                | mean_interval(control.scores, seed=seed).to_dict()
            )


def _by_layer(probes: Sequence[Probe], seed: int) -> Sequence[Interval]:
    """The mean scores by layer; those of several shuffles are means over these, and so no rates."""
    if len(probes) == 1:
        return score_by_input(probes[0], seed=seed)
    return [mean_interval(scores, seed=seed) for scores in np.mean([one.scores for one in probes], axis=0)]
