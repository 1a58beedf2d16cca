"""C3 to C6: what is inside trained models: superposition, linear read-out, causal components, gates by relation."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from georecall.claims.claim import Claim, Judgement, Preset, Result
from georecall.claims.recipes import JUDGED, RECIPES, SEEDS
from georecall.claims.trained_cells import DissectionCell
from georecall.dissection.swap import NO_OP, WHOLE
from georecall.statistics.estimates import Estimate, members_of
from georecall.sweeps import Cell

WORLDS: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": ((256, 2), (256, 4)),
    "standard": ((1024, 2), (1024, 4), (1024, 8)),
    "paper": ((4096, 4), (4096, 8), (4096, 16)),
}

LEAST_R2, MOST_SHUFFLED = 0.8, 0.05
TIMES_THE_CONTROL = 10
LEAST_FOLLOW, LEAST_STAY, MOST_RANDOM, LEAST_UNCHANGED = 0.8, 0.9, 0.05, 0.99
LEAST_INTACT, MOST_LEFT, LEAST_SPARED, MOST_RANDOM_GAP = 0.9, 0.5, 0.9, 0.5


class Finding(NamedTuple):
    """Whether one world meets the criterion, None if it cannot say, and its numbers in words."""

    met: bool | None
    said: str


def own(
    rates: Float64[np.ndarray, "members relations relations"],
) -> Float64[np.ndarray, "members relations"]:
    """The diagonal: what a change of relation r does to r."""
    return np.diagonal(rates, axis1=1, axis2=2)


def others(
    rates: Float64[np.ndarray, "members relations relations"],
) -> Float64[np.ndarray, "members relations others"]:
    """Off the diagonal: what a change of relation r does to each other relation."""
    members, relations, _ = rates.shape
    return rates[:, ~np.eye(relations, dtype=bool)].reshape(members, relations, relations - 1)


def stated(values: Float64[np.ndarray, " members"]) -> str:
    """Mean and interval over members: 0.93 (0.91 … 0.95)."""
    estimate = Estimate(values)
    if estimate.interval is None:
        return f"{estimate.mean:.3f}"
    low, high = estimate.interval
    return f"{estimate.mean:.3f} ({low:.3f} … {high:.3f})"


def superposed(found: Result) -> Finding:
    """C3 in one world."""
    part = found["superposition"]
    if part["note"]:
        return Finding(None, f"left out: {part['note']}")
    r2, control = members_of(part["held_out_r2"]), members_of(part["shuffled_r2"])
    met = r2.mean() >= LEAST_R2 and control.mean() <= MOST_SHUFFLED
    return Finding(bool(met), f"R² {stated(r2)}, shuffled {stated(control)}")


def readable(found: Result) -> Finding:
    """C4 in one world, said of the relation that is nearest to its control."""
    part = found["readout"]
    rates, control = members_of(part["rates"]), members_of(part["shuffled"])
    low = np.array(part["rates"]["interval"][0])
    times = low / np.maximum(control.mean(axis=0), part["chance"])
    least = int(times.argmin())
    return Finding(
        bool(times[least] > TIMES_THE_CONTROL),
        f"least read-out {stated(rates[:, least])}, shuffled {stated(control[:, least])}, "
        f"chance {part['chance']:.4f}",
    )


def selected(found: Result) -> Finding:
    """C5 in one world."""
    part = found["swap"]
    swap, no_op, random = part["doses"][WHOLE], part["doses"][NO_OP], part["random_direction"]
    follow, stay = members_of(swap["follow"]).mean(axis=0), members_of(swap["stay"]).mean(axis=0)
    stray, old = members_of(random["follow"]).mean(axis=0), members_of(no_op["old"]).mean(axis=0)
    met = (
        follow.min() >= LEAST_FOLLOW
        and stay.min() >= LEAST_STAY
        and stray.max() <= MOST_RANDOM
        and old.min() >= LEAST_UNCHANGED
    )
    worst = others(members_of(swap["kept"])).mean(axis=0).min()
    return Finding(
        bool(met),
        f"the answer follows in at least {follow.min():.3f} for each relation, the others stay in {stay.min():.3f} "
        f"(the worst other relation {worst:.3f}); in a random direction it follows in at most {stray.max():.3f}; "
        f"without a change the old answer stays in {old.min():.3f}",
    )


def gated(found: Result) -> Finding:
    """C6 in one world."""
    part = found["ablation"]
    intact = members_of(part["intact"]).mean(axis=0)
    ablated, random = members_of(part["ablated"]), members_of(part["random"])
    left, left_at_random = own(ablated).mean(axis=0), own(random).mean(axis=0)
    spared = ablated.mean(axis=0)
    gap = others(ablated).mean(axis=(0, 2)) - left
    gap_at_random = others(random).mean(axis=(0, 2)) - left_at_random
    elsewhere = ~np.eye(len(intact), dtype=bool)
    met = (
        intact.min() >= LEAST_INTACT
        and (left < MOST_LEFT * intact).all()
        and (spared >= LEAST_SPARED * intact)[elsewhere].all()
        and (np.abs(gap_at_random) <= MOST_RANDOM_GAP * gap).all()
    )
    index = members_of(found["selectivity"]["mean_index"])
    return Finding(
        bool(met),
        f"recall intact at least {intact.min():.3f}; of the relation whose units are silenced at most "
        f"{left.max():.3f}, of every other at least {spared[elsewhere].min():.3f}; with as many random units "
        f"silenced {left_at_random.min():.3f} to {left_at_random.max():.3f}, at most "
        f"{np.abs(gap_at_random).max():.3f} from the others; selectivity index {stated(index)}",
    )


def _cells(preset: Preset) -> Sequence[Cell]:
    return [
        DissectionCell(
            n_subjects=n,
            n_relations=r,
            recipe=name,
            training=recipe(r, preset=preset, seeds=SEEDS),
        )
        for name, recipe in RECIPES.items()
        for n, r in WORLDS[preset]
    ]


def world_of(result: Result) -> str:
    """Recipe, sizes and budget in words."""
    training = result["training"]
    return (
        f"{result['recipe']}, N = {result['n_subjects']}, R = {result['n_relations']}, d = {training['dim']}, "
        f"a = {training['attribute_dim'] or training['dim']}, {training['seeds']} seeds, {training['steps']} steps"
    )


def _judge_by(look: Callable[[Result], Finding]) -> Callable[[Sequence[Result]], Judgement]:
    """All worlds of the judged recipe that can say must meet the criterion."""

    def judge(results: Sequence[Result]) -> Judgement:
        findings = [look(result["dissection"]) for result in results]
        decided = [
            finding.met
            for result, finding in zip(results, findings, strict=True)
            if result["recipe"] == JUDGED and finding.met is not None
        ]
        return Judgement(
            verdict="undecided" if not decided else "holds" if all(decided) else "fails",
            measured="; ".join(
                f"[{world_of(result)}, recall {min(result['recall']):.3f}] {finding.said}"
                for result, finding in zip(results, findings, strict=True)
            ),
        )

    return judge


SOURCE = (
    "The paper claims the structure; its recipe is not known to us. Judged is our recipe `coded`, with `plain` beside "
    "it; sizes and numbers are ours."
)

C3 = Claim(
    id="C3",
    statement="Trained subject embeddings are superpositions: one matrix for each relation, applied to the vector of "
    "its attribute, adds up to the embedding.",
    source=SOURCE,
    criterion=f"Mean held-out R² at least {LEAST_R2} and at most {MOST_SHUFFLED} with shuffled facts, in every world; "
    "one with more regressors than subjects is left out",
    cells=_cells,
    judge=_judge_by(superposed),
)
C4 = Claim(
    id="C4",
    statement="Every relation can be read off a trained subject embedding by a linear map.",
    source=SOURCE,
    criterion="For every relation the lower end of the interval of the top-1 rate on held-out subjects is above "
    f"{TIMES_THE_CONTROL} times the larger of the shuffled control and chance",
    cells=_cells,
    judge=_judge_by(readable),
)
C5 = Claim(
    id="C5",
    statement="The MLP selects: exchanging the component of one relation in a subject embedding changes the answer for "
    "that relation, and no other.",
    source=SOURCE,
    criterion=f"For every relation the answer follows in {LEAST_FOLLOW} of the swaps and the others stay in "
    f"{LEAST_STAY}; in a random direction it follows in {MOST_RANDOM} at most; without a change the old answer stays "
    f"in {LEAST_UNCHANGED}",
    cells=_cells,
    judge=_judge_by(selected),
)
C6 = Claim(
    id="C6",
    statement="ReLU gates are by relation: without the hidden units of one relation, that relation is forgotten and no "
    "other.",
    source=SOURCE,
    criterion=f"Every relation is recalled in {LEAST_INTACT}; without its units in less than {MOST_LEFT} of that, "
    f"while every other keeps {LEAST_SPARED}; between it and the others as many random units make at most "
    f"{MOST_RANDOM_GAP} of the difference",
    cells=_cells,
    judge=_judge_by(gated),
)
