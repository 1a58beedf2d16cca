"""The map from a subject's attributes to its hidden state: one matrix for each relation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int64

from georecall.errors import ProbingError
from georecall.probing.relations import principal_codes
from georecall.statistics.superposition import Regressors, SuperpositionMap

WRITTEN_DIMENSIONS = 32
"""Principal directions of the attribute vectors that a relation writes by, at most."""


@dataclass(frozen=True, kw_only=True)
class StateMap:
    """The fit x_s ≈ c + Σ_r A_r v_{r, f_r(s)} of one state, in units of the state, and the v_r of all attributes.

    Relations are numbered as the columns of the answers that were fitted.
    """

    superposition: SuperpositionMap
    codes: tuple[Float64[np.ndarray, "attributes _"], ...]

    def component(
        self, relation: int, attributes: Int64[np.ndarray, " some"]
    ) -> Float64[np.ndarray, "some dim"]:
        """What a relation writes for some attributes, A_r v_{r, a}; a swap adds the difference of two of them."""
        return np.asarray(self.codes[relation][attributes] @ self.superposition.matrices[relation].T)

    def embed(self, answers: Int64[np.ndarray, "subjects relations"]) -> Float64[np.ndarray, "subjects dim"]:
        """The states that subjects with these answers would have, none of which may be missing."""
        return self.superposition.embed(blocks(self.codes, answers))


def fit_superposition(
    states: Float[np.ndarray, "subjects dim"],
    answers: Int64[np.ndarray, "subjects relations"],
    vectors: Float64[np.ndarray, "attributes out"],
    rows: Int64[np.ndarray, " rows"],
) -> StateMap:
    """Fit the superposition of one state to some subjects, by ridge with a strength chosen by leave-one-out.

    Raises:
        ProbingError: one of these subjects has no answer to one of the relations.
    """
    if (answers[rows] < 0).any():
        row = rows[(answers[rows] < 0).any(axis=1)][0]
        raise ProbingError(
            f"expected subjects with an answer to every relation, got subject {row} without one"
        )
    codes = relation_codes(answers, vectors)
    fit = Regressors(blocks(codes, answers[rows])).fit(states[rows].astype(np.float64))
    return StateMap(superposition=fit, codes=codes)


def relation_codes(
    answers: Int64[np.ndarray, "subjects relations"], vectors: Float64[np.ndarray, "attributes out"]
) -> tuple[Float64[np.ndarray, "attributes _"], ...]:
    """For each relation the vectors of all attributes in the principal directions of its own attributes.

    Those of its own attributes have mean 0 and total variance 1, so that one ridge strength suits all relations.
    """
    codes = []
    for column in answers.T:
        candidates = np.unique(column[column >= 0])
        code = principal_codes(vectors, candidates, WRITTEN_DIMENSIONS)
        codes.append(code / np.sqrt(code[candidates].var(axis=0).sum()))
    return tuple(codes)


def blocks(
    codes: Sequence[Float64[np.ndarray, "attributes _"]], answers: Int64[np.ndarray, "rows relations"]
) -> list[Float64[np.ndarray, "rows _"]]:
    """The regressors of each relation: the codes of the subjects' attributes."""
    return [code[column] for code, column in zip(codes, answers.T, strict=True)]
