"""What C1, C2 and C9 share: the worlds whose least dimension is searched."""

from collections.abc import Sequence

from altair.typing import ChartType

from georecall.claims.claim import Preset
from georecall.figures.capacity import capacity_figure
from georecall.scaling.laws import CapacityPoint, Fit
from georecall.statistics.quantities import Quantity
from georecall.sweeps import Measured
from georecall.training.capacity import CapacityCell, CapacityResult

WORLDS: dict[Preset, tuple[tuple[int, int], ...]] = {
    "quick": tuple((n, r) for n in (32, 64, 128) for r in (2, 4)),
    "standard": (*((n, r) for n in (64, 256) for r in (2, 4, 8)), (1024, 2), (1024, 4)),
    "paper": tuple((n, r) for n in (256, 1024, 4096) for r in (2, 4, 8, 16)),
}
BUDGET: dict[Preset, tuple[int, int]] = {"quick": (500, 2000), "standard": (500, 4000), "paper": (1000, 4000)}
"""Passes over the questions, and steps at least."""
PROPORTIONAL_WIDTH = "4d"
LOGARITHMIC, POWER = "c·R·log2 N", "c·R^β·N^α"
"""The laws that are stated, by their names in `scaling.laws.LAWS`."""

Results = Sequence[Measured[CapacityCell, CapacityResult]]


def trained_cells(preset: Preset) -> list[CapacityCell]:
    """The grid with everything trained, at a width of 4d."""
    return [capacity_cell(preset, n, r) for n, r in WORLDS[preset]]


def capacity_cell(
    preset: Preset, n_subjects: int, n_relations: int, *, width: str = PROPORTIONAL_WIDTH
) -> CapacityCell:
    """A world searched with the budget of a preset."""
    passes, least_steps = BUDGET[preset]
    return CapacityCell(
        n_subjects=n_subjects, n_relations=n_relations, width=width, passes=passes, least_steps=least_steps
    )


def of_law(fits: Sequence[Fit], law: str) -> Fit | None:
    """The fit of this law; None if there are too few worlds for it."""
    return next((fit for fit in fits if fit.law == law), None)


def coefficient(fit: Fit | None, name: str, law: str) -> Quantity:
    """A coefficient of a law with its interval; none if there are too few worlds."""
    value = None if fit is None else fit.coefficients[name]
    interval = None if fit is None or fit.intervals is None else fit.intervals[name]
    return Quantity(name=f"{name} of d* = {law}", value=value, interval=interval, form=".2f")


def stated(fit: Fit | None, law: str) -> tuple[Quantity, ...]:
    """A law with its coefficients, and its error on an N left out."""
    if fit is None:
        return (Quantity(name=f"d* = {law}, in too few worlds", value=None),)
    error = Quantity(name=f"error of d* = {law} on an N left out", value=fit.held_out_error, form=".0%")
    return (*(coefficient(fit, name, law) for name in fit.coefficients), error)


def bits(points: Sequence[CapacityPoint]) -> Quantity:
    """The least and the most bits a trained parameter."""
    values = [point.bits_per_trained for point in points if point.bits_per_trained is not None]
    ends = (min(values), max(values)) if values else None
    return Quantity(name="bits a trained parameter, least and most", value=ends, form=".2f")


def figure(results: Results, stamp: str) -> ChartType:
    """d* against N for each R and against R·log2 N, beside the construction and the bounds."""
    chart = capacity_figure(
        [CapacityPoint.of(world) for world in results if world.cell.width == PROPORTIONAL_WIDTH]
    )
    chart.title.subtitle = [stamp, chart.title.subtitle]
    return chart
