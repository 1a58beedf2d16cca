"""Ways of training a model that is to be dissected, and to have new facts swapped in."""

from collections.abc import Callable

from georecall.claims.claim import Preset
from georecall.training.config import TrainConfig

SUBJECTS_A_BATCH, LEAST_DIM = 256, 64
STEPS: dict[Preset, int] = {"quick": 800, "standard": 1600, "paper": 1600}


def plain(n_relations: int, *, preset: Preset, seeds: int) -> TrainConfig:
    """As one would train without a thought of structure: attribute vectors of full rank, no noise, no decay."""
    dim = max(LEAST_DIM, 16 * n_relations)
    return TrainConfig(
        dim=dim,
        width=4 * dim,
        seeds=seeds,
        learning_rates=(0.01,),
        steps=STEPS[preset],
        batch=SUBJECTS_A_BATCH * n_relations,
        check_every=STEPS[preset],
        margin=None,
    )


def coded(n_relations: int, *, preset: Preset, seeds: int) -> TrainConfig:
    """With short attribute vectors, as in the construction, and what makes them a code (docs/transfer.md)."""
    settings = plain(n_relations, preset=preset, seeds=seeds).model_dump()
    short = {"attribute_dim": 8, "embedding_noise": 0.3, "label_smoothing": 0.1, "weight_decay": 0.3}
    return TrainConfig(**settings | short | {"learning_rates": (0.02,)})


RECIPES: dict[str, Callable[..., TrainConfig]] = {"coded": coded, "plain": plain}
JUDGED = "coded"
"""The recipe that a verdict is about; the other is stated beside it."""
SEEDS = 3
