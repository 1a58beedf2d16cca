"""Every step that a memory can be asked, through the stock model in the format that is saved.

A step is an entity (or the unknown), a relation (or the end), and the number of the step. The model is asked K + 1
steps at once, by prompts of K + 1 times one relation and K + 1 times one entity.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from transformers import PreTrainedModel

from georecall.constructions.certificate import KERNELS
from georecall.constructions.chain import Chain
from georecall.progress import Progress, no_progress

SCORES_IN_ALL = 10**10
"""Every step is asked, against the whole vocabulary, as long as that takes no more scores than these."""

NUMBERS_AT_ONCE = 1 << 24
"""Scores or hidden units held at once: 64 MB in float32."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What asking found: how many steps there are, and how many of them were asked.

    `margin` is the least lead of a right token over any other, over all attention kernels, less two units in the
    last place of the score, by which another way of adding up may move the two; −∞ if any score is NaN.
    """

    steps: int
    asked: int
    margin: float


def ask_every_step(
    chain: Chain,
    model: PreTrainedModel,
    *,
    entities: Int64[np.ndarray, " entities"] | None = None,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Asked:
    """Ask all entities and the unknown, or the `entities` given (−1: unknown), every relation and the end.

    If that is too much, as many pairs of an entity and a relation, drawn by `seed`, as can be afforded.
    """
    everyone = np.arange(-1, chain.n_entities) if entities is None else entities
    pairs = _affordable(chain, everyone, np.random.default_rng(seed))
    vocabulary, places = chain.vocabulary, chain.relation_positions
    asked, subjects = vocabulary.relation_ids(pairs[:, 1]), vocabulary.entity_ids(pairs[:, 0])
    prompts = torch.from_numpy(np.repeat(np.stack([asked, subjects], axis=1), places, axis=1))
    gold = torch.from_numpy(_right_tokens(chain, pairs))
    least = torch.tensor(torch.inf)
    batch = max(1, NUMBERS_AT_ONCE // (2 * places * max(vocabulary.size, chain.width)))
    for kernel in KERNELS:
        model.set_attn_implementation(kernel)
        for start in range(0, len(pairs), batch):
            part = slice(start, start + batch)
            leads = _leads(model, prompts[part], gold[part], places)
            least = torch.minimum(least, leads.nan_to_num(nan=-torch.inf).min())
            progress(f"asking every step ({kernel})", min(start + batch, len(pairs)), len(pairs))
    return Asked(
        steps=len(everyone) * (chain.n_relations + 1) * places,
        asked=len(pairs) * places,
        margin=float(least),
    )


def _affordable(
    chain: Chain, entities: Int64[np.ndarray, " entities"], rng: np.random.Generator
) -> Int64[np.ndarray, "pairs 2"]:
    """Pairs of an entity and a relation: all of them, or as many as can be afforded."""
    relations = np.arange(-1, chain.n_relations)
    count = len(entities) * len(relations)
    most = max(1, SCORES_IN_ALL // (chain.vocabulary.size * chain.relation_positions))
    chosen = np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
    entity, relation = np.divmod(chosen, len(relations))
    return np.stack([entities[entity], relations[relation]], axis=1)


def _right_tokens(chain: Chain, pairs: Int64[np.ndarray, "pairs 2"]) -> Int64[np.ndarray, " pairs"]:
    """The token that must be emitted for each pair."""
    entity, relation = pairs.T
    names = np.zeros(len(pairs), dtype=np.int64)
    subject = (entity >= 0) & (entity < len(chain.table.answers)) & (relation >= 0)
    names[subject] = chain.names_of(slice(None))[entity[subject], relation[subject]]
    return np.where(relation < 0, chain.vocabulary.end, chain.vocabulary.entity_ids(names - 1))


@torch.inference_mode()
def _leads(
    model: PreTrainedModel, prompts: Int64[Tensor, "batch time"], gold: Int64[Tensor, " batch"], steps: int
) -> Float[Tensor, " batch"]:
    """The least lead of the right token over the steps of each prompt, less the rounding of both scores."""
    states = model.base_model(prompts).last_hidden_state[:, -steps:]
    scores = model.lm_head(states).float()
    right = scores.gather(2, gold[:, None, None].expand(-1, steps, 1))[..., 0]
    scores.scatter_(2, gold[:, None, None].expand(-1, steps, 1), -torch.inf)
    spacing = torch.finfo(states.dtype).eps * 2.0 ** (right.frexp().exponent - 1)
    return (right - scores.amax(dim=2) - 2 * spacing).amin(dim=1)
