"""C9 compares uniform and learned attention by their least dimensions, and by new facts swapped in."""

import pytest
from planted import outcome, planted

from georecall.claims.attention import C9
from georecall.claims.claim import PRESETS
from georecall.claims.transfer import C7
from georecall.report.claim_figures import FIGURES


def transfer(accuracy, random=0.004):
    found = {
        "accuracy": {"mean": accuracy, "interval": [accuracy, accuracy]},
        "random": {"mean": random},
        "chance": 0.004,
    }
    return {part: {"ridge": found} for part in ("choosing", "transfer", "untrained")} | {"recall": [1.0]}


def results(uniform, learned, accuracies=(1.0, 1.0)):
    searches, swaps = C9.cells("quick")[:2], C9.cells("quick")[2:]
    found = planted(searches, lambda cell: uniform if cell.attention == "uniform" else learned)
    return found + [cell.config | transfer(a) for cell, a in zip(swaps, accuracies, strict=True)]


JUDGED = {
    "ranges that touch": (((5, 6, 7), (7, 8, 9)), "holds"),
    "a range within the other": (((5, 9, 7), (6, 7, 6)), "holds"),
    "learned attention needs more": (((5, 6, 7), (8, 8, 9)), "fails"),
    "uniform attention needs more": (((8, 8, 9), (5, 6, 7)), "fails"),
    "a seed without a threshold": (((5, 6, 7), (6, None, 7)), "undecided"),
    "no transfer with learned attention": (((5, 6, 7), (5, 6, 7), (1.0, 0.5)), "fails"),
    "no transfer with uniform attention": (((5, 6, 7), (5, 6, 7), (0.5, 1.0)), "fails"),
}


@pytest.mark.parametrize(("given", "verdict"), JUDGED.values(), ids=JUDGED)
def test_both_the_ranges_and_the_swaps_decide(given, verdict):
    assert C9.judge(results(*given)).verdict == verdict


def test_what_was_measured_is_stated():
    measured = C9.judge(results((5, 6, 7), (6, None, 7))).measured
    assert "d* by seed 5, 6, 7 with uniform attention, 6, none, 7 with learned attention" in measured
    assert "learned attention, coded, R = 4" in measured


@pytest.mark.parametrize("preset", PRESETS)
def test_the_cells_differ_in_attention_only_and_one_is_shared_with_c7(preset):
    uniform, learned, swapped, swapped_learned = C9.cells(preset)
    assert uniform == learned.model_copy(update={"attention": "uniform"})
    assert (learned.attention, swapped_learned.training.attention) == ("learned", "learned")
    back = swapped_learned.training.model_copy(update={"attention": "uniform"})
    assert swapped == swapped_learned.model_copy(update={"training": back})
    assert swapped.key in {cell.key for cell in C7.cells(preset)}


@pytest.mark.parametrize("learned", [(5, 6, 7), (6, None, 7)])
def test_the_figure_is_drawn(tmp_path, learned):
    path = tmp_path / "x.png"
    FIGURES["C9"](outcome(C9, results((5, 6, 7), learned))).save(path)
    assert path.stat().st_size > 5000
