"""C2: the least dimension of models whose subject embeddings stay random."""

from collections.abc import Sequence

from georecall.claims.capacity_cells import (
    POWER,
    Results,
    bits,
    coefficient,
    figure,
    of_law,
    stated,
    trained_cells,
)
from georecall.claims.claim import Claim, Preset, Time
from georecall.claims.judgement import Finding, Judgement, Verdict
from georecall.scaling.laws import CapacityPoint, Fit, fit_laws, threshold_ratio
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Cell

LEAST_RATIO = 1
FROZEN = "subjects"


def cells(preset: Preset) -> Sequence[Cell]:
    """The same grid with everything trained, and with subjects frozen."""
    frozen = [cell.model_copy(update={"freeze": FROZEN}) for cell in trained_cells(preset)]
    return [*trained_cells(preset), *frozen]


def judge(results: Results) -> Judgement:
    """The ratio in every world, and the exponents of N."""
    trained, frozen = (
        [CapacityPoint.of(world) for world in results if (world.cell.freeze == FROZEN) == is_frozen]
        for is_frozen in (False, True)
    )
    worlds = [_compared(above, below) for above, below in zip(frozen, trained, strict=True)]
    fits = {
        name: of_law(fit_laws(points), POWER) for name, points in (("trained", trained), ("frozen", frozen))
    }
    laws = [Finding(world=name, quantities=stated(fit, POWER)) for name, fit in fits.items()]
    exponents = {name: coefficient(fit, "α", POWER).stated for name, fit in fits.items()}
    return Judgement(
        verdict=_verdict(worlds, **fits),
        key=f"exponent of N {exponents['frozen']} frozen, {exponents['trained']} trained",
        findings=(
            *worlds,
            laws[0],
            laws[1].model_copy(update={"quantities": (*laws[1].quantities, bits(frozen))}),
        ),
    )


def _compared(above: CapacityPoint, below: CapacityPoint) -> Finding:
    ratio = threshold_ratio(above, below)
    name, form = "frozen over trained d*", ".2f"
    world = f"N = {above.n_subjects}, R = {above.n_relations}"
    if ratio is None:
        return Finding(world=world, quantities=(Quantity(name=name, value=None),))
    return Finding(
        world=world, met=ratio.low > LEAST_RATIO, quantities=(Quantity.of(name, ratio, form=form),)
    )


def _verdict(worlds: Sequence[Finding], *, trained: Fit | None, frozen: Fit | None) -> Verdict:
    """From the ratios with their intervals, and the intervals of both exponents of N."""
    below, above = _exponent(trained), _exponent(frozen)
    if below is None or above is None or any(world.met is None for world in worlds):
        return "undecided"
    if not all(world.met for world in worlds) or above[1] < below[0]:
        return "fails"
    return "holds" if above[0] > below[1] else "undecided"


def _exponent(fit: Fit | None) -> tuple[float, float] | None:
    """The interval of the exponent of N."""
    return None if fit is None or fit.intervals is None else fit.intervals["α"]


C2 = Claim(
    id="C2",
    statement="With frozen random subject embeddings the dimension is far larger and grows faster with N.",
    source="The paper claims polynomial growth for frozen input embeddings; its exponent is not known to us.",
    criterion=f"The ratio of frozen to trained d* is above {LEAST_RATIO} in every world, and the exponent of N is "
    "larger, both beyond their intervals; undecided if only the intervals of the exponents overlap",
    cells=cells,
    judge=judge,
    figure=figure,
    times={"quick": Time(73.3), "standard": Time(2324.0), "paper": Time(100000.0, "estimated")},
)
