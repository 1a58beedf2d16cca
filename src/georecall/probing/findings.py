"""What the hidden states of a model say of the relations of a table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pydantic import Field, InstanceOf

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.table_states import HiddenStates
from georecall.probing.controls import ControlledProbe, probe_with_controls
from georecall.probing.evidence import Evidence, score_by_input, weigh_evidence
from georecall.probing.joint_fit import JointFit, fit_jointly
from georecall.probing.probes import Probe
from georecall.probing.relations import Kind, choose_targets
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.statistics.intervals import Interval, mean_interval


class CurvePoint(Interval):
    """The score of one source at one layer; `layer` is None where the source has none."""

    relation: str
    kind: Kind
    source: str
    layer: int | None


class Findings(Record):
    """What the states say of every relation, with all controls; `skipped` has the reason for the relations left out.

    `joint` is None, and `joint_skipped` says why, if too few subjects have an answer to every relation. The probes
    themselves are kept in memory alone.
    """

    layers: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    curves: tuple[CurvePoint, ...]
    skipped: dict[str, str]
    joint: JointFit | None
    joint_skipped: str | None
    probes: tuple[InstanceOf[ControlledProbe], ...] = Field(default=(), exclude=True, repr=False)

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that were probed."""
        return tuple(evidence.relation for evidence in self.evidence)

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each relation, kind of target, source, input and fold."""
        for controlled in self.probes:
            yield from controlled.probe.records()
            for control in controlled.controls.values():
                for number, probe in enumerate(control.probes):
                    for record in probe.records():
                        yield record | {"source": control.name, "repeat": number}


def analyse(
    hidden: HiddenStates,
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
    targets, skipped = choose_targets(table, hidden.vectors, folds=folds, seed=seed)
    options: dict[str, Any] = {
        "random_states": hidden.random_states,
        "layers": hidden.layers,
        "seed": seed,
        "n_jobs": n_jobs,
    }
    probes = probe_with_controls(
        hidden.states, table, targets, shuffles=shuffles, progress=progress, **options
    )
    evidence = tuple(weigh_evidence(one, seed=seed) for one in probes if one.probe.target.judged)
    joint, reason = None, None
    try:
        joint = fit_jointly(
            hidden.states,
            table,
            hidden.vectors,
            [found.relation for found in evidence],
            folds=folds,
            progress=progress,
            **options,
        )
    except ProbingError as error:
        reason = str(error)
    judged = (one for one in probes if one.probe.target.judged)
    return Findings(
        layers=hidden.layers,
        evidence=evidence,
        curves=tuple(point for controlled in judged for point in _curves(controlled, seed)),
        probes=probes,
        skipped=skipped,
        joint=joint,
        joint_skipped=reason,
    )


def _curves(controlled: ControlledProbe, seed: int) -> Iterator[CurvePoint]:
    """Scores by layer, with intervals, of the states and of what also has layers; the other controls have no layer."""
    probe = controlled.probe
    by_layer = {"hidden states": [probe]} | {
        name: control.probes
        for name, control in controlled.controls.items()
        if len(control.probes[0].inputs) == len(probe.inputs) and name != "other relation"
    }

    def point(source: str, layer: Any, score: Interval) -> CurvePoint:
        relation, kind = probe.target.relation, probe.target.kind
        return CurvePoint(**dict(score), relation=relation, kind=kind, source=source, layer=layer)

    for source, probes in by_layer.items():
        for layer, interval in zip(probe.inputs, _by_layer(probes, seed), strict=True):
            yield point(source, layer, interval)
    for name, control in controlled.controls.items():
        if name not in by_layer:
            yield point(name, None, mean_interval(control.scores, seed=seed))


def _by_layer(probes: Sequence[Probe], seed: int) -> Sequence[Interval]:
    """The mean scores by layer; those of several shuffles are means over these, and so no rates."""
    if len(probes) == 1:
        return score_by_input(probes[0], seed=seed)
    return [mean_interval(scores, seed=seed) for scores in np.mean([one.scores for one in probes], axis=0)]
