"""How probable a model finds an answer, and whether greedy decoding would give it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from georecall.errors import ProbingError
from georecall.facts.queries import correct
from georecall.language_models.batches import Batch, batches, run
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import AnsweredPrompt
from georecall.progress import Progress, no_progress

Around = Callable[[Batch, Int64[Tensor, " batch"]], AbstractContextManager[None]]
"""Given a batch and the column of each subject's last token, something to hold open while the batch runs."""


@dataclass(frozen=True, kw_only=True)
class AnswerScores:
    """For each prompt the log-probability of the whole answer, and whether all its tokens are ranked first.

    log p(answer | prompt) = Σ_t log p(token t | all before it), in nats. A tie for the first place is no recall.
    """

    log_probabilities: Float64[np.ndarray, " prompts"]
    recalled: Bool[np.ndarray, " prompts"]


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What is run, the tokens of the answer, and where the subject's last token is."""

    text: str
    row: tuple[int, ...]
    answer: tuple[int, ...]
    subject: int


@torch.inference_mode()
def score_answers(
    lm: LanguageModel,
    prompts: Sequence[AnsweredPrompt],
    *,
    batch: int = 32,
    around: Around = lambda *_: nullcontext(),
    progress: Progress = no_progress,
) -> AnswerScores:
    """Score every answer by teacher forcing: prompt and answer are tokenised as one text and run once.

    An answer's tokens are those from the first to the last that have a character of it. Only where one of them is
    predicted is the head computed.

    Raises:
        ProbingError: an answer shares a token with the subject or has none, a text is too long, or logits are NaN.
    """
    questions = list(_questions(lm, prompts))
    log_probabilities = np.zeros(len(questions))
    recalled = np.ones(len(questions), dtype=np.bool_)
    done = 0
    for part in batches([question.row for question in questions], batch, device=lm.device):
        asked = [questions[item] for item in part.items]
        subjects = torch.tensor([question.subject for question in asked], device=lm.device)
        with around(part, subjects):
            scores, right, owners = _predicted(lm, part, asked)
        np.add.at(log_probabilities, part.items[owners], scores)
        np.logical_and.at(recalled, part.items[owners], right)
        done += len(asked)
        progress(f"answers of {lm.name}", done, len(questions))
    return AnswerScores(log_probabilities=log_probabilities, recalled=recalled)


def _questions(lm: LanguageModel, prompts: Sequence[AnsweredPrompt]) -> Iterator[_Question]:
    texts = lm.tokenise([prompt.text for prompt in prompts])
    for tokens, prompt in zip(texts, prompts, strict=True):
        subject, answer = tokens.tokens_of(prompt.subject)[-1], tokens.tokens_of(prompt.answer)
        if answer.start <= subject:
            raise ProbingError(f"the answer shares a token with the subject in {prompt.text!r}")
        yield _Question(
            text=prompt.text,
            row=tokens.ids[: answer.stop - 1],
            answer=tokens.ids[answer.start : answer.stop],
            subject=subject,
        )


def _predicted(
    lm: LanguageModel, batch: Batch, asked: Sequence[_Question]
) -> tuple[Float64[np.ndarray, " tokens"], Bool[np.ndarray, " tokens"], Int64[np.ndarray, " tokens"]]:
    """Log-probability of each answer's tokens, whether each is ranked first, and whose it is."""
    lengths = [len(question.answer) for question in asked]
    owners = np.repeat(np.arange(len(asked)), lengths)
    columns = [
        column
        for question, length in zip(asked, lengths, strict=True)
        for column in range(len(question.row) - length, len(question.row))
    ]
    gold = np.array([token for question in asked for token in question.answer])
    states = run(lm.model, batch)[
        torch.from_numpy(owners).to(lm.device), torch.tensor(columns, device=lm.device)
    ]
    logits = lm.parts.head(states).float().cpu()
    broken = np.flatnonzero(logits.isnan().any(dim=1).numpy())
    if len(broken):
        raise ProbingError(f"logits of {asked[owners[broken[0]]].text!r} are not finite in {lm.dtype}")
    chosen = logits.log_softmax(dim=1)[torch.arange(len(gold)), torch.from_numpy(gold)]
    return chosen.double().numpy(), correct(logits.numpy(), gold), owners
