"""C8 is judged from the least dimensions for one and for three hops, at once and with a chain of thought."""

import pytest
from planted import outcome, planted

from georecall.claims.claim import PRESETS
from georecall.claims.hops import C8, HOPS, thresholds


def results(one, direct, cot, preset="quick"):
    """From the thresholds for one hop, and for two and three in both modes."""
    found = {(1, "direct"): one}
    for mode, values in (("direct", direct), ("cot", cot)):
        found |= {(hops, mode): value for hops, value in zip(HOPS[1:], values, strict=True)}
    return planted(C8.cells(preset), lambda cell: (found[cell.hops, cell.mode],) * 3)


JUDGED = {
    "R² times at once, flat with a chain": ((4, (12, 36), (4, 6)), "holds"),
    "just R²/2 times at once": ((4, (6, 18), (5, 5)), "holds"),
    "not learned at once": ((4, (8, None), (4, 5)), "holds"),
    "not learned at once, though many dimensions for one hop": ((40, (45, None), (40, 40)), "holds"),
    "less than R²/2 times at once, but more than with a chain": ((4, (6, 17), (4, 4)), "undecided"),
    "no more at once than with a chain": ((4, (4, 7), (5, 7)), "fails"),
    "a chain that grows, though less": ((4, (12, 36), (6, 7)), "undecided"),
    "a chain that is not learned": ((4, (12, 36), (6, None)), "fails"),
    "neither is learned": ((40, (48, None), (48, None)), "undecided"),
    "one hop is not learned": ((None, (8, 16), (4, 4)), "undecided"),
}


@pytest.mark.parametrize(("least", "verdict"), JUDGED.values(), ids=JUDGED)
def test_the_criterion_decides(least, verdict):
    assert C8.judge(results(*least)).verdict == verdict


def test_what_was_measured_is_stated():
    measured = C8.judge(results(4, (8, 16), (4, 6))).measured
    assert measured == (
        "[N = 16, R = 3, d up to 48] d* for k = 1, 2, 3 at once 4, 8, 16; k = 3 over k = 1 at once 4.0; "
        "d* for k = 1, 2, 3 by chain of thought 4, 4, 6; k = 3 over k = 1 by chain of thought 1.5; R^2 9"
    )


def test_what_was_not_learned_is_stated_as_more_than_what_was_tried():
    measured = C8.judge(results(4, (8, None), (4, 5))).measured
    assert "at once 4, 8, none; k = 3 over k = 1 at once, more than 12.0" in measured


def test_one_hop_is_the_same_in_both_modes():
    found = results(4, (8, 16), (5, 6))
    assert thresholds(found, "direct") == {1: 4, 2: 8, 3: 16}
    assert thresholds(found, "cot") == {1: 4, 2: 5, 3: 6}


@pytest.mark.parametrize("preset", PRESETS)
def test_cells_are_distinct_and_can_be_trained(preset):
    cells = C8.cells(preset)
    assert len({cell.key for cell in cells}) == len(cells) == 2 * len(HOPS) - 1
    assert all(cell.at(cell.most_dim).training.steps > 0 for cell in cells)


@pytest.mark.parametrize("least", [(4, (8, 16), (4, 6)), (4, (8, None), (4, None)), (None, (8, 9), (4, 4))])
def test_the_figure_is_drawn_with_and_without_what_was_not_learned(tmp_path, least):
    path = tmp_path / "x.png"
    outcome(C8, results(*least)).figure.save(path)
    assert path.stat().st_size > 5000
