"""What the constructions share that answer a whole question in one step."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float64, Int64

from georecall.constructions.layout import ResidualLayout
from georecall.constructions.prompts import context, question_tokens, subject_position
from georecall.constructions.weights import TransformerWeights
from georecall.errors import ConstructionError
from georecall.facts.queries import Queries, gold_paths
from georecall.facts.table import FactTable
from georecall.theory.code import Code
from georecall.theory.code_registry import COMPOSITION, shortest_code
from georecall.theory.sizes import ConstructionSize


@dataclass(frozen=True)
class SingleAnswer(ABC):
    """A transformer that answers questions of exactly k hops with one output.

    Prompts are those of `constructions.prompts`. Outputs are the attributes, then the
    unknown.
    """

    table: FactTable
    hops: int = field(default=1, kw_only=True)
    levels: int = field(default=2, kw_only=True)
    code_name: str = field(default=COMPOSITION, kw_only=True)

    def __post_init__(self) -> None:
        """Check the number of hops."""
        if self.hops < 1:
            raise ConstructionError(f"the number of hops must be 1 or more, got {self.hops}")

    @property
    @abstractmethod
    def size(self) -> ConstructionSize:
        """Predicted sizes, which the weights have exactly."""

    @property
    @abstractmethod
    def layout(self) -> ResidualLayout:
        """The named directions of the residual stream."""

    @abstractmethod
    def weights(self) -> TransformerWeights:
        """The weights; ConstructionError if they do not fit in memory."""

    @cached_property
    def code(self) -> Code:
        """The code of the attributes and of the unknown: output a has codeword a."""
        return shortest_code(self.unknown + 1, self.levels, name=self.code_name)

    @property
    def unknown(self) -> int:
        """The output that stands for a fact that is missing."""
        return len(self.table.attributes)

    def prompts(self, queries: Queries) -> Int64[np.ndarray, "batch time"]:
        """Token ids of questions."""
        return question_tokens(queries, len(self.table.subjects))

    def gold(self, queries: Queries) -> Int64[np.ndarray, "batch"]:
        """The right outputs, by table look-up."""
        return self._outputs(gold_paths(self.table, queries)[:, -1])

    def _outputs(self, answers: Int64[np.ndarray, "*batch"]) -> Int64[np.ndarray, "*batch"]:
        return np.where(answers < 0, self.unknown, answers)

    def _reads(self, position: int) -> Float64[np.ndarray, "keys queries"]:
        """Attention of the last token, which is the subject, to one position of the prompt."""
        reads = np.zeros((context(self.hops), context(self.hops)))
        reads[position, subject_position(self.hops)] = 1
        return reads

    def _positions(self) -> Float64[np.ndarray, "context dim"]:
        """One direction for each position, on the slice "positions"."""
        rows = np.zeros((context(self.hops), self.layout.dim))
        rows[:, self.layout["positions"]] = np.eye(context(self.hops))
        return rows
