"""The training loop: every step depends on config, table and step number only, so a run resumes bit for bit."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from georecall.errors import TrainingError
from georecall.facts.table import FactTable
from georecall.models.recall import RecallConfig, RecallTransformer
from georecall.progress import Progress, no_progress
from georecall.training.config import TrainConfig
from georecall.training.evaluation import recall
from georecall.training.examples import Examples
from georecall.training.loss import cross_entropy
from georecall.training.optimiser import EnsembleAdamW, freeze
from georecall.training.settings import check_room

WARM_UP = 0.05
SPLIT_SEED = 0
ORDER, NOISE = range(2)
"""What random numbers are drawn for: each purpose has a stream of its own."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What was seen after a number of steps; a list has an entry for each member."""

    step: int
    loss: list[float]
    recall: list[float]
    margin: list[float]
    held_out_recall: list[float] | None

    def to_dict(self) -> dict[str, Any]:
        """The fields, with None for what is not finite, which JSON does not have."""
        return {
            name: _finite(value) if isinstance(value, list) else value for name, value in vars(self).items()
        }

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Checked":
        """From what `to_dict` gave; a number that was not finite is NaN."""
        lists = {name: [math.nan if v is None else v for v in fields[name]] for name in ("loss", "margin")}
        return cls(**fields | lists)


def _finite(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


@dataclass
class Trainer:
    """An ensemble in training on one table.

    `enough` says of what was seen whether training may stop; by default that every member recalls everything
    with a margin above the config's margin.

    Raises:
        TrainingError, GeorecallError: as `questions_of`.
    """

    table: FactTable
    config: TrainConfig
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    enough: Callable[[Checked], bool] | None = None
    step: int = field(default=0, init=False)
    history: list[Checked] = field(default_factory=list, init=False)
    losses: Float[Tensor, " members"] = field(init=False)
    """Sum of each member's losses since the last look."""

    def __post_init__(self) -> None:
        """Draw the ensemble; nothing depends on the global random state."""
        config = self.config
        examples = questions_of(self.table, config)
        self.examples, self.held_out = (
            part.to(self.device) for part in examples.split(config.held_out, seed=SPLIT_SEED)
        )
        self.model = fresh_model(self.table, config).to(self.device)
        freeze(self.model, config.freeze)
        rates = [rate for rate, _ in config.members]
        self.optimiser = EnsembleAdamW(self.model, rates, weight_decay=config.weight_decay)
        self.losses = torch.zeros(self.model.members, device=self.device)
        self._order: tuple[int, Tensor] | None = None

    @property
    def finished(self) -> bool:
        """Whether the schedule is over, or what was last seen is enough."""
        enough = self.enough or self._all_recalled
        return self.step >= self.config.steps or (bool(self.history) and enough(self.history[-1]))

    def run(
        self,
        *,
        until: int | None = None,
        progress: Progress = no_progress,
        after_check: Callable[["Trainer"], None] = lambda _: None,
    ) -> None:
        """Train to the end of the schedule, or until a number of steps is done.

        Looks are at every `check_every` steps and at the end of the schedule, wherever training stops between.

        Raises:
            TrainingError: every member has diverged: their losses are not finite.
        """
        steps = self.config.steps
        last = steps if until is None else min(until, steps)
        while self.step < last and not self.finished:
            self.losses += self._advance()
            if self.step % self.config.check_every == 0 or self.step == steps:
                self._check()
                after_check(self)
            progress("training", self.step, steps, self._status())

    def look(self) -> Checked:
        """How the ensemble stands now; at a look that was just taken, the last of the history."""
        if self.history and self.history[-1].step == self.step:
            return self.history[-1]
        found = recall(self.model, self.examples)
        return Checked(
            step=self.step,
            loss=(self.losses / (self.step - self._last_look)).tolist(),
            recall=found.share.tolist(),
            margin=found.margin.tolist(),
            held_out_recall=recall(self.model, self.held_out).share.tolist() if len(self.held_out) else None,
        )

    def _advance(self) -> Float[Tensor, " members"]:
        """One step on one batch; returns the losses before it."""
        batch = self._batch()
        x = self._noisy(self.model.embed(batch.tokens), batch.tokens)
        states = self.model.states(x, asked=batch.targets.shape[1]).flatten(1, 2)
        losses = cross_entropy(
            states,
            self.model.unembedding,
            batch.targets.flatten(),
            label_smoothing=self.config.label_smoothing,
        )
        losses.sum().backward()
        self.optimiser.step(schedule(self.step, self.config.steps))
        self.step += 1
        return losses.detach()

    def _batch(self) -> Examples:
        """The questions of this step: a random order of all of them, cut into batches, for each epoch."""
        count, size = len(self.examples), self.config.batch
        if count <= size:
            return self.examples
        epoch, place = divmod(self.step, count // size)
        if self._order is None or self._order[0] != epoch:
            order = torch.randperm(count, generator=self._stream(ORDER, epoch, torch.device("cpu")))
            self._order = epoch, order.to(self.device)
        return self.examples[self._order[1][place * size : (place + 1) * size]]

    def _noisy(
        self, x: Float[Tensor, "members batch time dim"], tokens: Tensor
    ) -> Float[Tensor, "members batch time dim"]:
        """Noise on every entity's embedding, a share of the standard deviation of all of the member's."""
        if not self.config.embedding_noise:
            return x
        noise = torch.randn(
            x.shape, generator=self._stream(NOISE, self.step, self.device), device=self.device
        )
        spread = self.model.embedding[0].detach().std(dim=(1, 2), correction=0)[:, None, None, None]
        is_entity = (tokens < len(self.table.subjects))[..., None]
        return x + self.config.embedding_noise * spread * is_entity * noise

    def _stream(self, purpose: int, number: int, device: torch.device) -> torch.Generator:
        words = np.random.SeedSequence((self.config.first_seed, number, purpose)).generate_state(1, np.uint64)
        return torch.Generator(device).manual_seed(int(words[0]))

    @property
    def _last_look(self) -> int:
        return self.history[-1].step if self.history else 0

    def _check(self) -> None:
        if not self.losses.isfinite().any():
            raise TrainingError(f"every member has diverged by step {self.step}; try a smaller learning rate")
        self.history.append(self.look())
        self.losses.zero_()

    def _all_recalled(self, last: Checked) -> bool:
        return self.config.margin is not None and min(last.margin) > self.config.margin

    def _status(self) -> str:
        """Loss of the mean member, and recall of the worst, when last looked at."""
        if not self.history:
            return ""
        last = self.history[-1]
        loss = sum(last.loss) / len(last.loss)
        return f"loss {loss:.3g}, recall of {len(self.examples):,}: {min(last.recall):.2%}"


def questions_of(table: FactTable, config: TrainConfig) -> Examples:
    """All questions that training is about.

    Raises:
        TrainingError: the ensemble does not fit in memory, or the table answers no question of this length, or has
            one attribute only.
        GeorecallError: there are more than 10^8 questions.
    """
    if len(table.attributes) < 2:
        raise TrainingError("expected a table of at least 2 attributes, got 1: no answer could be wrong")
    n_subjects, n_relations = table.answers.shape
    check_room(config, subjects=n_subjects, relations=n_relations, attributes=len(table.attributes))
    return Examples.of(table, config.hops, config.mode)


def fresh_model(table: FactTable, config: TrainConfig) -> RecallTransformer:
    """The ensemble before training, with a position for every relation and every entity of a question."""
    shape = RecallConfig(
        subjects=len(table.subjects),
        relations=len(table.relations),
        outputs=len(table.attributes),
        context=config.context,
        dim=config.dim,
        width=config.width,
        attribute_dim=config.out,
        attention=config.attention,
        heads=config.heads,
        residual=config.residual,
    )
    seeds = [torch.Generator().manual_seed(seed) for _, seed in config.members]
    return RecallTransformer.random(shape, generators=seeds)


def schedule(step: int, steps: int) -> float:
    """Factor of the learning rate at a step: linear warm-up, then half a cosine down to 0."""
    warm = max(1, round(WARM_UP * steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
