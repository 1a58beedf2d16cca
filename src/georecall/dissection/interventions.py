"""Edits of a forward pass that a dissection makes; the model itself stays as it is."""

from jaxtyping import Bool, Float
from torch import Tensor

from georecall.constructions.prompts import RELATION
from georecall.models.activations import Edits


def ablate_units(units: Bool[Tensor, "members width"]) -> Edits:
    """Hidden units held at 0."""
    return {"hidden": lambda hidden: hidden.masked_fill(units[:, None], 0)}


def bring_relation(embedded: Float[Tensor, "members batch dim"]) -> Edits:
    """What attention carries from the relation's position is that of `embedded`; its weights are as they were."""

    def carry(x: Tensor) -> Tensor:
        x[:, :, RELATION] = embedded
        return x

    return {"carried": carry}
