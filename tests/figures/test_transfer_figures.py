"""Figures of transfer show every recipe and method with its controls."""

import numpy as np
import pytest

from georecall.claims.claim import Outcome
from georecall.claims.judgement import Judgement
from georecall.claims.recipes import RECIPES
from georecall.claims.transfer import C7
from georecall.figures.saving import save_figure
from georecall.figures.transfer import recipe_figure, transfer_bars, transfer_rows
from georecall.statistics.estimates import Estimate
from georecall.sweeps import Measured
from georecall.sweeps.cells import About
from georecall.transfer.freeze_and_swap import Accuracy, Transfer
from georecall.transfer.transfer_cell import TransferCell, TransferResult


def estimate(*values):
    return Estimate(np.array(values))


def swaps(relations, spread):
    return {
        method: Transfer(
            method=method,
            worlds=1,
            chance=1 / 64,
            accuracy=Accuracy.of(accuracy + np.array(spread)[:, None]),
            random=estimate(0.02),
            interference=estimate(relations * 0.2),
            **dict.fromkeys(("old", "permuted", "ranks"), estimate(0.0)),
        )
        for method, accuracy in (("ridge", 0.6), ("selector", 0.8))
    }


def result(relations, recipe, attribute_dim, spread=(0.0,)):
    sizes = {"dim": 32, "attribute_dim": attribute_dim}
    training = RECIPES[recipe](relations, preset="quick", seeds=3).model_copy(update=sizes)
    cell = TransferCell(n_subjects=64, n_relations=relations, recipe=recipe, training=training)
    found = swaps(relations, spread)
    made = TransferResult(recall=(1.0,), choosing=found, transfer=found, untrained=found)
    return Measured(cell=cell, result=made, about=About(seconds=1.0))


WIDE = (-0.2, 0.0, 0.2)
"""Three members whose interval reaches beyond 0 and 1."""
RESULTS = [
    result(relations, recipe, dim, WIDE)
    for relations in (2, 4)
    for recipe, dim in (("plain", None), ("coded", 8))
]


def data(figure):
    spec = figure.to_dict()
    return max(spec["datasets"].values(), key=len)


def test_a_row_has_what_was_measured_and_an_interval_within_0_and_1():
    plain, selector, coded = transfer_rows(RESULTS[:2])[:3]
    assert (plain["attribute_dim"], coded["attribute_dim"]) == (32, 8)
    assert (plain["method"], selector["method"]) == ("ridge", "selector")
    low, _ = estimate(0.4, 0.6, 0.8).interval
    assert (plain["accuracy"], plain["low"], plain["high"]) == (
        pytest.approx(0.6),
        pytest.approx(float(low)),
        1.0,
    )
    assert (plain["random"], plain["chance"], plain["interference"]) == (0.02, 1 / 64, 0.4)


def test_without_an_interval_both_ends_are_the_mean():
    (row, _) = transfer_rows([result(2, "plain", None)])
    assert row["low"] == row["high"] == row["accuracy"]


def test_bars_show_every_recipe_and_method_for_every_relation_count_and_the_controls():
    figure = transfer_bars(transfer_rows(RESULTS), subtitle="C7")
    drawn = {(row["n_relations"], row["series"]) for row in data(figure)}
    names = ["coded, ridge", "coded, selector", "plain, ridge", "plain, selector"]
    assert drawn == {(relations, name) for relations in (2, 4) for name in names}
    bars, intervals, random, chance = figure.to_dict()["layer"]
    assert bars["encoding"]["y"]["scale"] == {"domain": [0, 1]}
    assert [intervals["encoding"][end]["field"] for end in ("y", "y2")] == ["low", "high"]
    assert random["encoding"]["y"]["field"] == "random"
    assert chance["encoding"]["y"]["field"] == "chance"
    colours = bars["encoding"]["color"]["scale"]
    assert colours["domain"] == names
    assert len(set(colours["range"])) == len(names)


def test_recipes_are_drawn_against_attribute_dimension_by_relation_count_and_against_interference():
    figure = recipe_figure(transfer_rows(RESULTS))
    assert len(data(figure)) == 8
    left, right = figure.to_dict()["hconcat"]
    line, dots = left["layer"][0]["encoding"], right["layer"][-1]["encoding"]
    assert (line["x"]["field"], line["color"]["field"]) == ("attribute_dim", "relations")
    assert dots["x"]["field"] == "interference"
    assert line["color"]["scale"]["domain"] == ["R = 2", "R = 4"]


@pytest.mark.parametrize("draw", [recipe_figure, lambda rows: transfer_bars(rows, subtitle="C7")])
def test_they_can_be_saved_with_every_mark_in_place(tmp_path, draw):
    path = tmp_path / "figure.svg"
    save_figure(draw(transfer_rows(RESULTS)), path)
    text = path.read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "accuracy: 0.600" in text.replace("&#58;", ":")


def test_c7_is_drawn_with_its_verdict():
    said = Judgement.saying("holds", "")
    outcome = Outcome(claim=C7, preset="quick", judgement=said, results=tuple(RESULTS))
    assert "C7, quick: holds" in str(outcome.figure.to_dict()["title"])
