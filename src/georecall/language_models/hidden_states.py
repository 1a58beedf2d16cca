"""The residual stream where a subject has just been read.

State 0 is the input of the first block; state l is the residual stream after block l, raw, before the final norm, for
l = 1 … L. All are taken at the last token of the subject. A causal model does not look ahead, so what stands
after that token is not run.
"""

from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import torch
from jaxtyping import Float32
from torch import Tensor

from georecall.errors import ProbingError
from georecall.language_models.architecture_parts import Visit
from georecall.language_models.batches import Batch, Padding, batches, run
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import AnsweredPrompt, Template
from georecall.language_models.state_cache import StateCache
from georecall.progress import Progress, no_progress


def subject_states(
    lm: LanguageModel,
    subjects: Sequence[str],
    template: Template,
    *,
    batch: int = 32,
    padding: Padding = "right",
    cache: StateCache | None = None,
    progress: Progress = no_progress,
) -> Float32[np.ndarray, "states subjects dim"]:
    """All L + 1 states of each subject in the template, in the order of the subjects.

    The whole prompt is tokenised, then cut after the subject's last token. With a cache, what it holds is not run
    again, and what is run is kept as it comes.

    Raises:
        ProbingError: no token stands for a subject, a prompt is too long, a state is NaN or infinite, or the model
            is of a family that is not known.
        FolderError: a file of the cache is damaged, or it cannot be written.
    """
    prompts = [template.render(subject) for subject in subjects]
    texts = [prompt.text for prompt in prompts]
    rows = [
        tokens.ids[: tokens.tokens_of(prompt.subject).stop]
        for tokens, prompt in zip(lm.tokenise(texts), prompts, strict=True)
    ]
    reader = _Reader(lm, texts, rows, padding)
    layers = range(lm.n_layers + 1)

    def read(part: range) -> Float32[np.ndarray, "states part dim"]:
        return reader.states(part, layers, batch, progress)

    if cache is None:
        return read(range(len(subjects)))
    entry = cache.entry(lm.digest, lm.dtype, subjects, template, shape=(len(layers), len(subjects), lm.dim))
    for number, part in enumerate(entry.parts):
        if not entry.holds(number):
            entry.keep(number, read(part))
        progress(reader.task, part.stop, len(subjects))
    return np.stack([entry.state(layer) for layer in layers])


def answer_states(
    lm: LanguageModel, prompts: Sequence[AnsweredPrompt], *, batch: int = 32, progress: Progress = no_progress
) -> Float32[np.ndarray, "prompts dim"]:
    """State L where each answer is predicted: at the token before the first that has a character of the answer.

    `LanguageModel.decode` makes logits of it. A space that is a token of its own belongs to the prompt.

    Raises:
        ProbingError: as `subject_states`.
    """
    texts = [prompt.text for prompt in prompts]
    rows = [
        tokens.ids[: tokens.tokens_of(prompt.answer).start]
        for tokens, prompt in zip(lm.tokenise(texts), prompts, strict=True)
    ]
    reader = _Reader(lm, texts, rows, "right")
    return reader.states(range(len(prompts)), [lm.n_layers], batch, progress)[0]


class _Reader:
    """The first tokens of texts, and their states at the last of these."""

    def __init__(
        self, lm: LanguageModel, texts: Sequence[str], rows: Sequence[tuple[int, ...]], padding: Padding
    ) -> None:
        self.lm, self.texts, self.rows, self.padding = lm, texts, rows, padding
        self.task = f"hidden states of {lm.name}"

    def states(
        self, part: range, layers: Sequence[int], size: int, progress: Progress
    ) -> Float32[np.ndarray, "states part dim"]:
        """The states `layers` of the prompts in `part`."""
        found = np.empty((len(layers), len(part), self.lm.dim), dtype=np.float32)
        done = part.start
        rows = [self.rows[item] for item in part]
        for batch in batches(rows, size, device=self.lm.device, padding=self.padding):
            found[:, batch.items] = self._checked(self._batch(batch, layers), batch, part, layers)
            done += len(batch.items)
            progress(self.task, done, len(self.rows))
        return found

    @torch.inference_mode()
    def _batch(self, batch: Batch, layers: Sequence[int]) -> Float32[np.ndarray, "states batch dim"]:
        kept: dict[int, Tensor] = {}
        rows, lasts = torch.arange(len(batch.lasts), device=self.lm.device), batch.lasts

        def keep(layer: int) -> Visit:
            def visit(state: Tensor) -> None:
                kept[layer] = state[rows, lasts]

            return visit

        with ExitStack() as hooks:
            for layer in layers:
                hooks.enter_context(self.lm.parts.visiting(layer, keep(layer)))
            run(self.lm.model, batch)
        return torch.stack([kept[layer] for layer in layers]).float().cpu().numpy()

    def _checked(
        self,
        states: Float32[np.ndarray, "states batch dim"],
        batch: Batch,
        part: range,
        layers: Sequence[int],
    ) -> Float32[np.ndarray, "states batch dim"]:
        broken = np.argwhere(~np.isfinite(states).all(axis=2))
        if len(broken):
            layer, text = layers[broken[0, 0]], self.texts[part[batch.items[broken[0, 1]]]]
            where = f"state after layer {layer}" if layer else "the input of the first layer"
            raise ProbingError(f"{where} of {text!r} is not finite in {self.lm.dtype}")
        return states
