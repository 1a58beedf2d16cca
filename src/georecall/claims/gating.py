"""C6: ReLU gates are by relation: without its units one relation is forgotten, and no other."""

from collections.abc import Sequence

import numpy as np

from georecall.claims.claim import Claim
from georecall.claims.dissected import SOURCE, TIMES, cells, drawn, judge_by, others, own
from georecall.claims.judgement import Finding
from georecall.dissection import Dissection
from georecall.dissection.ablation import Ablation
from georecall.dissection.selectivity import Selectivity
from georecall.figures.dissection import ablation_figure
from georecall.statistics.quantities import Quantity

LEAST_INTACT, MOST_LEFT, LEAST_SPARED, MOST_RANDOM_GAP = 0.9, 0.5, 0.9, 0.5


def look(found: Dissection) -> Finding:
    """Said of the relation that is worst in each respect."""
    part = found.result(Ablation)
    intact, spared = part.intact.mean, part.ablated.mean
    left, left_at_random = own(part.ablated.values).mean(axis=0), own(part.random.values).mean(axis=0)
    gap = others(part.ablated.values).mean(axis=(0, 2)) - left
    gap_at_random = np.abs(others(part.random.values).mean(axis=(0, 2)) - left_at_random)
    elsewhere = ~np.eye(len(intact), dtype=bool)
    met = (
        intact.min() >= LEAST_INTACT
        and (left < MOST_LEFT * intact).all()
        and (spared >= LEAST_SPARED * intact)[elsewhere].all()
        and (gap_at_random <= MOST_RANDOM_GAP * gap).all()
    )
    ends = float(left_at_random.min()), float(left_at_random.max())
    random = Quantity(name="with as many random units ablated, least and most", value=ends)
    return Finding(
        met=bool(met),
        quantities=(
            Quantity(name="recall intact at least", value=float(intact.min())),
            Quantity(
                name="of the relation whose units are ablated at most",
                value=float(left.max()),
                controls=(random,),
            ),
            Quantity(name="of every other at least", value=float(spared[elsewhere].min())),
            Quantity(name="random units, from the others at most", value=float(gap_at_random.max())),
            Quantity.of("selectivity index", found.result(Selectivity).mean_index),
        ),
    )


def key(judged: Sequence[Dissection]) -> str:
    """The most that is left, and the least that is spared."""
    ablated = [found.result(Ablation).ablated.values for found in judged]
    left = max(own(rates).mean(axis=0).max() for rates in ablated)
    spared = min(others(rates).mean(axis=0).min() for rates in ablated)
    return f"recall ≤ {left:.3f} without its units, others ≥ {spared:.3f}"


C6 = Claim(
    id="C6",
    statement="ReLU gates are by relation: without the hidden units of one relation, that relation is forgotten and no "
    "other.",
    source=SOURCE,
    criterion=f"Every relation is recalled in {LEAST_INTACT}; without its units in less than {MOST_LEFT} of that, "
    f"while every other keeps {LEAST_SPARED}; between it and the others as many random units make at most "
    f"{MOST_RANDOM_GAP} of the difference",
    cells=cells,
    judge=judge_by(look, key),
    figure=drawn(
        lambda found, names: ablation_figure(found.result(Ablation), names), title="Hidden units ablated"
    ),
    times=TIMES,
)
