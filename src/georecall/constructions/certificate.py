"""What is proved of a chain-of-thought model: the value of every unit, and the least margin.

The subject enters a hidden unit through one place of one block, so a unit has as many values as there are
levels and relations, whatever the number of facts. A few *witness* subjects, one codeword and all its cyclic
shifts, take every level in every place; running the real model on them gives every unit's value in the real
number format, and with it a margin for every fact (docs/theory.md §4).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped

from georecall.constructions.chain import END_SCORE, NAME_SCORE, Chain


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The proof for one number format.

    `deviation` is the largest distance of an output place from the level it should hold where a relation is
    read, `leak` the largest output where every block should be silent. The end token takes its score from the
    clock: `clock_read` is its largest value where a relation is read, `clock_end` its least where the end is.

    Without a rotation this holds for every entity. With one, a unit reads the rounding errors of all
    coordinates, so the witnesses are a sample; `FactMemory.verify` then asks every fact (docs/theory.md §4).
    """

    dtype: str
    units: int
    deviation: float
    leak: float
    clock_read: float
    clock_end: float
    margin: float

    @property
    def exact(self) -> bool:
        """Whether every fact and every chain is answered rightly: the least margin is positive."""
        return self.margin > 0

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `exact`."""
        return asdict(self) | {"exact": self.exact}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Certificate":
        """The inverse of `to_dict`."""
        return cls(**{name: value for name, value in fields.items() if name != "exact"})


@dataclass(frozen=True, kw_only=True)
class Witnesses:
    """Prompts that bring every hidden unit to every value it can take, and what they must give at each step.

    A prompt is P relation places, then K + 1 times a witness: step i reads place i, so one prompt checks every
    step at once. `silent` marks the steps that read ␃, `expected` holds the output places at each step.
    """

    embedding: Float64[np.ndarray, "vocabulary dim"]
    tokens: Int64[np.ndarray, "prompts context"]
    expected: Float64[np.ndarray, "prompts steps places"]
    silent: Bool[np.ndarray, "prompts steps"]


def witnesses(chain: Chain) -> Witnesses:
    """The witness subjects of a construction and the outputs that they must give.

    Prompts of two kinds: for every witness, each relation (or ␃) at all places; and for the first witness, each
    relation at one place with another at all others, so that a glance at a wrong place shows.
    """
    shifts = _cyclic_shifts(chain.codewords[0])
    controls = chain.control_rows()
    n_asked, places = chain.n_relations + 1, chain.relation_places
    same = np.tile(np.arange(n_asked)[:, None], (len(shifts), places))
    single = (np.arange(n_asked)[:, None, None] + 1 - np.eye(places, dtype=np.int64)) % n_asked
    asked = np.concatenate([same, single.reshape(-1, places)])
    relations = np.where(asked == chain.n_relations, -1, asked)
    subjects = np.concatenate(
        [np.repeat(np.arange(len(shifts)), n_asked), np.zeros(n_asked * places, dtype=int)]
    )
    entities = np.repeat(subjects[:, None], places, axis=1)
    blocks = np.repeat(shifts[:, None], chain.n_relations, axis=1)
    return Witnesses(
        embedding=np.concatenate([controls, chain.superpose(blocks)]),
        tokens=np.concatenate([chain.vocabulary.relation_ids(relations), len(controls) + entities], axis=1),
        expected=np.where(relations[..., None] < 0, 0, shifts[entities]).astype(np.float64),
        silent=relations < 0,
    )


def certify(
    chain: Chain,
    found: Float64[np.ndarray, "prompts context dim"],
    *,
    dtype: str,
    epsilon: float,
) -> Certificate:
    """The certificate from the final residual states `found` of the model on `witnesses(chain).tokens`.

    With `D = ‖C(a)−C(b)‖² ≥ 2`, places off by at most δ, and `‖C(a)−C(b)‖₁ ≤ D`, the right name leads another by
    at least `2D(1−2δ)`, a relation by `4(n − δs)` and the end by `4(n − δs) − 2κ`, where n and s are the squared
    norm and the sum of a codeword and κ is the largest value of the clock; where every block is silent, the end
    leads a name by `2ρ − 4λs` for a leak λ and the least value ρ of the clock. Every score is rounded to a
    number of the format, which takes half of `epsilon`, the distance from 1 to the next number, of each of the
    two scores compared.
    """
    known = witnesses(chain)
    steps = found[:, chain.relation_places :]
    output = (steps @ chain.directions)[..., chain.layout["output"]]
    clock = steps @ chain.clock[0]
    clock_read, clock_end = clock[~known.silent].max(), clock[known.silent].min()
    rounding = 4 * (epsilon / 2) * (chain.levels - 1 + chain.silence)
    errors = np.abs(output - known.expected).max(axis=-1)
    deviation = errors[~known.silent].max() + rounding
    leak = errors[known.silent].max()
    norm, total = chain.code.squared_norm, chain.code.level_sum
    name, other = NAME_SCORE * (norm - deviation * total), NAME_SCORE * leak * total
    # np.minimum, unlike min, is NaN where any of the two is.
    reading = np.minimum(NAME_SCORE * (1 - 2 * deviation), name - END_SCORE * clock_read)
    reading -= epsilon * NAME_SCORE * (norm + deviation * total)
    silent = END_SCORE * clock_end * (1 - epsilon) - other
    margin = np.minimum(reading, silent)
    return Certificate(
        dtype=dtype,
        units=chain.width,
        deviation=float(deviation),
        leak=float(leak),
        clock_read=float(clock_read),
        clock_end=float(clock_end),
        margin=float(np.nan_to_num(margin, nan=-np.inf)),
    )


def _cyclic_shifts(codeword: Shaped[np.ndarray, "places"]) -> Shaped[np.ndarray, "places places"]:
    return np.stack([np.roll(codeword, shift) for shift in range(len(codeword))])
