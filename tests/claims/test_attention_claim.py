"""C9 compares uniform and learned attention by their least dimensions, and by new facts swapped in."""

import numpy as np
import pytest
from planted import measured, outcome, planted

from georecall.claims.attention import C9
from georecall.claims.claim import PRESETS
from georecall.claims.transfer import C7
from georecall.statistics.estimates import Estimate
from georecall.transfer.freeze_and_swap import Accuracy, Transfer
from georecall.transfer.transfer_cell import TransferResult


def transfer(accuracy, random=0.004):
    few, ranks = Estimate(np.full(3, random)), Estimate(np.ones((3, 4)))
    found = Transfer(
        method="ridge",
        worlds=1,
        chance=0.004,
        accuracy=Accuracy.of(np.full((3, 1), accuracy)),
        **dict.fromkeys(("old", "random", "permuted", "interference"), few),
        ranks=ranks,
    )
    parts = {part: {"ridge": found} for part in ("choosing", "transfer", "untrained")}
    return TransferResult(recall=(1.0,), **parts)


def results(uniform, learned, accuracies=(1.0, 1.0)):
    searches, swaps = C9.cells("quick")[:2], C9.cells("quick")[2:]
    found = planted(searches, lambda cell: uniform if cell.attention == "uniform" else learned)
    return found + [measured(cell, transfer(a)) for cell, a in zip(swaps, accuracies, strict=True)]


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
    judgement = C9.judge(results((5, 6, 7), (6, None, 7)))
    thresholds, _, learned = judgement.findings
    assert [quantity.words for quantity in thresholds.quantities] == [
        "d* by seed with uniform attention 5, 6, 7",
        "d* by seed with learned attention 6, none, 7",
    ]
    assert learned.world.startswith("coded, N = 256, R = 4")
    assert "learned attention" in learned.world


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
    outcome(C9, results((5, 6, 7), learned)).figure.save(path)
    assert path.stat().st_size > 5000
