"""What is dissected: a transformer that answers one hop, its facts, and one split of the subjects."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor, nn

from georecall.constructions.prompts import RELATION, SUBJECT, context, one_hop_tokens
from georecall.errors import AnalysisError
from georecall.facts.queries import correct
from georecall.facts.table import FactTable
from georecall.models.activations import NO_EDITS, Activations, Edits
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress
from georecall.statistics.folds import split

HELD_OUT = 0.25
"""Part of the subjects on which everything is judged."""

LEAST_SUBJECTS = 8

PROMPTS_AT_ONCE = 1024
"""Their scores, a few megabytes, stay in the cache until they are compared."""


@dataclass(frozen=True)
class Member:
    """One model of the ensemble, sharing its memory, and the table it is asked from."""

    model: RecallTransformer
    table: FactTable

    @cached_property
    def subjects(self) -> Float64[np.ndarray, "subjects dim"]:
        """The embeddings e_s."""
        return self.model.embedding[0][0].double().cpu().numpy()

    @cached_property
    def attributes(self) -> Float64[np.ndarray, "attributes out"]:
        """The attribute vectors u_a: rows of the unembedding, an output for the unknown left out."""
        return self.model.unembedding[0, : len(self.table.attributes)].double().cpu().numpy()

    def activations(self, prompts: Int64[Tensor, "batch time"], *, edits: Edits = NO_EDITS) -> Activations:
        """The model's `trace`; AnalysisError if the number format overflows on the way."""
        found = self.model.trace(prompts, edits=edits)
        if not (found.pre_activation.isfinite().all() and found.state.isfinite().all()):
            raise AnalysisError(
                "expected finite activations, got NaN or infinity: the number format overflows"
            )
        return found

    def tensor(self, array: Float64[np.ndarray, "*shape"]) -> Float[Tensor, "*shape"]:
        """An array in the number format, and on the device, of the model."""
        return torch.from_numpy(array).to(self.model.unembedding)

    def answers(self, states: Float[Tensor, "*batch out"]) -> Int64[np.ndarray, "*batch"]:
        """The output that is `correct` in each final state; −1 where a tie or a NaN leaves none."""
        rows = states.flatten(0, -2).split(PROMPTS_AT_ONCE)
        answers = [_strict_best(part @ self.model.unembedding[0].T) for part in rows]
        return np.concatenate(answers).reshape(states.shape[:-1])

    def ask_all(self, embeddings: Float[Tensor, "batch dim"]) -> Int64[np.ndarray, "batch relations"]:
        """The answers of all relations about subjects that have these embeddings."""
        relations = self.model.embedding[1][0] + self.model.positions[0, RELATION]
        subjects = embeddings + self.model.positions[0, SUBJECT]
        at_once = max(1, PROMPTS_AT_ONCE // len(relations))
        return np.concatenate([self._ask(relations, part) for part in subjects.split(at_once)])

    def _ask(
        self, relations: Float[Tensor, "relations dim"], subjects: Float[Tensor, "batch dim"]
    ) -> Int64[np.ndarray, "batch relations"]:
        shape = len(subjects), len(relations)
        x = relations.new_empty(*shape, context(1), relations.shape[1])
        x[:, :, RELATION], x[:, :, SUBJECT] = relations, subjects[:, None]
        states = self.model.states(x.flatten(0, 1)[None])[0, :, 0]
        return self.answers(states.unflatten(0, shape))


@dataclass(frozen=True, kw_only=True)
class HeldOutSplit:
    """An ensemble and its table, checked, with the subjects split once, before any statistic is taken.

    Every fit and every choice is made on the subjects in `training`, every rate is counted on those `held_out`,
    a quarter. A subject with a missing fact is in neither part: a model is free to store anything in its place.
    """

    model: RecallTransformer
    table: FactTable
    training: Int64[np.ndarray, " training"]
    held_out: Int64[np.ndarray, " held_out"]

    @classmethod
    def of(cls, model: RecallTransformer, table: FactTable, *, seed: int) -> "HeldOutSplit":
        """Check the model against the table and split the subjects.

        Raises:
            AnalysisError: the model does not answer one hop, does not fit the table, or is not finite; or fewer
                than eight subjects have all their facts.
        """
        _check_shape(model, table)
        _check_numbers(model)
        complete = np.flatnonzero((table.answers >= 0).all(axis=1))
        if len(complete) < LEAST_SUBJECTS:
            raise AnalysisError(
                f"expected at least {LEAST_SUBJECTS} subjects that have all their facts, got {len(complete)}"
            )
        training, held_out = split(complete, HELD_OUT, seed)
        return cls(model=model, table=table, training=training, held_out=held_out)

    def members(self, task: str, progress: Progress) -> Iterator[Member]:
        """The models one by one, with progress reported."""
        for member in range(self.model.members):
            progress(task, member, self.model.members)
            parts = {id(part): _frozen(part[member : member + 1]) for part in self.model.parameters()}
            yield Member(deepcopy(self.model, parts), self.table)
        progress(task, self.model.members, self.model.members)

    def prompts(self, subjects: Int64[np.ndarray, " batch"]) -> Int64[Tensor, "prompts time"]:
        """Token ids of all relations of the given subjects, subject by subject."""
        n_subjects, n_relations = self.table.answers.shape
        tokens = one_hop_tokens(subjects, n_subjects=n_subjects, n_relations=n_relations)
        return torch.from_numpy(tokens).to(self.model.unembedding.device)

    def shuffled_answers(self, rng: np.random.Generator) -> Int64[np.ndarray, "subjects relations"]:
        """The control: the facts of each relation permuted over the subjects that take part."""
        taking_part = np.concatenate([self.training, self.held_out])
        answers = self.table.answers.copy()
        answers[taking_part] = rng.permuted(answers[taking_part], axis=0)
        return answers


def _strict_best(scores: Float[Tensor, "batch outputs"]) -> Int64[np.ndarray, " batch"]:
    known = scores.to(torch.promote_types(scores.dtype, torch.float32)).cpu().numpy()
    best = known.argmax(axis=1)
    return np.where(correct(known, best), best, -1)


def _frozen(part: Tensor) -> nn.Parameter:
    return nn.Parameter(part.detach(), requires_grad=False)


def _check_shape(model: RecallTransformer, table: FactTable) -> None:
    if len(model.layers) != 1 or model.positions.shape[1] != 2:
        raise AnalysisError(
            "expected a model of one hop, with one layer and prompts of two tokens, "
            f"got {len(model.layers)} layers and prompts of {model.positions.shape[1]}"
        )
    rows = [part.shape[1] for part in model.embedding]
    if rows != list(table.answers.shape):
        raise AnalysisError(
            f"expected embeddings of {table.answers.shape[0]} subjects and of {table.answers.shape[1]} relations "
            f"as two parts, got parts of {rows} rows"
        )
    if len(table.attributes) < 2:
        raise AnalysisError("expected at least 2 attributes, got 1: no answer could be wrong")
    if model.unembedding.shape[1] < len(table.attributes):
        raise AnalysisError(
            f"expected an output for each of {len(table.attributes)} attributes, "
            f"got {model.unembedding.shape[1]} outputs"
        )


def _check_numbers(model: RecallTransformer) -> None:
    for name, parameter in model.named_parameters():
        finite = parameter.detach().isfinite().flatten(1).all(dim=1)
        if not finite.all():
            raise AnalysisError(
                f"expected finite weights, got NaN or infinity in {name} of member {int(finite.int().argmin())}"
            )
