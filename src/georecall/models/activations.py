"""What a forward pass lets be seen on its way, and put in its place: without hooks, and without a trace."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from jaxtyping import Float
from torch import Tensor

from georecall.errors import AnalysisError

Place = Literal["embedded", "carried", "attended", "pre_activation", "hidden", "written", "state"]
"""The activations of a layer that can be edited, in the order in which they come about; as in `Activations`."""

Watch = Callable[[Place, Tensor], Tensor]
"""Is shown every activation, and gives what the forward pass goes on with."""

Edits = Mapping[str, Callable[[Tensor], Tensor]]
"""By place a function of the activation there, which gives one of the same shape to go on with."""

NO_EDITS: Edits = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Activations:
    """Copies of what a layer makes of the last token.

    embedded x       : E[token_t] + P[t]
    carried          : x once more, as the values of attention read it; queries and keys read x
    attention        : the weights of the last token on every token; 1/T under uniform attention
    attended z       : what attention brings, + x if residual
    pre_activation   : W1 z + b1; a gate is open where it is positive
    hidden           : ReLU of it
    written          : W2 hidden + b2
    state y          : written, + z if residual; the scores are U y
    """

    embedded: Float[Tensor, "members batch time dim"]
    carried: Float[Tensor, "members batch time dim"]
    attention: Float[Tensor, "members batch heads time"]
    attended: Float[Tensor, "members batch dim"]
    pre_activation: Float[Tensor, "members batch width"]
    hidden: Float[Tensor, "members batch width"]
    written: Float[Tensor, "members batch out"]
    state: Float[Tensor, "members batch out"]


def unwatched(place: Place, value: Tensor) -> Tensor:  # noqa: ARG001
    """Nothing is looked at, nothing is changed."""
    return value


class Recorder:
    """A watch that makes the edits asked for, and keeps a copy of every activation as it is after them.

    Raises:
        AnalysisError: there is no such place, or an edit gives another shape.
    """

    def __init__(self, edits: Edits) -> None:
        if unknown := [place for place in edits if place not in get_args(Place)]:
            raise AnalysisError(
                f"expected edits at {', '.join(get_args(Place))}, got {', '.join(map(repr, unknown))}"
            )
        self._edits = edits
        self.seen: dict[str, Tensor] = {}

    def __call__(self, place: Place, value: Tensor) -> Tensor:
        """The activation, edited if it is to be."""
        if place in self._edits:
            edited = self._edits[place](value.clone())
            if edited.shape != value.shape:
                raise AnalysisError(
                    f"expected an edit of {place} to give shape {tuple(value.shape)}, got {tuple(edited.shape)}"
                )
            value = edited.clone()
        self.seen[place] = value.clone()
        return value
