"""Whether hidden states are superpositions of their subjects' attributes, judged on held-out subjects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float32, Float64, Int64
from joblib import delayed

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.probing.explained import Explained, HeldOutResiduals, held_out_residuals
from georecall.probing.features import checked_layers
from georecall.probing.relations import LEAST_SUBJECTS
from georecall.probing.superposition_map import blocks, relation_codes
from georecall.probing.threads import in_threads, one_thread
from georecall.progress import Progress, no_progress
from georecall.records import AsLists, Record
from georecall.statistics.folds import fold_numbers
from georecall.statistics.random_streams import stream
from georecall.statistics.subspaces import Subspaces, compare_subspaces
from georecall.statistics.superposition import Regressors


class JointFit(Record):
    """How much of the hidden states x_s ≈ c + Σ_r A_r v_{r, f_r(s)} explains, and which relation does.

    relations, subjects : what was fitted: subjects with an answer to each of the relations
    regressors          : for each relation
    layers              : those of the states, in order
    chosen_layers       : the layer chosen in each fold, by what the joint fit leaves when a subject is left out
    joint               : R² of all relations together
    alone, without      : R² of one relation alone, and of all others together
    unique              : joint less without: what no other relation explains
    shuffled            : R² with the answers of each relation permuted over the subjects; its own layers
    random              : R² of the states of a model that was not trained, if given; its own layers
    shares              : Σ‖A_r(v − v̄)‖² / Σ‖x − x̄‖² over held-out subjects; where relations are correlated, these
                          do not add up to R²
    subspaces           : for each layer, where the relations write: directions weighted by the variance that the
                          subjects' attributes have in them. Chance is that of random subspaces of the span of the
                          states, which no fit can leave
    shuffled_subspaces  : the same for permuted answers. Fits to the same states overlap by more than chance
                          where the states have a few large directions
    """

    relations: tuple[str, ...]
    subjects: int
    regressors: tuple[int, ...]
    layers: tuple[int, ...]
    chosen_layers: tuple[int, ...]
    joint: Explained
    alone: dict[str, Explained]
    without: dict[str, Explained]
    unique: dict[str, Explained]
    shuffled: Explained
    random: Explained | None
    shares: Annotated[Float64[np.ndarray, "states relations"], AsLists()]
    subspaces: tuple[Subspaces, ...]
    shuffled_subspaces: tuple[Subspaces, ...]

    @property
    def usual_layer(self) -> int:
        """The layer chosen most often."""
        return max(self.chosen_layers, key=self.chosen_layers.count)


def fit_jointly(
    states: Float32[np.ndarray, "states subjects dim"],
    table: FactTable,
    vectors: Float64[np.ndarray, "attributes out"],
    relations: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    random_states: Float32[np.ndarray, "states subjects dim"] | None = None,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> JointFit:
    """Fit and judge the superposition of the given relations in the states after `layers`, 0, 1, 2 … if None.

    `n_jobs` threads change nothing in the results.

    Raises:
        ProbingError: fewer than 20 subjects have an answer to each of the relations.
    """
    answers = table.answers[:, [table.relation_index[relation] for relation in relations]]
    rows = np.flatnonzero((answers >= 0).all(axis=1))
    if len(rows) < LEAST_SUBJECTS:
        raise ProbingError(
            f"expected {LEAST_SUBJECTS} subjects with an answer to each of {len(relations)} relations, got {len(rows)}"
        )
    permuted = stream(seed, "shuffled facts").permuted(answers[rows], axis=0)
    with one_thread():
        codes = relation_codes(answers, vectors)
        design = _Design(
            relations=tuple(relations),
            layers=checked_layers(len(states), layers),
            own=blocks(codes, answers[rows]),
            shuffled=blocks(codes, permuted),
            folds=fold_numbers(len(rows), folds, seed),
            states=_turned(states[:, rows]),
            random=None if random_states is None else _turned(random_states[:, rows]),
        )
        return _judge(design, _all_residuals(design, n_jobs=n_jobs, progress=progress), seed)


Blocks = list[Float64[np.ndarray, "rows _"]]


@dataclass(frozen=True, kw_only=True)
class _Design:
    """What is fitted: the relations' blocks of regressors, and the states of the same rows."""

    relations: tuple[str, ...]
    layers: tuple[int, ...]
    own: Blocks
    shuffled: Blocks
    folds: Int64[np.ndarray, " rows"]
    states: Float64[np.ndarray, "states rows coordinates"]
    random: Float64[np.ndarray, "states rows coordinates_of_random"] | None

    @property
    def regressions(self) -> dict[tuple[str, ...], tuple[Blocks, np.ndarray]]:
        """Regressors and states of every fit, by its name and, where there is one, its relation."""
        found: dict[tuple[str, ...], tuple[Blocks, np.ndarray]] = {
            ("joint",): (self.own, self.states),
            ("shuffled",): (self.shuffled, self.states),
        }
        nothing = [np.empty((len(self.folds), 0))]
        for place, relation in enumerate(self.relations):
            found["alone", relation] = [self.own[place]], self.states
            found["without", relation] = self.own[:place] + self.own[place + 1 :] or nothing, self.states
        if self.random is not None:
            found["random",] = self.own, self.random
        return found


def _turned(
    states: Float32[np.ndarray, "states rows dim"],
) -> Float64[np.ndarray, "states rows coordinates"]:
    """The states turned into their own principal directions: distances stay, and columns may be far fewer."""
    centred = states.astype(np.float64) - states.mean(axis=1, keepdims=True, dtype=np.float64)
    left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    return left * spread[:, None]


Found = Mapping[tuple[str, ...], HeldOutResiduals]


def _all_residuals(design: _Design, *, n_jobs: int, progress: Progress) -> Found:
    regressions = design.regressions
    calls = (
        delayed(held_out_residuals)(vectors, states, design.folds) for vectors, states in regressions.values()
    )
    found: dict[tuple[str, ...], HeldOutResiduals] = {}
    for name, residuals in zip(regressions, in_threads(calls, n_jobs=n_jobs), strict=True):
        found[name] = residuals
        progress("fitting superpositions", len(found), len(regressions))
    return found


def _judge(design: _Design, found: Found, seed: int) -> JointFit:
    joint = found["joint",]
    chosen = joint.chosen
    without = {relation: found["without", relation] for relation in design.relations}
    shuffled, random = found["shuffled",], found.get(("random",))
    return JointFit(
        relations=design.relations,
        subjects=len(design.folds),
        regressors=tuple(block.shape[1] for block in design.own),
        layers=design.layers,
        chosen_layers=tuple(design.layers[number] for number in chosen),
        joint=joint.r2(chosen, seed=seed),
        alone={relation: found["alone", relation].r2(chosen, seed=seed) for relation in design.relations},
        without={relation: fit.r2(chosen, seed=seed) for relation, fit in without.items()},
        unique={
            relation: joint.explained(fit.residuals.missed - joint.residuals.missed, chosen, seed=seed)
            for relation, fit in without.items()
        },
        shuffled=shuffled.r2(shuffled.chosen, seed=seed),
        random=None if random is None else random.r2(random.chosen, seed=seed),
        shares=joint.residuals.shares,
        subspaces=_subspaces(design.own, design.states),
        shuffled_subspaces=_subspaces(design.shuffled, design.states),
    )


def _subspaces(x: Blocks, states: Float64[np.ndarray, "states rows dim"]) -> tuple[Subspaces, ...]:
    """Column spaces of A_r V_r, V_r the centred codes of all subjects: of what is written, not of what could be."""
    regressors = Regressors(x)
    # The triangle T of V_rᵀ = Q T has the products of V_r: A_r Tᵀ has the columns of A_r V_r, turned, and far fewer.
    triangles = [np.asarray(np.linalg.qr(block - block.mean(axis=0), mode="r")) for block in x]
    width = max(block.shape[1] for block in x)
    found = []
    for state in states:
        written = np.zeros((1, len(x), state.shape[1], width))
        matrices = regressors.fit(state).matrices
        for place, (matrix, triangle) in enumerate(zip(matrices, triangles, strict=True)):
            written[0, place, :, : len(triangle)] = matrix @ triangle.T
        found.append(compare_subspaces(written))
    return tuple(found)
