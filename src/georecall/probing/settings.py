"""What a probe of a language model is asked to do."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from georecall.errors import ProbingError
from georecall.probing.relations import LEAST_SUBJECTS

Count = Annotated[int, Field(ge=0)]

MOST_LAYERS = 10_000
_LAYERS = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?", re.ASCII)
"""First, last and step."""


class ProbeSettings(BaseModel):
    """Everything but the model, the table and its templates.

    layers         : blocks after which states are analysed, 1 … L; all if None. Layer 0 is always a control.
    known_only     : probe only the facts that the model recalls
    shots          : examples before each question, when the model is asked for facts
    folds, shuffles: of the cross-validation by subject, and of the control with shuffled labels
    swaps          : held-out subjects of each relation for the causal check; 0 leaves it out
    random_weights : whether a model of the same architecture without training is a control
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    layers: tuple[Annotated[int, Field(ge=1)], ...] | None = None
    known_only: bool = False
    shots: Count = 0
    folds: Annotated[int, Field(ge=2, le=LEAST_SUBJECTS)] = 5
    shuffles: Annotated[int, Field(ge=1)] = 5
    swaps: Count = 24
    random_weights: bool = True
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0

    def layers_of(self, n_layers: int) -> tuple[int, ...]:
        """The layers to analyse of a model with so many, in order.

        Raises:
            ProbingError: the model has fewer layers.
        """
        if self.layers is None:
            return tuple(range(1, n_layers + 1))
        if not self.layers or max(self.layers) > n_layers:
            raise ProbingError(
                f"expected layers from 1 to {n_layers}, got {', '.join(map(str, self.layers))}"
            )
        return tuple(sorted(set(self.layers)))


def checked_settings(**settings: Any) -> ProbeSettings:
    """The settings.

    Raises:
        ProbingError: one is out of range; it is named.
    """
    try:
        return ProbeSettings(**settings)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise ProbingError(f"{wrong['loc'][0]}: {wrong['msg'].lower()}, got {wrong['input']!r}") from error


def read_layers(text: str) -> tuple[int, ...] | None:
    """None for `all`; else numbers, ranges and ranges with a step, such as `8,12,20-24,3-30:3`.

    Raises:
        ProbingError: something else is given.
    """
    if text.strip() == "all":
        return None
    try:
        return tuple(layer for part in text.split(",") for layer in _layers(part.strip()))
    except ValueError as error:
        raise ProbingError(
            f"expected 'all', or layers such as '8,12' or '20-24' or '3-30:3', got {text!r}"
        ) from error


def _layers(part: str) -> range:
    """One number, or first-last, or first-last:step; ValueError if it is none of these, or has no layer in it."""
    found = _LAYERS.fullmatch(part)
    if found is None:
        raise ValueError(part)
    first, last, step = found.groups()
    layers = range(int(first), int(last or first) + 1, int(step or 1))
    if not layers or layers[-1] > MOST_LAYERS:
        raise ValueError(part)
    return layers
