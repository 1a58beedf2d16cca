"""Planted laws come back with their coefficients; too little data gives defined answers."""

import math
from functools import cache

import numpy as np
import pytest

from georecall.scaling import laws as scaling
from georecall.scaling.laws import CapacityPoint, fit_laws, logarithmic_share, threshold_ratio
from georecall.sweeps import Measured
from georecall.sweeps.cells import About
from georecall.theory.bounds import one_hop_bits
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.recall_cell import Parameters

SIZES, RELATIONS = (32, 128, 512, 2048), (2, 4, 8)
LOG, POWER, FREE_POWER, AFFINE = "c·R·log2 N", "c·R·N^α", "c·R^β·N^α", "a + c·R·N"


def point(n=64, r=2, least=(5, 5, 6), *, freeze="none", trained=1000, frozen=0) -> CapacityPoint:
    known = None not in least
    return CapacityPoint(
        n_subjects=n,
        n_relations=r,
        freeze=freeze,
        least=tuple(least),
        threshold=sorted(least)[len(least) // 2] if known else None,
        trained=trained if known else None,
        frozen=frozen if known else None,
    )


def planted(law, *, sizes=SIZES, relations=RELATIONS, seeds=3, spread=1.0) -> list[CapacityPoint]:
    """Thresholds at the whole number nearest to a law, each seed with a deviation of its own."""
    rng = np.random.default_rng(0)
    return [
        point(n, r, [max(1, round(law(n, r) + x)) for x in rng.uniform(-spread, spread, seeds)])
        for n in sizes
        for r in relations
    ]


def logarithmic(n, r):
    return 0.8 * r * math.log2(n)


def power(n, r):
    return 0.5 * r * n**0.4


@pytest.fixture
def few_draws(monkeypatch):
    """Where intervals do not matter."""
    monkeypatch.setattr(scaling, "RESAMPLES", 10)
    monkeypatch.setattr(scaling, "COMPARISONS", 10)


@cache
def fitted(law):
    return {fit.law: fit for fit in fit_laws(planted(law))}


def test_a_planted_logarithmic_law_is_best_and_gives_back_its_coefficient():
    fits = fitted(logarithmic)
    assert "log2" in next(iter(fits))
    low, high = fits[LOG].intervals["c"]
    assert low <= 0.8 <= high
    assert high - low < 0.1
    assert low <= fits[LOG].coefficients["c"] <= high
    assert fits[LOG].held_out_error < fits[POWER].held_out_error
    assert fits[LOG].points == len(SIZES) * len(RELATIONS)


def test_a_planted_power_law_is_best_and_gives_back_its_exponent():
    fits = fitted(power)
    assert next(iter(fits)) in {POWER, FREE_POWER}
    low, high = fits[POWER].intervals["α"]
    assert low <= 0.4 <= high
    assert high - low < 0.05
    assert fits[FREE_POWER].coefficients["β"] == pytest.approx(1, abs=0.05)


@pytest.mark.usefixtures("few_draws")
def test_a_planted_affine_law_is_best():
    assert next(iter({fit.law: fit for fit in fit_laws(planted(lambda n, r: 3 + 0.01 * r * n))})) == AFFINE


def test_laws_are_in_the_order_of_their_held_out_errors():
    errors = [fit.held_out_error for fit in fitted(power).values()]
    assert errors == sorted(errors)
    assert len(errors) == 5


@pytest.mark.usefixtures("few_draws")
def test_the_share_of_redraws_tells_planted_laws_apart():
    assert logarithmic_share(planted(logarithmic)) > 0.95
    assert logarithmic_share(planted(power)) < 0.05


@pytest.mark.usefixtures("few_draws")
def test_draws_depend_on_the_seed_only():
    points = planted(power, sizes=SIZES[:3], relations=(2, 4))
    assert fit_laws(points, seed=1) == fit_laws(points, seed=1)
    assert fit_laws(points, seed=1)[0].intervals != fit_laws(points, seed=2)[0].intervals
    assert fit_laws(points, seed=1)[0].coefficients == fit_laws(points, seed=2)[0].coefficients


@pytest.mark.usefixtures("few_draws")
def test_censored_points_are_left_out():
    whole = planted(logarithmic, sizes=SIZES[:3])
    censored = [point(4096, 8, (20, None, 30)), point(8192, 8, (None, None, None))]
    assert fit_laws([*whole, *censored]) == fit_laws(whole)
    assert logarithmic_share([*whole, *censored]) == logarithmic_share(whole)


@pytest.mark.parametrize(("count", "laws"), [(0, set()), (1, set()), (2, {LOG})])
@pytest.mark.usefixtures("few_draws")
def test_a_law_needs_more_points_than_coefficients(count, laws):
    points = planted(logarithmic, sizes=SIZES[:2], relations=(2,))[:count]
    fits = fit_laws(points)
    assert {fit.law for fit in fits} == laws
    assert all(fit.held_out_error is None for fit in fits)
    assert logarithmic_share(points) is None


@pytest.mark.usefixtures("few_draws")
def test_without_different_sizes_there_is_no_exponent():
    one_size = {fit.law for fit in fit_laws(planted(logarithmic, sizes=(64,), relations=(1, 2, 3, 4, 5)))}
    assert one_size == {LOG, "a + c·R·log2 N", AFFINE}
    one_relation = {fit.law for fit in fit_laws(planted(logarithmic, relations=(2,)))}
    assert one_relation == {LOG, "a + c·R·log2 N", POWER, AFFINE}


@pytest.mark.usefixtures("few_draws")
def test_with_two_sizes_nothing_is_held_out_and_the_laws_are_in_the_order_of_their_errors():
    points = planted(power, sizes=(32, 2048))
    fits = fit_laws(points)
    assert [fit.held_out_error for fit in fits] == [None] * 5
    assert [fit.error for fit in fits] == sorted(fit.error for fit in fits)
    assert logarithmic_share(points) is None


@pytest.mark.usefixtures("few_draws")
def test_one_seed_has_no_interval():
    fits = fit_laws(planted(logarithmic, sizes=SIZES[:3], seeds=1))
    assert [fit.intervals for fit in fits] == [None] * len(fits)
    assert fits[0].held_out_error < 0.1


@pytest.mark.usefixtures("few_draws")
def test_one_subject_is_no_obstacle():
    fits = fit_laws([point(1, r, (1, 1)) for r in (1, 2, 3)] + planted(logarithmic, sizes=(32,), seeds=2))
    assert all(math.isfinite(fit.error) for fit in fits)


def test_the_ratio_of_two_thresholds_lies_in_its_interval():
    ratio = threshold_ratio(point(least=(20, 22, 21)), point(least=(10, 11, 9)))
    assert ratio.value == pytest.approx(2.1)
    assert 1.7 < ratio.low < ratio.value < ratio.high < 2.6


def test_thresholds_that_are_the_same_have_a_ratio_that_may_be_on_either_side_of_one():
    ratio = threshold_ratio(point(least=(7,)), point(least=(7,)))
    assert ratio.value == 1
    assert ratio.low < 1 < ratio.high


def test_a_censored_point_has_no_ratio():
    assert threshold_ratio(point(least=(None, 5)), point()) is None
    assert threshold_ratio(point(), point(least=(None, None))) is None


def test_bits_a_parameter_by_hand():
    bits = 2 * math.log2(24)  # two bijections of four subjects
    found = point(4, 2, (3, 3, 3), freeze="subjects", trained=60, frozen=12)
    assert found.bits_per_trained == pytest.approx(bits / 60)
    assert found.bits_per_parameter == pytest.approx(bits / 72)
    assert one_hop_bits(4, 2) == pytest.approx(bits)


def test_a_point_is_read_from_a_config_and_a_result():
    cell = CapacityCell(n_subjects=64, n_relations=2, freeze="subjects")
    result = CapacityResult(
        least=(5, None, 7), tried=(5, 7), monotone=True, threshold=7, recall={}, questions=128, steps=1, steps_taken=1,
        parameters=Parameters(trained=10, frozen=20),
    )  # fmt: skip
    nothing = {"least": (None,), "threshold": None, "parameters": None}

    def point(found):
        return CapacityPoint.of(Measured(cell=cell, result=found, about=About(seconds=1.0)))

    found = point(result)
    assert (found.known, found.censored, found.trained, found.frozen) == ((5, 7), True, 10, 20)
    unknown = point(result.model_copy(update=nothing))
    assert (unknown.known, unknown.bits_per_trained, unknown.bits_per_parameter) == ((), None, None)
