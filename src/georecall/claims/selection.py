"""C5: the MLP selects: a component that is exchanged changes its own answer, and no other."""

from collections.abc import Sequence

from georecall.claims.claim import Claim
from georecall.claims.dissected import SOURCE, TIMES, cells, drawn, judge_by, others
from georecall.claims.judgement import Finding
from georecall.dissection import Dissection
from georecall.dissection.swap import AnswerRates, Swap
from georecall.figures.dissection import dose_figure, swap_figure
from georecall.statistics.quantities import Quantity

LEAST_FOLLOW, LEAST_STAY, MOST_RANDOM, LEAST_UNCHANGED = 0.8, 0.9, 0.05, 0.99


def look(found: Dissection) -> Finding:
    """Said of the relation that is worst in each respect."""
    part = found.result(Swap)
    follow, stay = _least(part.swap)
    stray = float(part.random_direction.follow.mean.max())
    old = float(part.no_op.old.mean.min())
    worst = float(others(part.swap.kept.values).mean(axis=0).min())
    random = Quantity(name="in a random direction at most", value=stray)
    return Finding(
        met=follow >= LEAST_FOLLOW and stay >= LEAST_STAY and stray <= MOST_RANDOM and old >= LEAST_UNCHANGED,
        quantities=(
            Quantity(
                name="the answer follows, for each relation in at least", value=follow, controls=(random,)
            ),
            Quantity(name="the others stay in at least", value=stay),
            Quantity(name="the worst other relation stays in", value=worst),
            Quantity(name="without a change the old answer stays in at least", value=old),
        ),
    )


def key(judged: Sequence[Dissection]) -> str:
    """The least rates."""
    rates = [_least(found.result(Swap).swap) for found in judged]
    follow, stay = (min(kind) for kind in zip(*rates, strict=True))
    return f"follows in ≥ {follow:.3f}, others stay in ≥ {stay:.3f}"


def _least(swap: AnswerRates) -> tuple[float, float]:
    """Over the relations, how often the answer follows, and the others stay; all that there are, if there is one."""
    stay = 1.0 if swap.stay is None else float(swap.stay.mean.min())
    return float(swap.follow.mean.min()), stay


C5 = Claim(
    id="C5",
    statement="The MLP selects: exchanging the component of one relation in a subject embedding changes the answer for "
    "that relation, and no other.",
    source=SOURCE,
    criterion=f"For every relation the answer follows in {LEAST_FOLLOW} of the swaps and the others stay in "
    f"{LEAST_STAY}; in a random direction it follows in {MOST_RANDOM} at most; without a change the old answer stays "
    f"in {LEAST_UNCHANGED}",
    cells=cells,
    judge=judge_by(look, key),
    figure=drawn(
        lambda found, names: swap_figure(found.result(Swap), names) | dose_figure(found.result(Swap)),
        title="One component exchanged",
    ),
    times=TIMES,
)
