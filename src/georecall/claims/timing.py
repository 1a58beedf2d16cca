"""How long measuring claims will take here: times of a reference machine, scaled by a moment of training."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import torch

from georecall.claims.claim import Claim, Preset
from georecall.sweeps.cells import Cell
from georecall.sweeps.failures import has_failed

REFERENCE_STEPS = 5096.0
"""Steps a second, as `steps_a_second` counts them, of the machine whose times the claims state: an Intel Xeon.

Measured times are the sum of the seconds of all cells, each on one core; those of standard while other work went on,
so rather too long. Estimated ones are the sum over cells of, in seconds, for training
steps · (0.001 k^1.1 + (8e-9 + 3e-11 d) · batch · members · N), the time of a step found in the cells of quick; 1.75k
times the longest schedule for a search of d*, 1.2 times for what is looked into afterwards; for constructions
2.5e-7 · N²R (one hop) and the multiplications of all questions, at 2e10 a second.
"""
CALIBRATION_SECONDS = 0.2
BATCH, DIM, ATTRIBUTES = 256, 64, 256
"""Sizes of the step that is timed: those of the smaller cells."""
How = Literal["measured", "estimated", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """What is left to do of a claim; cells that an earlier claim of the list measures too count there only.

    `seconds` are of one core of the reference machine, for all its own cells; None if nobody has measured them.
    """

    id: str
    cells: int
    done: int
    own: int
    own_done: int
    seconds: float | None
    how: How

    @property
    def seconds_left(self) -> float | None:
        """For the own cells that are not done; a claim's cells count as equal."""
        if self.own_done == self.own:
            return 0.0
        return None if self.seconds is None else self.seconds * (1 - self.own_done / self.own)

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self) | {"seconds_left": self.seconds_left}


def expectations(
    claims: Sequence[Claim], preset: Preset, root: Path, *, retry_failed: bool = False
) -> tuple[Expectation, ...]:
    """What every claim will take, in the order in which they are measured."""
    taken: set[str] = set()
    found = []
    for claim in claims:
        cells = {cell.folder_name: cell for cell in claim.cells(preset)}
        own = [cell for name, cell in cells.items() if name not in taken]
        taken |= cells.keys()
        known = claim.times.get(preset)
        found.append(
            Expectation(
                id=claim.id,
                cells=len(cells),
                done=_ended(cells.values(), root, retry_failed=retry_failed),
                own=len(own),
                own_done=_ended(own, root, retry_failed=retry_failed),
                seconds=None if known is None or not cells else known.seconds * len(own) / len(cells),
                how="unknown" if known is None else known.how,
            )
        )
    return tuple(found)


def _ended(cells: Collection[Cell], root: Path, *, retry_failed: bool) -> int:
    return sum(cell.is_measured(root) or (has_failed(cell, root) and not retry_failed) for cell in cells)


def minutes_here(workers: int) -> Callable[[Expectation], float | None]:
    """Turns expectations into minutes on this machine, as quick as it is now, with so many cells at once."""
    slowness = REFERENCE_STEPS / steps_a_second()

    def minutes(expected: Expectation) -> float | None:
        at_once = max(1, min(workers, expected.own - expected.own_done))
        left = expected.seconds_left
        return None if left is None else left * slowness / at_once / 60

    return minutes


def steps_a_second(seconds: float = CALIBRATION_SECONDS) -> float:
    """Small steps of training a second on one thread, by the median, as other work may come between."""
    rng = torch.Generator().manual_seed(0)
    states = torch.randn(BATCH, DIM, generator=rng)
    weights = torch.randn(DIM, ATTRIBUTES, generator=rng, requires_grad=True)
    answers = torch.randint(ATTRIBUTES, (BATCH,), generator=rng)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        times = [_step(states, weights, answers) for _ in range(2)]  # the first ones are slow
        while sum(times) < seconds:
            times.append(_step(states, weights, answers))
        return 1 / median(times)
    finally:
        torch.set_num_threads(threads)


def _step(states: torch.Tensor, weights: torch.Tensor, answers: torch.Tensor) -> float:
    """The seconds that one step takes."""
    started = time.perf_counter()
    torch.autograd.grad(torch.nn.functional.cross_entropy(states @ weights, answers), weights)
    return time.perf_counter() - started
