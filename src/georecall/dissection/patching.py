"""Does the answer turn when what the relation brings to the MLP is that of another relation?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from georecall.dissection.interventions import attention_weights, only_layer
from georecall.dissection.specimen import RELATION, SUBJECT, Member, Specimen
from georecall.models.recall import RecallHeads, UniformAttention
from georecall.progress import Progress, no_progress
from georecall.statistics.estimates import Estimate


@dataclass(frozen=True, kw_only=True)
class Patching:
    """Rates over held-out subjects when (s, r) is asked with the contribution of r' at the MLP input.

        z ← z + Σ_h w_h O_h V_h (e_{r'} − e_r),  w_h the weight of head h on the relation, as it is for r

    `became[·, r, r']` is the rate of the answer f_{r'}(s), `kept[·, r, r']` that of f_r(s); on the diagonal
    nothing is changed. Only the value path is patched: the attention weights and all else are those of r. Under
    uniform attention this is the question r' itself, so nothing new is learned; `same_as_asking` says so.
    """

    became: Estimate
    kept: Estimate
    same_as_asking: bool

    def to_dict(self) -> dict[str, Any]:
        """All fields."""
        return {
            "became": self.became.to_dict(),
            "kept": self.kept.to_dict(),
            "same_as_asking": self.same_as_asking,
        }


def patch_relations(specimen: Specimen, *, progress: Progress = no_progress) -> Patching:
    """Ask every relation with the contribution of every other, in every member."""
    rates = [_rates(member, specimen) for member in specimen.members("relation patching", progress)]
    became, kept = np.stack(rates, axis=1)
    return Patching(
        became=Estimate(became),
        kept=Estimate(kept),
        same_as_asking=isinstance(specimen.model.layers[0].attention, UniformAttention),
    )


def relation_contribution(
    attention: nn.Module, x: Float[Tensor, "batch time dim"], values: Float[Tensor, "batch relations dim"]
) -> Float[Tensor, "batch relations dim"]:
    """What the relation's place brings to the last token if it held `values`: `Σ_h w_h O_h V_h value`.

    The weights are those for the tokens x.
    """
    if not isinstance(attention, RecallHeads):
        return values / x.shape[1]
    weight = attention_weights(attention, x[None])[0, :, :, RELATION]
    carried = torch.einsum("brd,hed->bhre", values, attention.value[0]) * weight[..., None, None]
    return torch.einsum("bhre,hde->brd", carried, attention.output[0])


def _rates(member: Member, specimen: Specimen) -> Float64[np.ndarray, "2 relations relations"]:
    gold = specimen.table.answers[specimen.held_out]
    rates = [_asked(member, specimen, relation) for relation in range(gold.shape[1])]
    became = [(answers == gold).mean(axis=0) for answers in rates]
    kept = [(answers == gold[:, [relation]]).mean(axis=0) for relation, answers in enumerate(rates)]
    return np.stack([np.stack(became), np.stack(kept)])


def _asked(member: Member, specimen: Specimen, relation: int) -> np.ndarray:
    """Answers [held-out subjects, r'] of questions of one relation with the contributions of all."""
    model = member.model
    layer = only_layer(model)
    relations = model.embedding[1][0] + model.positions[0, RELATION]
    subjects = member.tensor(member.subjects[specimen.held_out]) + model.positions[0, SUBJECT]
    x = torch.stack([relations[relation].expand_as(subjects), subjects], dim=1)
    attended = layer.attention(x[None], 1)[0, :, 0] + layer.residual * subjects
    changes = (relations - relations[relation]).expand(len(x), -1, -1)
    z = attended[:, None] + relation_contribution(layer.attention, x, changes)
    written = torch.relu(z @ layer.w1[0].T + layer.b1[0]) @ layer.w2[0].T + layer.b2[0]
    return member.answers(written + z if layer.residual else written)
