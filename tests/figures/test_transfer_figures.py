"""Figures of transfer show every recipe and method with its controls."""

import pytest

from georecall.claims.claim import Outcome
from georecall.figures.theme import save_figure
from georecall.figures.transfer import recipe_figure, transfer_bars, transfer_rows
from georecall.report.claim_figures import FIGURES


def estimate(mean, interval=None):
    return {"members": [mean], "mean": mean, "interval": interval}


def result(relations, recipe, attribute_dim, interval=None):
    swaps = {
        method: {
            "accuracy": estimate(accuracy, interval),
            "random": estimate(0.02),
            "interference": estimate(relations * 0.2),
            "chance": 1 / 64,
        }
        for method, accuracy in (("ridge", 0.6), ("selector", 0.8))
    }
    training = {"dim": 32, "attribute_dim": attribute_dim}
    return {
        "n_subjects": 64,
        "n_relations": relations,
        "recipe": recipe,
        "training": training,
        "transfer": swaps,
    }


RESULTS = [
    result(relations, recipe, dim, [0.5, 1.1])
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
    assert (plain["accuracy"], plain["low"], plain["high"]) == (0.6, 0.5, 1.0)
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
    outcome = Outcome(
        id="C7", statement="", source="", verdict="holds", measured="", criterion="", preset="quick", seconds=0.0,
        results=tuple(RESULTS),
    )  # fmt: skip
    assert "C7, quick: holds" in str(FIGURES["C7"](outcome).to_dict()["title"])
