"""A table as training examples: prompts, and the attribute that is right at each of the last tokens."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from georecall.constructions.prompts import chain_tokens, question_tokens
from georecall.errors import TrainingError
from georecall.facts.queries import Queries, all_queries, gold_paths
from georecall.facts.table import FactTable
from georecall.training.config import Mode


@dataclass(frozen=True, kw_only=True)
class Examples:
    """Questions and answers of one length.

    `tokens` are laid out as `constructions.prompts` says, with a chain of thought as all but the last of the
    entities on the way have been emitted. `targets` are the attributes that are right after each of
    the last tokens: one in direct mode, all k steps with a chain of thought.
    """

    tokens: Int64[Tensor, "questions time"]
    targets: Int64[Tensor, "questions steps"]

    @classmethod
    def of(cls, table: FactTable, hops: int, mode: Mode) -> "Examples":
        """All questions of k hops that the table answers.

        Raises:
            TrainingError: it answers none.
            GeorecallError: there are more than 10^8 questions.
        """
        queries = all_queries(table, hops)
        paths = gold_paths(table, queries)
        known = paths[:, -1] >= 0
        if not known.any():
            raise TrainingError(f"expected a table with answers to questions of {hops} hops, it has none")
        asked = Queries(queries.subjects[known], queries.relations[known])
        prompts = question_tokens(asked, len(table.subjects))
        if mode == "direct":
            return cls(tokens=torch.from_numpy(prompts), targets=torch.from_numpy(paths[known][:, -1:]))
        on_the_way = table.subject_of_attribute[paths[known][:, :-1]]
        tokens = chain_tokens(prompts, on_the_way)
        return cls(tokens=torch.from_numpy(tokens), targets=torch.from_numpy(paths[known]))

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.tokens)

    def __getitem__(self, rows: Int64[Tensor, " batch"] | slice) -> "Examples":
        """Some of the questions."""
        return Examples(tokens=self.tokens[rows], targets=self.targets[rows])

    def to(self, device: torch.device) -> "Examples":
        """The same on a device."""
        return Examples(tokens=self.tokens.to(device), targets=self.targets.to(device))

    def split(self, share: float, *, seed: int) -> tuple["Examples", "Examples"]:
        """The questions to train on, and a random share (rounded down) that is held out."""
        order = torch.from_numpy(np.random.default_rng(seed).permutation(len(self)))
        count = int(share * len(self))
        return self[order[count:].sort().values], self[order[:count].sort().values]
