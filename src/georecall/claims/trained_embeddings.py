"""C1: the least dimension of trained models, with all embeddings trained."""

from collections.abc import Sequence

from georecall.claims.capacity_cells import (
    LOGARITHMIC,
    POWER,
    Results,
    bits,
    capacity_cell,
    coefficient,
    figure,
    of_law,
    stated,
    trained_cells,
)
from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement
from georecall.scaling.laws import CapacityPoint, fit_laws, logarithmic_share
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell

FIXED_WIDTH: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": ((32, 4), (64, 4)),
    "standard": ((64, 4), (256, 4)),
    "paper": ((256, 8), (1024, 8)),
}
"""Worlds in which the width is fixed."""
WIDTH = "64"
"""Their hidden units."""
CERTAIN = 0.95


def cells(preset: Preset) -> Sequence[Cell]:
    """The grid at a width of 4d, and some worlds at a fixed one."""
    fixed = [capacity_cell(preset, n, r, width=WIDTH) for n, r in FIXED_WIDTH[preset]]
    return [*trained_cells(preset), *fixed]


def judge(results: Results) -> Judgement:
    """How often a law in log N predicts best, beside the laws and the thresholds themselves."""
    points = [CapacityPoint.of(world) for world in results if world.cell.width != WIDTH]
    fixed = [CapacityPoint.of(world) for world in results if world.cell.width == WIDTH]
    censored, share, fits = (
        sum(point.censored for point in points),
        logarithmic_share(points),
        fit_laws(points),
    )
    logarithmic = of_law(fits, LOGARITHMIC)
    finding = Finding(
        met=None if censored else _decided(share),
        quantities=(
            Quantity(name="worlds", value=len(points)),
            Quantity(name="without a threshold for every seed", value=censored),
            *stated(logarithmic, LOGARITHMIC),
            *stated(of_law(fits, POWER), POWER),
            *_compared(share),
            bits(points),
            *(
                Quantity(
                    name=f"d* with width {WIDTH} at N = {p.n_subjects}, R = {p.n_relations}",
                    value=p.threshold,
                )
                for p in fixed
            ),
        ),
        note="" if share is None else f"best on an N left out: {fits[0].law}",
    )
    proportion = coefficient(logarithmic, "c", LOGARITHMIC).stated
    return Judgement.of([finding], key=f"d* / (R·log2 N) = {proportion}")


def _decided(share: float | None) -> bool | None:
    """Whether a law in log N is best, if nearly all redraws say the same."""
    if share is None or 1 - CERTAIN < share < CERTAIN:
        return None
    return share >= CERTAIN


def _compared(share: float | None) -> tuple[Quantity, ...]:
    name = "redraws in which a law in log N is best"
    return () if share is None else (Quantity(name=name, value=share, form=".0%"),)


C1 = Claim(
    id="C1",
    statement="With trainable embeddings the dimension that training needs grows as R·log N.",
    source="The paper claims a threshold d* = Θ(R log N); sizes, budget and numbers are ours.",
    criterion="A law in R·log2 N predicts the d* of an N left out better than powers of N do, in "
    f"{100 * CERTAIN:.0f} % of redraws; undecided between {100 * (1 - CERTAIN):.0f} and {100 * CERTAIN:.0f} %",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(47.4), "standard": Time(1580.0), "paper": Time(53000.0, "estimated")},
)
