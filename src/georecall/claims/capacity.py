"""C1, C2 and C9: the least dimension of trained models, embeddings trained or frozen, attention fixed or learned."""

from collections.abc import Sequence

from georecall.analysis.scaling import CapacityPoint, Fit, fit_laws, logarithmic_share, ratio_interval
from georecall.claims.claim import Claim, Judgement, Preset, Result, Verdict
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
ATTENTION: dict[Preset, tuple[int, int]] = {"quick": (64, 4), "standard": (256, 4), "paper": (1024, 8)}
BUDGET: dict[Preset, tuple[int, int]] = {"quick": (500, 2000), "standard": (500, 4000), "paper": (1000, 4000)}
"""Passes over the questions, and steps at least."""
WIDTH = "64"
CERTAIN = 0.95


def trained_cells(preset: Preset) -> list[CapacityCell]:
    """The grid with everything trained, at a width of 4d."""
    return [_cell(preset, n, r) for n, r in WORLDS[preset]]


def _cell(preset: Preset, n_subjects: int, n_relations: int, *, width: str = "4d") -> CapacityCell:
    passes, least_steps = BUDGET[preset]
    return CapacityCell(
        n_subjects=n_subjects, n_relations=n_relations, width=width, passes=passes, least_steps=least_steps
    )


def _c1_cells(preset: Preset) -> Sequence[Cell]:
    fixed = [_cell(preset, n, r, width=WIDTH) for n, r in FIXED_WIDTH[preset]]
    return [*trained_cells(preset), *fixed]


def _c2_cells(preset: Preset) -> Sequence[Cell]:
    frozen = [cell.model_copy(update={"freeze": "subjects"}) for cell in trained_cells(preset)]
    return [*trained_cells(preset), *frozen]


def _c9_cells(preset: Preset) -> Sequence[Cell]:
    uniform = _cell(preset, *ATTENTION[preset])
    return [uniform, uniform.model_copy(update={"attention": "learned"})]


def points_of(results: Sequence[Result], **wanted: str) -> list[CapacityPoint]:
    """The results that have these settings, as points."""
    return [CapacityPoint.of(r) for r in results if all(r[name] == value for name, value in wanted.items())]


def _judge_c1(results: Sequence[Result]) -> Judgement:
    points = points_of(results, width="4d")
    censored = sum(point.censored for point in points)
    fits = {fit.law: fit for fit in fit_laws(points)}
    share = logarithmic_share(points)
    best = next(iter(fits.values()))
    fixed = ", ".join(
        f"{p.threshold} at N = {p.n_subjects}, R = {p.n_relations}" for p in points_of(results, width=WIDTH)
    )
    return Judgement(
        verdict="undecided" if censored or share is None else _verdict(share),
        measured=f"{len(points)} worlds, {censored} without a threshold: {_stated(fits['c·R·log2 N'])}; "
        f"{_stated(fits['c·R^β·N^α'])}; best on an N left out: {best.law}"
        + ("" if share is None else f"; a law in log N is best in {share:.0%} of redraws")
        + f"; {_bits(points)}; with width {WIDTH}: d* = {fixed}",
    )


def _verdict(share: float) -> Verdict:
    if share >= CERTAIN:
        return "holds"
    return "fails" if share <= 1 - CERTAIN else "undecided"


def _judge_c2(results: Sequence[Result]) -> Judgement:
    trained, frozen = points_of(results, freeze="none"), points_of(results, freeze="subjects")
    ratios = [ratio_interval(above, below) for above, below in zip(frozen, trained, strict=True)]
    growth = [{fit.law: fit for fit in fit_laws(points)}["c·R^β·N^α"] for points in (trained, frozen)]
    known = all(fit.intervals for fit in growth) and not any(point.censored for point in (*trained, *frozen))
    (_, least), (most, _) = ((fit.intervals or {}).get("α", (0.0, 0.0)) for fit in growth)
    holds = all(low > 1 for _, low, _ in ratios) and most > least
    return Judgement(
        verdict=("holds" if holds else "fails") if known else "undecided",
        measured="frozen over trained d*: "
        + ", ".join(
            f"{ratio:.2f} ({low:.2f} … {high:.2f}) at N = {point.n_subjects}, R = {point.n_relations}"
            for (ratio, low, high), point in zip(ratios, trained, strict=True)
        )
        + f"; trained {_stated(growth[0])}; frozen {_stated(growth[1])}; frozen: {_bits(frozen)}",
    )


def _judge_c9(results: Sequence[Result]) -> Judgement:
    uniform, learned = (CapacityPoint.of(result) for result in results)
    known = uniform.known + learned.known
    agree = bool(known) and max(min(p.known) for p in (uniform, learned)) <= min(
        max(p.known) for p in (uniform, learned)
    )
    return Judgement(
        verdict="undecided" if uniform.censored or learned.censored else "holds" if agree else "fails",
        measured=f"N = {uniform.n_subjects}, R = {uniform.n_relations}: d* by seed {_list(uniform)} with uniform "
        f"attention, {_list(learned)} with learned attention",
    )


def _stated(fit: Fit) -> str:
    """A law with its coefficients, their intervals and its error on an N left out."""
    parts = []
    for name, value in fit.coefficients.items():
        low, high = (fit.intervals or {}).get(name, (value, value))
        parts.append(f"{name} = {value:.2f} ({low:.2f} … {high:.2f})")
    error = "" if fit.held_out_error is None else f", error {fit.held_out_error:.0%}"
    return f"d* = {fit.law}, {', '.join(parts)}{error}"


def _bits(points: Sequence[CapacityPoint]) -> str:
    values = [point.bits_per_trained for point in points if point.bits_per_trained is not None]
    return f"{min(values):.2f} to {max(values):.2f} bits a trained parameter" if values else "no threshold"


def _list(point: CapacityPoint) -> str:
    return ", ".join("none" if value is None else str(value) for value in point.least)


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
    "beyond their intervals",
    cells=_c2_cells,
    judge=_judge_c2,
)
C9 = Claim(
    id="C9",
    statement="Uniform and learned attention need the same dimension.",
    source="The paper trains with both; sizes and numbers are ours.",
    criterion="The ranges of d* over seeds overlap",
    cells=_c9_cells,
    judge=_judge_c9,
)
