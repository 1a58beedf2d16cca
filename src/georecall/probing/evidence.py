"""Whether a relation is read off the hidden states better than by everything that it must beat."""

import numpy as np
from jaxtyping import Float64

from georecall.probing.controls import Control, ControlledProbe
from georecall.probing.probes import Probe
from georecall.probing.relations import Kind
from georecall.records import Number, Record, derived
from georecall.statistics.comparisons import Comparison, compare
from georecall.statistics.intervals import Interval, mean_interval, rate_interval
from georecall.statistics.wording import ends, layers_text, number

REQUIRED = (
    "majority",
    "shuffled labels",
    "character n-grams",
    "layer 0",
    "random weights",
    "other relation",
)
"""The controls that a complete comparison has."""


class Evidence(Record):
    """The verdict on one relation.

    There is evidence if the probe beats *every* control. That is an intersection–union test: it errs only if it errs
    on a control that is truly not beaten, so that each may be tested at 95 %, however many there are.

    score         : the mean over subjects of the score by the layer chosen without them
    chosen_layers : the layer chosen in each fold
    by_relation   : the mean score by each other relation alone
    not_measured  : controls that there are no numbers for
    """

    relation: str
    kind: Kind
    subjects: int
    score: Interval
    chosen_layers: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    by_relation: dict[str, Number]
    not_measured: tuple[str, ...]

    @derived
    def evidence(self) -> bool:
        """Whether every control is beaten."""
        return all(comparison.beaten for comparison in self.comparisons)

    @property
    def found(self) -> bool:
        """The same, as a word to ask by."""
        return self.evidence

    @property
    def nearest(self) -> Comparison:
        """The control that is beaten least clearly."""
        return min(self.comparisons, key=lambda comparison: comparison.difference.low)

    @derived
    def words(self) -> str:
        """The verdict in words."""
        nearest, difference = self.nearest, self.nearest.difference
        if self.found:
            said = f"evidence: {self.score} at {layers_text(self.chosen_layers)}, beats every control; "
            said += f"nearest: {nearest.name} {number(nearest.score)}"
        else:
            said = f"no evidence: {number(self.score.value)} does not beat {nearest.name} {number(nearest.score)} "
            said += f"(difference {number(difference.value)}, {ends((difference.low, difference.high))})"
        return said + "".join(f"; not measured: {name}" for name in self.not_measured)


def weigh_evidence(controlled: ControlledProbe, *, seed: int = 0) -> Evidence:
    """Compare a probe with each of its controls, over subjects drawn anew."""
    probe = controlled.probe
    scores = probe.chosen_scores
    return Evidence(
        relation=probe.target.relation,
        kind=probe.target.kind,
        subjects=len(scores),
        score=_score_interval(probe.target.kind, scores, seed),
        chosen_layers=tuple(int(probe.inputs[number]) for number in probe.chosen),
        comparisons=tuple(
            compare(scores, control.scores, control=control.name, name=_in_words(control), seed=seed)
            for control in controlled.controls.values()
        ),
        by_relation=controlled.by_relation,
        not_measured=tuple(name for name in REQUIRED if name not in controlled.controls),
    )


def score_by_input(probe: Probe, *, seed: int = 0) -> tuple[Interval, ...]:
    """The mean score of all subjects by each input, none of them chosen; for curves over layers."""
    return tuple(_score_interval(probe.target.kind, scores, seed) for scores in probe.scores)


def _score_interval(kind: Kind, scores: Float64[np.ndarray, " subjects"], seed: int) -> Interval:
    return rate_interval(scores == 1) if kind == "classes" else mean_interval(scores, seed=seed)


def _in_words(control: Control) -> str:
    """The control's name, with the relations that were chosen."""
    if control.name != "other relation":
        return control.name
    (probe,) = control.probes
    chosen = dict.fromkeys(repr(probe.inputs[number]) for number in probe.chosen)
    return f"{control.name} {' or '.join(chosen)}"
