"""Whether a language model's answer to one relation is an affine function of the subject's hidden state."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float32, Float64, Int64, Shaped

from georecall.errors import ProbingError
from georecall.probing.features import checked_layers
from georecall.probing.relations import LEAST_SUBJECTS
from georecall.probing.threads import one_thread
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.statistics.comparisons import Comparison, compare
from georecall.statistics.folds import Split, fold_numbers, splits
from georecall.statistics.intervals import Interval, rate_interval
from georecall.statistics.random_streams import stream
from georecall.statistics.ridge import Ridge

Decode = Callable[[Float32[np.ndarray, "some dim"]], Int64[np.ndarray, " some"]]
"""The token that the model puts first, for final states."""


class LinearRelation(Record):
    """How often an affine map ŷ = W x + b of the subject's state names the token that the model itself puts first.

    by_layer      : that share of held-out subjects, by layer, with Wilson's interval
    faithfulness  : the same by the layer chosen inside the training part of each fold; layer 0 is never chosen
    layers        : those of the states, in order
    chosen_layers : the layer chosen in each fold
    comparisons   : with the training part's commonest token, and with maps fitted to pairs of states and outputs of
                    different subjects

    Linear relational embeddings (Hernandez et al., 2024, arXiv 2308.09124) take W from the model's derivative; here
    it is a ridge fit, and is judged on subjects that it has not met.
    """

    subjects: int
    by_layer: tuple[Interval, ...]
    faithfulness: Interval
    layers: tuple[int, ...]
    chosen_layers: tuple[int, ...]
    comparisons: tuple[Comparison, ...]


def linear_relation(
    states: Float32[np.ndarray, "states rows dim"],
    outputs: Float32[np.ndarray, "rows out"],
    decode: Decode,
    predicted: Int64[np.ndarray, " rows"],
    *,
    layers: Sequence[int] | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
) -> LinearRelation:
    """Fit and judge the affine maps from the subject's state to the final state, layer by layer.

    `states` are those of the subjects after `layers` (0, 1, 2 … if None), `outputs` the final states at the last
    token of their prompts, and `predicted` the tokens that the model puts first there. Strength and layer are chosen
    by the squared error of the outputs when a subject is left out.

    Raises:
        ProbingError: fewer than 20 subjects, or layers that do not fit the states.
    """
    if len(outputs) < LEAST_SUBJECTS:
        raise ProbingError(f"expected {LEAST_SUBJECTS} subjects or more, got {len(outputs)}")
    known_layers = checked_layers(len(states), layers)
    numbers = fold_numbers(len(outputs), folds, seed)
    order = stream(seed, "shuffled pairs").permutation(len(outputs))
    own, shuffled = (_Maps(len(states), targets, numbers) for targets in (outputs, outputs[order]))
    with one_thread():
        for layer, state in enumerate(states):
            _fit(layer, state.astype(np.float64), numbers, (own, shuffled))
            progress("fitting linear relations", layer + 1, len(states))
    hits = np.stack([decode(estimates) == predicted for estimates in own.estimates])
    faithful = own.at_chosen(hits)
    controls = {
        "commonest token": _commonest(predicted, numbers) == predicted,
        "shuffled pairs": decode(shuffled.at_chosen(shuffled.estimates)) == predicted[order],
    }
    return LinearRelation(
        subjects=len(outputs),
        by_layer=tuple(rate_interval(of_layer) for of_layer in hits),
        faithfulness=rate_interval(faithful),
        layers=known_layers,
        chosen_layers=tuple(known_layers[number] for number in own.chosen),
        comparisons=tuple(
            compare(faithful.astype(np.float64), by.astype(np.float64), control=name, name=name, seed=seed)
            for name, by in controls.items()
        ),
    )


class _Maps:
    """The maps to one set of outputs, filled in by layer and fold."""

    def __init__(self, layers: int, outputs: Float32[np.ndarray, "rows out"], folds: np.ndarray) -> None:
        self._outputs = outputs.astype(np.float64)
        self._folds = folds
        self._errors = np.empty((layers, int(folds.max()) + 1))
        self.estimates = np.empty((layers, *outputs.shape), dtype=np.float32)

    def fit(
        self,
        layer: int,
        fold: int,
        split: Split,
        rows: Ridge,
        projected: Float64[np.ndarray, "held_out training"],
    ) -> None:
        """Fit the outputs of the training part, given as `rows`, and estimate the others."""
        training, held_out = split
        fit = rows.fit(self._outputs[training])
        self.estimates[layer, held_out] = fit.predict(projected)
        self._errors[layer, fold] = fit.error

    @property
    def chosen(self) -> Int64[np.ndarray, " folds"]:
        """For each fold the layer, not 0, that misses least when a subject is left out."""
        return np.asarray(1 + self._errors[1:].argmin(axis=0))

    def at_chosen(self, values: Shaped[np.ndarray, "layers rows *more"]) -> Shaped[np.ndarray, "rows *more"]:
        """What each row has at the layer chosen without it."""
        return np.asarray(values[self.chosen[self._folds], np.arange(len(self._folds))])


def _fit(
    layer: int,
    state: Float64[np.ndarray, "rows dim"],
    folds: Int64[np.ndarray, " rows"],
    to_outputs: Sequence[_Maps],
) -> None:
    for fold, (training, held_out) in enumerate(splits(folds)):
        rows = Ridge(state[training])
        projected = rows.project(state[held_out])
        for maps in to_outputs:
            maps.fit(layer, fold, (training, held_out), rows, projected)


def _commonest(
    predicted: Int64[np.ndarray, " rows"], folds: Int64[np.ndarray, " rows"]
) -> Int64[np.ndarray, " rows"]:
    """For each row the commonest token of the training part of its fold."""
    tokens = np.empty_like(predicted)
    for training, held_out in splits(folds):
        seen, times = np.unique(predicted[training], return_counts=True)
        tokens[held_out] = seen[times.argmax()]
    return tokens
