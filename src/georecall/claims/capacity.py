"""C1 and C2: the least dimension of trained models, with embeddings trained or frozen."""

from collections.abc import Sequence

from georecall.claims.claim import Claim, Judgement, Preset, Result, Verdict
from georecall.scaling.laws import CapacityPoint, Fit, fit_laws, logarithmic_share, ratio_interval
from georecall.sweeps import Cell
from georecall.training.capacity import CapacityCell

WORLDS: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": tuple((n, r) for n in (32, 64, 128) for r in (2, 4)),
    "standard": (*((n, r) for n in (64, 256) for r in (2, 4, 8)), (1024, 2), (1024, 4)),
    "paper": tuple((n, r) for n in (256, 1024, 4096) for r in (2, 4, 8, 16)),
}
FIXED_WIDTH: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": ((32, 4), (64, 4)),
    "standard": ((64, 4), (256, 4)),
    "paper": ((256, 8), (1024, 8)),
}
"""Those at which learned attention trains; uniform attention is given the same."""
BUDGET: dict[Preset, tuple[int, int]] = {"quick": (500, 2000), "standard": (500, 4000), "paper": (1000, 4000)}
"""Passes over the questions, and steps at least."""
WIDTH = "64"
"""Hidden units of the worlds in which the width is fixed."""
CERTAIN = 0.95
LOGARITHMIC, POWER = "c·R·log2 N", "c·R^β·N^α"
"""The laws that are stated, by their names in `scaling.laws.LAWS`."""

Interval = tuple[float, float]
Ratio = tuple[float, float, float]
"""A ratio and its interval."""


def trained_cells(preset: Preset) -> list[CapacityCell]:
    """The grid with everything trained, at a width of 4d."""
    return [capacity_cell(preset, n, r) for n, r in WORLDS[preset]]


def capacity_cell(preset: Preset, n_subjects: int, n_relations: int, *, width: str = "4d") -> CapacityCell:
    """A world searched with the budget of a preset."""
    passes, least_steps = BUDGET[preset]
    return CapacityCell(
        n_subjects=n_subjects, n_relations=n_relations, width=width, passes=passes, least_steps=least_steps
    )


def _c1_cells(preset: Preset) -> Sequence[Cell]:
    fixed = [capacity_cell(preset, n, r, width=WIDTH) for n, r in FIXED_WIDTH[preset]]
    return [*trained_cells(preset), *fixed]


def _c2_cells(preset: Preset) -> Sequence[Cell]:
    frozen = [cell.model_copy(update={"freeze": "subjects"}) for cell in trained_cells(preset)]
    return [*trained_cells(preset), *frozen]


def points_of(results: Sequence[Result], **wanted: str) -> list[CapacityPoint]:
    """The results that have these settings, as points."""
    return [CapacityPoint.of(r) for r in results if all(r[name] == value for name, value in wanted.items())]


def _judge_c1(results: Sequence[Result]) -> Judgement:
    points, fixed = points_of(results, width="4d"), points_of(results, width=WIDTH)
    censored = sum(point.censored for point in points)
    fits = fit_laws(points)
    share = logarithmic_share(points)
    parts = [_stated(fits, LOGARITHMIC), _stated(fits, POWER)]
    if share is not None:
        parts.append(
            f"best on an N left out: {fits[0].law}; a law in log N is best in {share:.0%} of redraws"
        )
    at_fixed = ", ".join(f"{_or_none(p.threshold)} at N = {p.n_subjects}, R = {p.n_relations}" for p in fixed)
    return Judgement(
        verdict="undecided" if censored or share is None else _verdict(share),
        measured=f"{len(points)} worlds, {censored} without a threshold for every seed: {'; '.join(parts)}; "
        f"{_bits(points)}; with width {WIDTH}: d* = {at_fixed}",
    )


def _verdict(share: float) -> Verdict:
    if share >= CERTAIN:
        return "holds"
    return "fails" if share <= 1 - CERTAIN else "undecided"


def _judge_c2(results: Sequence[Result]) -> Judgement:
    trained, frozen = points_of(results, freeze="none"), points_of(results, freeze="subjects")
    ratios = [ratio_interval(above, below) for above, below in zip(frozen, trained, strict=True)]
    fits = [fit_laws(points) for points in (trained, frozen)]
    return Judgement(
        verdict=_verdict_c2(ratios, *(_exponent(found) for found in fits)),
        measured="frozen over trained d*: "
        + ", ".join(
            f"{'none' if ratio is None else _within(*ratio)} at N = {point.n_subjects}, R = {point.n_relations}"
            for ratio, point in zip(ratios, trained, strict=True)
        )
        + f"; trained: {_stated(fits[0], POWER)}; frozen: {_stated(fits[1], POWER)}; frozen: {_bits(frozen)}",
    )


def _verdict_c2(ratios: Sequence[Ratio | None], trained: Interval | None, frozen: Interval | None) -> Verdict:
    """From the ratios with their intervals, and the intervals of both exponents of N."""
    known = [ratio for ratio in ratios if ratio is not None]
    if trained is None or frozen is None or len(known) < len(ratios):
        return "undecided"
    if any(low <= 1 for _, low, _ in known) or frozen[1] < trained[0]:
        return "fails"
    return "holds" if frozen[0] > trained[1] else "undecided"


def _exponent(fits: Sequence[Fit]) -> Interval | None:
    """The interval of the exponent of N."""
    return next((fit.intervals["α"] for fit in fits if fit.law == POWER and fit.intervals), None)


def _stated(fits: Sequence[Fit], law: str) -> str:
    """A law with its coefficients, their intervals and its error on an N left out."""
    fit = next((fit for fit in fits if fit.law == law), None)
    if fit is None:
        return f"too few worlds for d* = {law}"
    parts = [
        f"{name} = {f'{value:.2f}' if fit.intervals is None else _within(value, *fit.intervals[name])}"
        for name, value in fit.coefficients.items()
    ]
    error = "" if fit.held_out_error is None else f", error {fit.held_out_error:.0%}"
    return f"d* = {law}, {', '.join(parts)}{error}"


def _within(value: float, low: float, high: float) -> str:
    return f"{value:.2f} ({low:.2f} … {high:.2f})"


def _bits(points: Sequence[CapacityPoint]) -> str:
    values = [point.bits_per_trained for point in points if point.bits_per_trained is not None]
    return f"{min(values):.2f} to {max(values):.2f} bits a trained parameter" if values else "no threshold"


def _or_none(dim: int | None) -> str:
    return "none" if dim is None else str(dim)


C1 = Claim(
    id="C1",
    statement="With trainable embeddings the dimension that training needs grows as R·log N.",
    source="The paper claims a threshold d* = Θ(R log N); sizes, budget and numbers are ours.",
    criterion="A law in R·log2 N predicts the d* of an N left out better than powers of N do, in 95 % of redraws; "
    "undecided between 5 and 95 %",
    cells=_c1_cells,
    judge=_judge_c1,
)
C2 = Claim(
    id="C2",
    statement="With frozen random subject embeddings the dimension is far larger and grows faster with N.",
    source="The paper claims polynomial growth for frozen input embeddings; its exponent is not known to us.",
    criterion="The ratio of frozen to trained d* is above 1 in every world, and the exponent of N is larger, both "
    "beyond their intervals; undecided if only the intervals of the exponents overlap",
    cells=_c2_cells,
    judge=_judge_c2,
)
