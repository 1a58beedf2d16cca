"""A small memory in a folder, every question that it can be asked, and how transformers scores them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int64
from transformers import AutoModelForCausalLM

from cases import gold_sequences
from georecall.facts.queries import all_queries
from georecall.facts.worlds import random_functions
from georecall.memory import FactMemory

HOPS = 3
TABLE = random_functions(5, 3, 8, rng=np.random.default_rng(0), missing=0.2)

Scores = Callable[[Int64[np.ndarray, "batch places"]], Float[np.ndarray, "batch vocabulary"]]
"""What a client makes of sequences: the scores of the next token."""


def greedy(
    scores: Scores, prompts: Int64[np.ndarray, "batch places"], steps: int
) -> tuple[Int64[np.ndarray, "batch steps"], Float[np.ndarray, "batch steps vocabulary"]]:
    """Greedy decoding by hand: the tokens of every step and the scores they were chosen by."""
    tokens, found = prompts, []
    for _ in range(steps):
        found.append(scores(tokens))
        tokens = np.append(tokens, found[-1].argmax(axis=1)[:, None], axis=1)
    return tokens[:, prompts.shape[1] :], np.stack(found, axis=1)


@dataclass(frozen=True)
class Questions:
    """All questions of one length, the tokens that must be emitted, and the scores of plain transformers."""

    prompts: Int64[np.ndarray, "batch places"]
    gold: Int64[np.ndarray, "batch steps"]
    scores: Float[np.ndarray, "batch steps vocabulary"]


@dataclass(frozen=True)
class SavedMemory:
    """A memory and the folder it was saved to."""

    memory: FactMemory
    folder: Path

    def reference(self, tokens: Int64[np.ndarray, "batch places"]) -> Float[np.ndarray, "batch vocabulary"]:
        """Scores of the stock model in the folder, loaded by plain transformers."""
        with torch.inference_mode():
            return self._model(torch.from_numpy(tokens)).logits[:, -1].numpy()

    @cached_property
    def _model(self) -> torch.nn.Module:
        return AutoModelForCausalLM.from_pretrained(self.folder)

    @cached_property
    def questions(self) -> list[Questions]:
        """Every question of 1 to K hops."""
        every, chain = [], self.memory.chain
        for length in range(1, chain.hops + 1):
            prompts, gold = gold_sequences(chain, all_queries(chain.table, length))
            _, scores = greedy(self.reference, prompts, gold.shape[1])
            every.append(Questions(prompts, gold, scores))
        return every

    def check(self, scores: Scores, *, tolerance: float) -> None:
        """Every question is answered as the table does, with the scores that plain transformers gives."""
        for asked in self.questions:
            emitted, found = greedy(scores, asked.prompts, asked.gold.shape[1])
            np.testing.assert_array_equal(emitted, asked.gold)
            np.testing.assert_allclose(found, asked.scores, rtol=0, atol=tolerance)
