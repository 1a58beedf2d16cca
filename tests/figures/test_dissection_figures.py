"""Figures of a dissection draw its numbers, by the names of relations, and leave out what was not measured."""

import numpy as np
import pytest

from georecall.claims.claim import Outcome
from georecall.dissection.swap import SCALES, WHOLE
from georecall.figures.dissection import (
    TITLES,
    ablation_figure,
    dissection_figures,
    dose_figure,
    framed,
    patching_figure,
    readout_figure,
    swap_figure,
    units_figure,
    variance_figure,
)
from georecall.figures.theme import save_figure
from georecall.report.claim_figures import FIGURES
from georecall.statistics.estimates import Estimate

NAMES = ["wife", "place of birth"]


def estimate(*shape, members=3, seed=0):
    return Estimate(np.random.default_rng([seed, *shape]).random((members, *shape))).to_dict()


def found(relations=2, members=3):
    def by(*axes):
        return estimate(*[relations] * len(axes), members=members, seed=sum(map(ord, "".join(axes))))

    def outcome(scale):
        return {
            "became": by("b", scale),
            "kept": by("k", scale),
            "follow": by("f" + scale),
            "stay": by("s" + scale) if relations > 1 else None,
        }

    return {
        "superposition": {
            "note": None,
            "held_out_r2": estimate(members=members),
            "shuffled_r2": estimate(members=members, seed=1),
            "shares": by("v"),
        },
        "readout": {"rates": by("r"), "shuffled": by("c"), "chance": 0.05},
        "swap": {"scales": list(SCALES), "doses": [outcome(str(scale)) for scale in SCALES]},
        "patching": {"became": by("p", "b"), "kept": by("p", "k")},
        "ablation": {"ablated": by("a", "o"), "random": by("a", "r")},
    }


def rows(chart):
    """All data of a figure."""
    spec = chart.to_dict()
    values = [row for data in spec.get("datasets", {}).values() for row in data]

    def inside(part):
        values.extend(part.get("data", {}).get("values", []))
        for kind in ("layer", "hconcat", "vconcat"):
            for child in part.get(kind, []):
                inside(child)

    inside(spec)
    return values


@pytest.mark.parametrize(
    ("draw", "analysis", "matrices"),
    [
        (swap_figure, "swap", lambda part: [part["doses"][WHOLE][name] for name in ("became", "kept")]),
        (patching_figure, "patching", lambda part: [part["became"], part["kept"]]),
        (ablation_figure, "ablation", lambda part: [part["ablated"], part["random"]]),
    ],
)
def test_heat_maps_draw_both_matrices_by_row_and_column(draw, analysis, matrices):
    part = found()[analysis]
    panels = draw(part, NAMES).to_dict()["hconcat"]
    assert len(panels) == 2
    drawn = [(row["row"], row["column"], row["rate"]) for row in rows(draw(part, NAMES))]
    for matrix in matrices(part):
        for i, row in enumerate(NAMES):
            for j, column in enumerate(NAMES):
                assert (row, column, pytest.approx(matrix["mean"][i][j])) in drawn


def test_relations_keep_the_order_of_the_table():
    (layer, *_), *_ = (panel["layer"] for panel in swap_figure(found()["swap"], NAMES).to_dict()["hconcat"])
    assert [layer["encoding"][axis]["sort"] for axis in "xy"] == [NAMES, NAMES]


def test_numbers_stand_in_cells_only_where_there_is_room():
    def layers(relations):
        names = [f"r{r}" for r in range(relations)]
        return len(ablation_figure(found(relations)["ablation"], names).to_dict()["hconcat"][0]["layer"])

    assert (layers(2), layers(40)) == (2, 1)


def test_doses_draw_means_and_intervals_over_members_of_the_mean_over_relations():
    part = found()["swap"]
    drawn = [row for row in rows(dose_figure(part)) if row["scale"] == 1.0 and "follows" in row["what"]]
    values = np.mean(part["doses"][WHOLE]["follow"]["members"], axis=1)
    low, high = Estimate(values).interval
    assert drawn[0] == {
        "scale": 1.0,
        "what": "the answer follows",
        "mean": pytest.approx(values.mean()),
        "low": pytest.approx(float(low)),
        "high": pytest.approx(float(high)),
    }


def test_with_one_relation_nothing_stays_and_nothing_breaks(tmp_path):
    figures = dissection_figures(found(1), ["wife"], unit_shares=np.ones((1, 3)), subtitle="")
    assert {row["what"] for row in rows(dose_figure(found(1)["swap"]))} == {"the answer follows"}
    save_figure(figures["doses"], tmp_path / "doses.svg")
    assert "NaN" not in (tmp_path / "doses.svg").read_text(encoding="utf-8")


def test_without_intervals_both_ends_are_the_mean():
    drawn = rows(readout_figure(found(members=2)["readout"], NAMES))
    assert all(row["low"] == row["mean"] == row["high"] for row in drawn if "mean" in row)


def test_the_read_out_stands_beside_its_control_and_chance():
    part = found()["readout"]
    drawn = rows(readout_figure(part, NAMES))
    assert {"rate": 0.05} in drawn
    for kind in ("rates", "shuffled"):
        for name, mean in zip(NAMES, part[kind]["mean"], strict=True):
            assert any(row.get("relation") == name and row["mean"] == pytest.approx(mean) for row in drawn)


def test_shares_of_variance_carry_r2_and_its_control():
    part = found()["superposition"]
    title = variance_figure(part, NAMES).to_dict()["title"]["text"]
    r2, control = part["held_out_r2"]["mean"], part["shuffled_r2"]["mean"]
    assert title == f"Held-out R² {r2:.2f}, with shuffled facts {control:.2f}"


def test_units_are_sorted_by_relation_then_share_and_silent_ones_are_counted():
    shares = np.array([[0.2, 0.6, np.nan, 0.9, 0.3], [0.8, 0.4, np.nan, 0.1, 0.7]])
    chart = units_figure(shares, NAMES)
    first = [row["share"] for row in rows(chart) if row["relation"] == "wife"]
    assert first == [0.9, 0.6, 0.2, 0.3]
    assert chart.to_dict()["title"]["text"] == "4 units of one member, and 1 that are silent"


def test_every_figure_has_its_title_and_what_was_not_measured_has_none():
    shares = np.full((2, 4), 0.5)
    figures = dissection_figures(found(), NAMES, unit_shares=shares, subtitle="N = 8")
    assert figures.keys() == TITLES.keys()
    for name, figure in figures.items():
        assert figure.to_dict()["title"] == {"text": TITLES[name], "subtitle": "N = 8"}
    nothing = dict.fromkeys(found())
    assert dissection_figures(nothing, NAMES, unit_shares=None, subtitle="") == {}
    few = found() | {"superposition": found()["superposition"] | {"note": "too few subjects"}}
    assert "variance" not in dissection_figures(few, NAMES, unit_shares=None, subtitle="")


@pytest.mark.parametrize("relations", [2, 40])
def test_worlds_of_few_and_many_relations_can_be_drawn(tmp_path, relations):
    names = [f"relation {r}" for r in range(relations)]
    figure = framed(ablation_figure(found(relations)["ablation"], names), "A", subtitle="b")
    save_figure(figure, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "relation 1" in text
    assert "NaN" not in text


def outcome(claim, *, note=None):
    worlds = [("coded", 2), ("coded", 3), ("plain", 2)]
    results = []
    for recipe, relations in worlds:
        part = found(relations)
        if recipe == "plain":
            part["superposition"]["note"] = note
        training = {"dim": 16 * relations, "attribute_dim": 8, "seeds": 3, "steps": 80}
        results.append(
            {"recipe": recipe, "n_subjects": 9, "n_relations": relations, "training": training}
            | {"dissection": part}
        )
    return Outcome(
        id=claim, statement="", source="", verdict="fails", measured="", criterion="", preset="quick",
        seconds=0.0, results=tuple(results),
    )  # fmt: skip


@pytest.mark.parametrize("claim", ["C3", "C4", "C5", "C6"])
def test_a_claim_is_drawn_for_every_world_under_its_sizes(tmp_path, claim):
    save_figure(FIGURES[claim](outcome(claim)), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for recipe, relations in (("coded", 2), ("coded", 3), ("plain", 2)):
        assert f"{recipe}, N = 9, R = {relations}, d = {16 * relations}, a = 8, 3 seeds, 80 steps" in text
    assert f"{claim}, quick: fails" in text
    assert "NaN" not in text


def test_worlds_with_too_few_subjects_are_not_drawn():
    text = str(FIGURES["C3"](outcome("C3", note="too few")).to_dict())
    assert "coded, N = 9" in text
    assert "plain" not in text
