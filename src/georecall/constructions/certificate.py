"""What is certified of a chain-of-thought model: the least margin of every step, and how it is known.

The subject enters a hidden unit through one symbol of one block, so a unit has as many values as there are
levels and states of its gate, whatever the number of facts. What a number format makes of them is worked out,
for every order in which a kernel may add up, and measured by running the real model on a few *witnesses*. The
worse of the two gives a margin for every fact (docs/theory.md §4).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float64, Int64

from georecall.constructions.chain import END_SCORE, NAME_SCORE, Chain

KERNELS = ("sdpa", "eager")
"""The attention kernels that a certificate speaks of, by their names in `transformers`."""

FLOAT32_UNIT = 2.0**-24
"""Largest relative error of one rounding in float32, in which a kernel adds up scores."""

Basis = Literal["proved", "asked", "sampled"]


@dataclass(frozen=True, kw_only=True)
class Errors:
    """How far the states of a model may be from those of the construction, at any step.

    `deviation` is the largest distance of an output symbol from the level it should hold where a relation is
    read, `leak` the largest output where every block should be inhibited. The end token takes its score from
    the constant direction: `constant_read` is the largest value there where a relation is read, `constant_end`
    the least where the end is.
    """

    deviation: float
    leak: float
    constant_read: float
    constant_end: float

    def worst(self, other: "Errors") -> "Errors":
        """The worse of each; NaN if any of the two is."""
        return Errors(
            deviation=float(np.maximum(self.deviation, other.deviation)),
            leak=float(np.maximum(self.leak, other.leak)),
            constant_read=float(np.maximum(self.constant_read, other.constant_read)),
            constant_end=float(np.minimum(self.constant_end, other.constant_end)),
        )


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What is known of a memory in one number format, under the attention kernels `KERNELS`.

    `basis` says how: "proved" for every fact and chain, from the errors that the format can make and those of
    the witnesses; "asked" if the memory is rotated, so that nothing can be proved from a few states, but every
    entity was asked every relation, and the end, at every step; "sampled" if that would take too long, and only
    `asked` of the `steps` that there are were tried. `margin` is the least margin of the right token over any other.
    """

    dtype: str
    basis: Basis
    units: int
    errors: Errors
    margin: float
    asked: int = 0
    steps: int = 0

    @property
    def holds(self) -> bool:
        """Whether everything that was proved, asked or sampled is right: the least margin is positive."""
        return self.margin > 0

    @property
    def exact(self) -> bool:
        """Whether every fact and every chain is answered rightly; a sample never says so."""
        return self.holds and self.basis != "sampled"

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `exact` and the kernels."""
        return asdict(self) | {"kernels": list(KERNELS), "exact": self.exact}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Certificate":
        """The inverse of `to_dict`."""
        known = {field.name: content[field.name] for field in fields(cls)}
        return cls(**known | {"errors": Errors(**content["errors"])})


@dataclass(frozen=True, kw_only=True)
class Witnesses:
    """Prompts that bring every hidden unit to every value it can take, and what they must give at each step.

    A prompt is P relation positions, then K + 1 times a witness: step i reads position i, so one prompt checks every
    step at once. `silent` marks the steps that read ␃, `expected` holds the output symbols at each step.
    """

    embedding: Float64[np.ndarray, "vocabulary dim"]
    tokens: Int64[np.ndarray, "prompts context"]
    expected: Float64[np.ndarray, "prompts steps symbols"]
    silent: Bool[np.ndarray, "prompts steps"]


def witnesses(chain: Chain) -> Witnesses:
    """The witness subjects of a construction and the outputs that they must give.

    The subjects bring every level to every symbol of all blocks; the relations are the first and the last, as the
    others differ from these by the order of coordinates alone. Prompts of two kinds: for every witness, each
    relation (or ␃) at all positions; and for the first witness, each relation at one position with another at all
    others, so that a glance at a wrong position shows.
    """
    shifts = _covering_shifts(chain)
    controls = chain.control_rows()
    choices = np.array([*sorted({0, chain.n_relations - 1}), -1])
    n_asked, positions = len(choices), chain.relation_positions
    same = np.tile(np.arange(n_asked)[:, None], (len(shifts), positions))
    single = (np.arange(n_asked)[:, None, None] + 1 - np.eye(positions, dtype=np.int64)) % n_asked
    relations = choices[np.concatenate([same, single.reshape(-1, positions)])]
    subjects = np.concatenate(
        [np.repeat(np.arange(len(shifts)), n_asked), np.zeros(n_asked * positions, dtype=int)]
    )
    entities = np.repeat(subjects[:, None], positions, axis=1)
    blocks = np.repeat(shifts[:, None], chain.n_relations, axis=1)
    return Witnesses(
        embedding=np.concatenate([controls, chain.superpose(blocks)]),
        tokens=np.concatenate([chain.vocabulary.relation_ids(relations), len(controls) + entities], axis=1),
        expected=np.where(relations[..., None] < 0, 0, shifts[entities]).astype(np.float64),
        silent=relations < 0,
    )


def measured_errors(
    chain: Chain, known: Witnesses, found: Float64[np.ndarray, "prompts context dim"]
) -> Errors:
    """The errors in the final residual states of a model on the tokens of the witnesses."""
    steps = found[:, chain.relation_positions :]
    output = chain.unrotated(steps)[..., chain.layout["output"]]
    constant = steps @ chain.constant_direction[0]
    distances = np.abs(output - known.expected).max(axis=-1)
    return Errors(
        deviation=float(distances[~known.silent].max()),
        leak=float(distances[known.silent].max()),
        constant_read=float(constant[~known.silent].max()),
        constant_end=float(constant[known.silent].min()),
    )


def certified_margin(chain: Chain, errors: Errors, *, epsilon: float) -> float:
    """The least margin of the right token if states are no further off than `errors`; −∞ if any is NaN.

    With `D = ‖C(a)−C(b)‖² ≥ 2`, symbols off by at most δ, and `‖C(a)−C(b)‖₁ ≤ D`, the right name leads another by
    at least `2D(1−2δ)`, a relation by `4(n − δs)` and the end by `4(n − δs) − 2κ`, where n and s are the squared
    norm and the sum of a codeword and κ is the largest value in the constant direction; where every block is
    inhibited, the end leads a name by `2ρ − 4λs` for a leak λ and the least value ρ in that direction. Every
    score is summed in float32, which moves it by at most `p·2⁻²⁴` of itself, and rounded to the format, which
    moves two scores together by at most the distance between numbers there; `epsilon` is that distance at 1
    (docs/theory.md, theorem 4.8).
    """
    norm, total = chain.code.squared_norm, chain.code.level_sum

    def rounding(score: float) -> float:
        spacing = epsilon * 2.0 ** np.floor(np.log2(score))
        return float(spacing + 2 * FLOAT32_UNIT * chain.code.length * score)

    name, other = NAME_SCORE * (norm - errors.deviation * total), NAME_SCORE * errors.leak * total
    # np.minimum, unlike min, is NaN where any of the two is.
    reading = np.minimum(NAME_SCORE * (1 - 2 * errors.deviation), name - END_SCORE * errors.constant_read)
    reading -= rounding(NAME_SCORE * (norm + errors.deviation * total))
    end = END_SCORE * errors.constant_end
    silent = end - other - rounding(max(end, other)) if end > 0 else -np.inf
    margin = float(np.minimum(reading, silent))
    return margin if np.isfinite(margin) else -np.inf


def _covering_shifts(chain: Chain) -> Float64[np.ndarray, "shifts symbols"]:
    """Cyclic shifts of codeword 0, in which levels ascend, that bring every level to every symbol.

    Shifts by multiples of the least count of a level: one of them falls into every run of a level.
    """
    codeword = chain.codewords[0].astype(np.float64)
    step = min(count for count in chain.code.composition if count)
    return np.stack([np.roll(codeword, shift) for shift in range(0, len(codeword), step)])
