"""The one figure of each claim that a summary shows, with its interval where there is one."""

from collections.abc import Callable, Sequence

import numpy as np

from georecall.claims.bounds import REFERENCE
from georecall.claims.capacity import LOGARITHMIC, POWER, points_of
from georecall.claims.claim import Outcome, Result
from georecall.claims.dissection import others, own, stated
from georecall.claims.hops import HOPS, thresholds
from georecall.claims.recipes import JUDGED
from georecall.claims.transfer import chosen_method
from georecall.dissection.swap import WHOLE
from georecall.scaling.laws import CapacityPoint, fit_laws
from georecall.statistics.estimates import members_of
from georecall.statistics.intervals import Interval

Results = Sequence[Result]


def key_figure(outcome: Outcome) -> str:
    """The figure in a few words; what was measured, or why nothing was, for a claim that has none."""
    draw = KEY_FIGURES.get(outcome.id)
    return draw(outcome.results) if draw and outcome.results else outcome.measured.partition(";")[0]


def _recalled(results: Results) -> str:
    wrong = sum(sum(result["stock_failures"].values()) for result in results)
    margin = min(min(result["margins"].values()) for result in results)
    return f"{wrong} wrong of {sum(result['facts'] for result in results):,} facts, margin {margin:g}"


def _answered(results: Results) -> str:
    wrong, asked = (sum(result[name] for result in results) for name in ("wrong", "queries"))
    return f"{wrong} wrong of {asked:,} questions"


def _chained(results: Results) -> str:
    asked = sum(result["queries"] * result["hops"] for result in results)
    return f"{sum(sum(result['failures']) for result in results)} wrong of {asked:,} chains"


def _close(results: Results) -> str:
    ratio = next(r["bits_ratio"] for r in results if r["levels"] == 2 and r["n_subjects"] == REFERENCE)
    return f"{ratio:.2f} times the bound at N = {REFERENCE:,}"


def _proportional(results: Results) -> str:
    return f"d* / (R·log2 N) = {_coefficient(points_of(results, width='4d'), LOGARITHMIC, 'c')}"


def _growth(results: Results) -> str:
    frozen, trained = (
        _coefficient(points_of(results, freeze=freeze), POWER, "α") for freeze in ("subjects", "none")
    )
    return f"exponent of N {frozen} frozen, {trained} trained"


def _coefficient(points: Sequence[CapacityPoint], law: str, name: str) -> str:
    fit = next((fit for fit in fit_laws(points) if fit.law == law), None)
    if fit is None:
        return "unknown"
    value = f"{fit.coefficients[name]:.2f}"
    return f"{value} ({' … '.join(f'{end:.2f}' for end in fit.intervals[name])})" if fit.intervals else value


def _judged(results: Results) -> list[Result]:
    return [result["dissection"] for result in results if result["recipe"] == JUDGED]


def _superposed(results: Results) -> str:
    known = [part for found in _judged(results) if not (part := found["superposition"])["note"]]
    if not known:
        return "no world can say"
    return f"R² {_least([members_of(part['held_out_r2']) for part in known])}"


def _readable(results: Results) -> str:
    rates = [members_of(found["readout"]["rates"]) for found in _judged(results)]
    return f"read-out {_least([rate[:, place] for rate in rates for place in range(rate.shape[1])])}"


def _least(values: Sequence[np.ndarray]) -> str:
    """The members whose mean is least, with their interval."""
    return stated(min(values, key=lambda members: members.mean()))


def _selected(results: Results) -> str:
    swaps = [found["swap"]["doses"][WHOLE] for found in _judged(results)]
    follow, stay = (
        min(members_of(swap[name]).mean(axis=0).min() for swap in swaps) for name in ("follow", "stay")
    )
    return f"follows in ≥ {follow:.3f}, others stay in ≥ {stay:.3f}"


def _gated(results: Results) -> str:
    ablated = [members_of(found["ablation"]["ablated"]) for found in _judged(results)]
    left = max(own(rates).mean(axis=0).max() for rates in ablated)
    spared = min(others(rates).mean(axis=0).min() for rates in ablated)
    return f"recall ≤ {left:.3f} without its units, others ≥ {spared:.3f}"


def _transferred(results: Results) -> str:
    least = min(
        (result for result in results if result["recipe"] == JUDGED),
        key=lambda result: result["transfer"][chosen_method(result)]["accuracy"]["mean"],
    )
    return f"accuracy {_accuracy(least)} at R = {least['n_relations']}"


def _accuracy(result: Result) -> str:
    accuracy = result["transfer"][chosen_method(result)]["accuracy"]
    interval = accuracy["interval"]
    return f"{accuracy['mean']:.3f}" + (f" ({interval[0]:.3f} … {interval[1]:.3f})" if interval else "")


def _deep(results: Results) -> str:
    at_once, chain = _growth_of(thresholds(results, "direct")), _growth_of(thresholds(results, "cot"))
    return f"d* for k = {HOPS[-1]} over k = 1: {at_once} at once, {chain} by chain of thought"


def _growth_of(found: dict[int, int | None]) -> str:
    first, last = found[1], found[HOPS[-1]]
    return "not learned" if first is None or last is None else f"{last / first:.1f}"


def _attended(results: Results) -> str:
    uniform, learned = (result["threshold"] for result in results[:2])
    return f"d* {uniform} uniform, {learned} learned; learned swaps {_accuracy(results[3])}"


def _evident(results: Results) -> str:
    verdicts = [verdict for result in results for verdict in result["findings"]["evidence"]]
    return f"evidence for {sum(verdict['evidence'] for verdict in verdicts)} of {len(verdicts)} relations"


def _joint(results: Results) -> str:
    known = [joint for result in results if (joint := result["findings"]["joint"])]
    if not known:
        return "no table can say"
    return f"joint R² {', '.join(str(Interval(**joint['joint']['chosen'])) for joint in known)}"


KEY_FIGURES: dict[str, Callable[[Results], str]] = {
    "K1": _recalled,
    "K2": _answered,
    "K3": _answered,
    "K4": _chained,
    "K5": _close,
    "C1": _proportional,
    "C2": _growth,
    "C3": _superposed,
    "C4": _readable,
    "C5": _selected,
    "C6": _gated,
    "C7": _transferred,
    "C8": _deep,
    "C9": _attended,
    "L1": _evident,
    "L2": _joint,
}
