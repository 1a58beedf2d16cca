"""Does the answer turn when what the relation brings to the MLP is that of another relation?"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float64

from georecall.constructions.prompts import RELATION, question_tokens
from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.interventions import bring_relation
from georecall.dissection.study import Analysis, Study
from georecall.facts.queries import Queries
from georecall.models.attention import UniformAttention
from georecall.progress import Progress, no_progress
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity


class Patching(Analysis):
    """Rates over held-out subjects when (s, r) is asked with the contribution of r' at the MLP input.

        z = Σ_h O_h V_h (w_h e_{r'} + (1 − w_h) e_s) [+ e_s],  w_h the weight of head h on the relation, as it is for r

    `became[·, r, r']` is the rate of the answer f_{r'}(s), `kept[·, r, r']` that of f_r(s); on the diagonal
    nothing is changed. Only the value path is patched: the attention weights and all else are those of r. Under
    uniform attention this is the question r' itself, so nothing new is learned; `same_as_asking` says so.
    """

    became: Estimate
    kept: Estimate
    same_as_asking: bool
    group: ClassVar[str] = "interventions"

    @classmethod
    def measured(cls, study: Study) -> "Patching":
        """Of every relation into every other."""
        return patch_relations(study.split, progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:
        """How often the answer turns to that of the relation patched in."""
        for r, name in enumerate(names[:shown]):
            others = [i for i in range(len(names)) if i != r]
            if others:
                yield Quantity.of(
                    f"patched for {name}: the other's answer",
                    self.became.at(r, others),
                    beside={
                        f"still that of {name}": self.kept.at(r, others),
                        "unpatched": self.kept.at(r, r),
                    },
                )

    def notes(self) -> Iterator[str]:
        """Where patching is asking."""
        if self.same_as_asking:
            yield "under uniform attention the relation patched in is simply asked: patching shows nothing new"


def patch_relations(split: HeldOutSplit, *, progress: Progress = no_progress) -> Patching:
    """Ask every relation with the contribution of every other, in every member."""
    rates = [_rates(member, split) for member in split.members("relation patching", progress)]
    became, kept = np.stack(rates, axis=1)
    return Patching(
        became=Estimate(became),
        kept=Estimate(kept),
        same_as_asking=isinstance(split.model.layers[0].attention, UniformAttention),
    )


def _rates(member: Member, split: HeldOutSplit) -> Float64[np.ndarray, "2 relations relations"]:
    gold = split.table.answers[split.held_out]
    rates = [_asked(member, split, relation) for relation in range(gold.shape[1])]
    became = [(answers == gold).mean(axis=0) for answers in rates]
    kept = [(answers == gold[:, [relation]]).mean(axis=0) for relation, answers in enumerate(rates)]
    return np.stack([np.stack(became), np.stack(kept)])


def _asked(member: Member, split: HeldOutSplit, relation: int) -> np.ndarray:
    """Answers [held-out subjects, r'] of questions of one relation with the contributions of all."""
    model, n_subjects = member.model, len(split.table.subjects)
    embeddings = model.embedding[1] + model.positions[:, RELATION]
    count, n_relations = len(split.held_out), embeddings.shape[1]
    asked = Queries(np.repeat(split.held_out, n_relations), np.full((count * n_relations, 1), relation))
    prompts = torch.from_numpy(question_tokens(asked, n_subjects)).to(embeddings.device)
    state = member.activations(prompts, edits=bring_relation(embeddings.repeat(1, count, 1))).state
    return member.answers(state[0]).reshape(count, n_relations)
