"""C1 and C2 are judged as their criteria say, and never measure anything twice."""

import math

import pytest
from planted import outcome, planted

from georecall.claims import CLAIMS
from georecall.claims.claim import PRESETS
from georecall.claims.frozen_subjects import C2
from georecall.claims.trained_embeddings import C1
from georecall.scaling import laws as scaling
from georecall.training.capacity import CapacityCell


@pytest.fixture(autouse=True)
def fewer_draws(monkeypatch):
    """Enough to tell planted laws apart."""
    monkeypatch.setattr(scaling, "RESAMPLES", 50)
    monkeypatch.setattr(scaling, "COMPARISONS", 20)


def around(value):
    """Three seeds."""
    middle = max(2, round(value))
    return (middle, middle + 1, middle - 1)


def logarithmic(cell):
    return around(4 * cell.n_relations * math.log2(cell.n_subjects))


def power(cell):
    return around(0.5 * cell.n_relations * cell.n_subjects**0.5)


def frozen_needs_more(cell):
    return (
        power(cell)
        if cell.freeze == "subjects"
        else around(0.3 * cell.n_relations * math.log2(cell.n_subjects))
    )


def judged(claim, least, preset="quick"):
    return claim.judge(planted(claim.cells(preset), least))


def but(least, **where):
    """The same thresholds, but one seed has none in the worlds that have these settings."""

    def censored(cell):
        found = least(cell)
        return (None, *found[1:]) if all(getattr(cell, k) == v for k, v in where.items()) else found

    return censored


def test_c1_holds_where_the_dimension_grows_with_log_n():
    found = judged(C1, logarithmic, preset="standard")
    assert found.verdict == "holds"
    assert "worlds 8; without a threshold for every seed 0; c of d* = c·R·log2 N 4.0" in found.measured
    assert "redraws in which a law in log N is best 100%" in found.measured
    assert "d* with width 64 at N = 64, R = 4 96; d* with width 64 at N = 256, R = 4 128" in found.measured


def test_c1_fails_where_the_dimension_grows_with_a_power_of_n():
    found = judged(C1, lambda cell: around(cell.n_relations * cell.n_subjects**0.8))
    assert found.verdict == "fails"
    assert "α of d* = c·R^β·N^α 0.80" in found.measured


def test_c1_is_undecided_with_a_world_that_is_censored_and_says_so():
    found = judged(C1, but(logarithmic, n_subjects=128, n_relations=4, width="4d"))
    assert found.verdict == "undecided"
    assert "worlds 6; without a threshold for every seed 1" in found.measured


def test_c1_with_sizes_too_few_to_leave_one_out_is_undecided():
    found = judged(C1, but(logarithmic, n_subjects=64))
    assert found.verdict == "undecided"
    assert "best on an N left out" not in found.measured
    assert "d* with width 64 at N = 64, R = 4 none" in found.measured


@pytest.mark.parametrize("claim", [C1, C2], ids=lambda claim: claim.id)
def test_without_any_threshold_a_claim_is_undecided(claim):
    found = judged(claim, lambda cell: (None, None, None))  # noqa: ARG005
    assert found.verdict == "undecided"
    assert "nan" not in found.measured


def test_c2_holds_where_frozen_worlds_need_more_and_grow_faster():
    found = judged(C2, frozen_needs_more)
    assert found.verdict == "holds"
    worlds = [finding for finding in found.findings if finding.world.startswith("N = ")]
    assert [world.met for world in worlds] == [True] * 6
    assert "[trained] c of d* = c·R^β·N^α" in found.measured


@pytest.mark.parametrize(
    "least",
    [
        logarithmic,
        lambda cell: frozen_needs_more(cell) if cell.n_subjects > 32 else around(6),
    ],
    ids=["nothing is larger", "one world is not larger"],
)
def test_c2_fails_unless_every_world_needs_more(least):
    assert judged(C2, least).verdict == "fails"


def test_c2_is_undecided_where_the_growth_may_be_the_same():
    twice = judged(
        C2, lambda cell: [(1 + (cell.freeze == "subjects")) * value for value in logarithmic(cell)]
    )
    assert twice.verdict == "undecided"


def test_c2_is_undecided_with_a_world_that_is_censored():
    found = judged(C2, but(frozen_needs_more, freeze="subjects", n_subjects=128, n_relations=2))
    assert found.verdict == "undecided"
    assert "[N = 128, R = 2] frozen over trained d* none" in found.measured


def test_c1_and_c2_share_the_worlds_with_everything_trained():
    for preset in PRESETS:
        trained = {cell.key for cell in C2.cells(preset) if cell.freeze == "none"}
        assert trained == {cell.key for cell in C1.cells(preset) if cell.width == "4d"}


@pytest.mark.parametrize("preset", PRESETS)
def test_no_search_of_a_preset_would_train_what_another_trains(preset):
    cells = [cell for claim in CLAIMS for cell in claim.cells(preset) if isinstance(cell, CapacityCell)]
    searches = {cell.key: cell for cell in cells}
    assert len({cell.at(7).key for cell in searches.values()}) == len(searches)
    for claim in (C1, C2):
        keys = [cell.key for cell in claim.cells(preset)]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("censored", [False, True])
@pytest.mark.parametrize("claim", [C1, C2], ids=lambda claim: claim.id)
def test_the_figure_is_drawn_with_and_without_censored_worlds(tmp_path, claim, censored):
    least = but(frozen_needs_more, n_subjects=64) if censored else frozen_needs_more
    drawn = outcome(claim, planted(claim.cells("quick"), least)).figure
    path = tmp_path / "x.png"
    drawn.save(path)
    assert path.stat().st_size > 5000
