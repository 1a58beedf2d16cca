"""Does a relation's answer follow when its component in a subject's hidden state is exchanged for another's?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from georecall.facts.table import FactTable
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.patching import Patch, answer_log_probabilities
from georecall.language_models.prompts import AnsweredPrompt, Template
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.statistics.intervals import Interval, mean_interval
from georecall.statistics.random_streams import stream


@dataclass(frozen=True, kw_only=True)
class StateSwap:
    """Relation r of some subjects, whose attribute a is to become b: A_r (v_b − v_a) is added to state `layer`.

    Neither the layer nor the A_r may have been chosen or fitted with these subjects.
    """

    relation: str
    layer: int
    subjects: Int64[np.ndarray, " subjects"]
    wanted: Int64[np.ndarray, " subjects"]
    deltas: Float64[np.ndarray, "subjects dim"]


class SwapSummary(Record):
    """Means of a `SwapEffect` with their intervals over subjects; None where nobody was asked."""

    layer: int
    subjects: int
    follows: bool
    towards: Interval | None
    towards_at_random: Interval | None
    others_mean: Interval | None
    others: dict[str, Interval | None]
    others_at_random: dict[str, Interval | None]


@dataclass(frozen=True, kw_only=True)
class SwapEffect:
    """Changes of log-probability, in nats, by subject, under a swap.

    towards : of b less that of a, in the template of r; by the swap, and by a random direction of the same norm
    others  : of the right answer of every other relation, in its own template; NaN where the subject has none
    """

    relation: str
    layer: int
    towards: Float64[np.ndarray, " subjects"]
    towards_at_random: Float64[np.ndarray, " subjects"]
    others: Mapping[str, Float64[np.ndarray, " subjects"]]
    others_at_random: Mapping[str, Float64[np.ndarray, " subjects"]]

    @property
    def follows(self) -> bool:
        """Whether the swap moves the answer towards b further than a random direction does, with 95 % confidence."""
        return mean_interval(self.towards - self.towards_at_random, seed=0).low > 0

    @property
    def others_mean(self) -> Float64[np.ndarray, " subjects"]:
        """The change of each subject, the mean over the other relations that it has an answer to."""
        changes = np.array(list(self.others.values())).reshape(-1, len(self.towards))
        asked = (~np.isnan(changes)).sum(axis=0)
        return np.where(asked > 0, np.nansum(changes, axis=0) / np.maximum(asked, 1), np.nan)

    @property
    def summary(self) -> SwapSummary:
        """What is kept of it."""
        return SwapSummary(
            layer=self.layer,
            subjects=len(self.towards),
            follows=self.follows,
            towards=_summary(self.towards),
            towards_at_random=_summary(self.towards_at_random),
            others_mean=_summary(self.others_mean),
            others={name: _summary(change) for name, change in self.others.items()},
            others_at_random={name: _summary(change) for name, change in self.others_at_random.items()},
        )


def measure_swaps(
    lm: LanguageModel,
    table: FactTable,
    templates: Mapping[str, str],
    swaps: Sequence[StateSwap],
    *,
    answer_prefix: str = " ",
    batch: int = 32,
    seed: int = 0,
    progress: Progress = no_progress,
) -> tuple[SwapEffect, ...]:
    """Make every swap, and ask each relation of `templates`.

    Raises:
        ProbingError: as `answer_log_probabilities`.
    """
    asker = _Asker(lm, table, templates, answer_prefix, batch)
    rng, found = stream(seed, "random directions"), []
    for number, swap in enumerate(swaps, 1):
        found.append(asker.effect(swap, rng))
        progress("causal swaps", number, len(swaps))
    return tuple(found)


@dataclass(frozen=True)
class _Asker:
    lm: LanguageModel
    table: FactTable
    templates: Mapping[str, str]
    answer_prefix: str
    batch: int

    def effect(self, swap: StateSwap, rng: np.random.Generator) -> SwapEffect:
        """The effect of one swap, and of random directions of the same norms."""
        random = rng.standard_normal(swap.deltas.shape)
        norms = (np.linalg.norm(part, axis=1, keepdims=True) for part in (swap.deltas, random))
        unchanged = self._scores(swap, None)
        swapped, at_random = (
            {name: score - unchanged[name] for name, score in self._scores(swap, deltas).items()}
            for deltas in (swap.deltas, random * np.divide(*norms))
        )
        return SwapEffect(
            relation=swap.relation,
            layer=swap.layer,
            towards=swapped.pop(swap.relation),
            towards_at_random=at_random.pop(swap.relation),
            others=swapped,
            others_at_random=at_random,
        )

    def _scores(
        self, swap: StateSwap, deltas: Float64[np.ndarray, "subjects dim"] | None
    ) -> dict[str, Float64[np.ndarray, " subjects"]]:
        """Log-probabilities of the right answers by relation; of the one that is swapped, of b less that of a."""
        scores = {}
        for name in self.templates:
            answers = self.table.answers[swap.subjects, self.table.resolve_relation(name)]
            scores[name] = self._score(swap, name, answers, deltas)
            if name == swap.relation:
                scores[name] = self._score(swap, name, swap.wanted, deltas) - scores[name]
        return scores

    def _score(
        self,
        swap: StateSwap,
        relation: str,
        answers: Int64[np.ndarray, " subjects"],
        deltas: Float64[np.ndarray, "subjects dim"] | None,
    ) -> Float64[np.ndarray, " subjects"]:
        """The log-probability of these answers under a patch, or under none; NaN where there is no answer."""
        asked = answers >= 0
        prompts = self._prompts(swap.subjects[asked], relation, answers[asked])
        patch = None
        if deltas is not None:
            patch = Patch(layer=swap.layer, deltas=deltas[asked].astype(np.float32))
        scores = np.full(len(answers), np.nan)
        if prompts:
            scores[asked] = answer_log_probabilities(self.lm, prompts, patch=patch, batch=self.batch)
        return scores

    def _prompts(
        self, subjects: Int64[np.ndarray, " some"], relation: str, answers: Int64[np.ndarray, " some"]
    ) -> list[AnsweredPrompt]:
        template = Template(self.templates[relation])
        return [
            template.render(self.table.subjects[subject]).answered(
                self.table.attributes[answer], answer_prefix=self.answer_prefix
            )
            for subject, answer in zip(subjects, answers, strict=True)
        ]


def _summary(changes: Float64[np.ndarray, " subjects"]) -> Interval | None:
    """The mean over the subjects that were asked, with its interval; None if there are none."""
    asked = changes[~np.isnan(changes)]
    return mean_interval(asked, seed=0) if len(asked) else None
