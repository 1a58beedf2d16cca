"""Every question of a construction that answers in one step, through `RecallTransformer`."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from georecall.constructions.single_answer import SingleAnswer
from georecall.facts.queries import all_queries, margins
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress

NUMBERS_AT_ONCE = 1 << 24
"""Numbers that one batch may hold in its widest layer: 64 MB in float32."""


@dataclass(frozen=True, kw_only=True)
class ExhaustiveEvaluation:
    """The certificate of a construction by asking it everything: how many questions, how many wrong, least margin.

    A tie and a NaN count as wrong.
    """

    dtype: str
    queries: int
    wrong: int
    margin: float

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


def evaluate_exhaustively(
    construction: SingleAnswer, dtype: torch.dtype, *, progress: Progress = no_progress
) -> ExhaustiveEvaluation:
    """Ask all N·R^k questions in the number format `dtype`.

    Raises:
        ConstructionError: the weights do not fit in memory.
        GeorecallError: there are more than 10^8 questions.
    """
    queries = all_queries(construction.table, construction.hops)
    model = RecallTransformer.from_weights(construction.weights(), dtype=dtype)
    size, total = construction.size, len(queries.subjects)
    rows = max(1, NUMBERS_AT_ONCE // max(size.width, size.dimension * (construction.hops + 1)))
    wrong, least, done = 0, np.inf, 0
    for part in queries.split(rows):
        with torch.inference_mode():
            scores = model(torch.from_numpy(construction.prompts(part)))[0].float().numpy()
        leads = np.nan_to_num(margins(scores, construction.gold(part)), nan=-np.inf)
        wrong += int(np.count_nonzero(leads <= 0))
        least = min(least, float(leads.min()))
        done += len(leads)
        progress(f"asking {type(construction).__name__}, {construction.hops} hops", done, total)
    return ExhaustiveEvaluation(
        dtype=str(dtype).removeprefix("torch."), queries=total, wrong=wrong, margin=least
    )
