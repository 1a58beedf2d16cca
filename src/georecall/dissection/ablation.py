"""What is forgotten when the hidden units of one relation are ablated."""

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.dissection.interventions import ablate_units
from georecall.dissection.selectivity import Selectivity
from georecall.dissection.study import Analysis, Study
from georecall.progress import Progress, no_progress
from georecall.records import AsLists
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity

RANDOM_DRAWS = 3


class Ablation(Analysis):
    """Recall of held-out subjects' facts by relation asked, without the units that belong to one relation.

        intact               : [members, asked], all units
        ablated, random      : [members, ablated, asked], without the units of a relation, and without as many
                               random units among those not silent, mean of three draws
        units                : [members, ablated], how many were ablated

    Units belong to a relation by what they do on the training subjects. Units that hold single facts, as in a
    key-value memory, are therefore not found: recall of the held-out facts stays.
    """

    intact: Estimate
    ablated: Estimate
    random: Estimate
    units: Annotated[Int64[np.ndarray, "members ablated"], AsLists()]
    group: ClassVar[str] = "selectivity"

    @classmethod
    def measured(cls, study: Study) -> "Ablation":
        """Of the units that the selectivity gives to each relation."""
        selectivity = study.result(Selectivity)
        return ablate(study.split, selectivity, rng=study.draws(cls), progress=study.progress)

    def headlines(self, names: Sequence[str], shown: int) -> Iterator[Quantity]:
        """Recall of each relation, and of the others, without its units."""
        for r, name in enumerate(names[:shown]):
            others = [i for i in range(len(names)) if i != r]
            for what, asked in ((name, [r]), ("others", others)):
                if asked:
                    yield Quantity.of(
                        f"units of {name} ablated: recall of {what}",
                        self.ablated.at(r, asked),
                        beside={"intact": self.intact.at(asked), "random units": self.random.at(r, asked)},
                    )


def ablate(
    split: HeldOutSplit,
    selectivity: Selectivity,
    *,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Ablation:
    """Ablate the units of each relation, and random ones, in every member."""
    recalls = [
        _recalls(member, split, owners, rng)
        for member, owners in zip(
            split.members("ablation", progress), selectivity.relation_of_unit, strict=True
        )
    ]
    intact, ablated, random = (np.stack(kind) for kind in zip(*recalls, strict=True))
    return Ablation(
        intact=Estimate(intact), ablated=Estimate(ablated), random=Estimate(random), units=selectivity.units
    )


def _recalls(
    member: Member, split: HeldOutSplit, owners: Int64[np.ndarray, " width"], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gold = split.table.answers[split.held_out]
    prompts = split.prompts(split.held_out)

    def recall(ablated: Bool[np.ndarray, " width"]) -> Float64[np.ndarray, " asked"]:
        units = torch.from_numpy(ablated).to(prompts.device)
        state = member.activations(prompts, edits=ablate_units(units[None])).state[0]
        return (member.answers(state).reshape(gold.shape) == gold).mean(axis=0)

    n_relations = gold.shape[1]
    own = [owners == relation for relation in range(n_relations)]
    random = [
        np.mean([recall(ablated) for ablated in _random_units(owners >= 0, int(units.sum()), rng)], axis=0)
        for units in own
    ]
    return (
        recall(np.zeros(len(owners), dtype=bool)),
        np.stack([recall(units) for units in own]),
        np.stack(random),
    )


def _random_units(
    active: Bool[np.ndarray, " width"], count: int, rng: np.random.Generator
) -> Iterator[Bool[np.ndarray, " width"]]:
    for _ in range(RANDOM_DRAWS):
        ablated = np.zeros(len(active), dtype=bool)
        ablated[rng.choice(np.flatnonzero(active), count, replace=False)] = True
        yield ablated
