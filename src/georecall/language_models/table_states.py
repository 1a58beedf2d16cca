"""What is taken from a language model, after which its states are analysed without it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64

from georecall.facts.table import FactTable
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.language_models.state_cache import StateCache
from georecall.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True)
class HiddenStates:
    """Hidden states of all subjects of a table, and vectors of its attributes.

    layers        : after which block each of the states was read; the first is 0, the input of the first block
    random_states : those of the same architecture with random weights, if there is such a control
    vectors       : of the attributes in the model's unembedding
    """

    layers: tuple[int, ...]
    states: Float32[np.ndarray, "states subjects dim"]
    random_states: Float32[np.ndarray, "states subjects dim"] | None
    vectors: Float64[np.ndarray, "attributes out"]


def read_hidden_states(
    lm: LanguageModel,
    table: FactTable,
    template: str,
    *,
    layers: tuple[int, ...],
    random_weights: bool = True,
    seed: int = 0,
    answer_prefix: str = " ",
    batch: int = 32,
    cache: StateCache | None = None,
    progress: Progress = no_progress,
) -> HiddenStates:
    """Read the states 0 and `layers` of all subjects in a template, and those of an untrained control drawn by `seed`.

    Raises:
        ProbingError, FolderError: as `subject_states`.
    """
    kept = [0, *layers]

    def states(model: LanguageModel) -> Float32[np.ndarray, "states subjects dim"]:
        found = subject_states(
            model, table.subjects, Template(template), batch=batch, cache=cache, progress=progress
        )
        return found[kept]

    return HiddenStates(
        layers=tuple(kept),
        states=states(lm),
        random_states=states(lm.untrained_control(seed)) if random_weights else None,
        vectors=lm.unembedding_vectors(table.attributes, answer_prefix=answer_prefix),
    )
