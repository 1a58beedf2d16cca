"""Figures of a dissection draw its numbers, by the names of relations, and leave out what was not measured."""

import numpy as np
import pytest

from georecall.claims import CLAIMS
from georecall.claims.claim import Outcome
from georecall.claims.judgement import Judgement
from georecall.claims.recipes import RECIPES
from georecall.dissection import Dissection
from georecall.dissection.ablation import Ablation
from georecall.dissection.dissection_cell import DissectionCell, DissectionResult
from georecall.dissection.readout import Readout
from georecall.dissection.relation_patching import Patching
from georecall.dissection.selectivity import Selectivity
from georecall.dissection.superposition import Superposition
from georecall.dissection.swap import SCALES, AnswerRates, Swap
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
from georecall.figures.saving import save_figure
from georecall.statistics.estimates import Estimate
from georecall.statistics.subspaces import Subspaces
from georecall.sweeps import Measured
from georecall.sweeps.cells import About

NAMES = ["wife", "place of birth"]
SIZES = {"members": 3, "training_subjects": 8, "held_out_subjects": 2, "seed": 0}


def estimate(*shape, members=3, seed=0):
    return Estimate(np.random.default_rng([seed, *shape]).random((members, *shape)))


def superposition(shares, members=3, *, regressors=1):
    nothing = estimate()
    return Superposition(
        regressors=regressors,
        training_subjects=8,
        held_out_subjects=2,
        strengths=np.ones(members),
        held_out_r2=None if regressors > 8 else estimate(members=members),
        shuffled_r2=None if regressors > 8 else estimate(members=members, seed=1),
        shares=None if regressors > 8 else shares,
        subspaces=Subspaces(**dict.fromkeys(Subspaces.model_fields, nothing)),
    )


def found(relations=2, members=3):
    def by(*axes):
        return estimate(*[relations] * len(axes), members=members, seed=sum(map(ord, "".join(axes))))

    def rates(scale):
        return AnswerRates(became=by("b", scale), kept=by("k", scale))

    return Dissection(
        **SIZES,
        superposition=superposition(by("v"), members),
        readout=Readout(
            rates=by("r"),
            shuffled=by("c"),
            wilson=np.zeros((2, members, relations)),
            chance=0.05,
            held_out_subjects=2,
        ),
        swap=Swap(
            samples=1,
            scales=SCALES,
            doses=[rates(str(place)) for place in range(len(SCALES))],
            random_direction=rates("r"),
            wrong_relation=None,
        ),
        selectivity=Selectivity.of(np.ones((members, relations, 4))),
        patching=Patching(became=by("p", "b"), kept=by("p", "k"), same_as_asking=False),
        ablation=Ablation(
            intact=by("i"),
            ablated=by("a", "o"),
            random=by("a", "r"),
            units=np.ones((members, relations), dtype=np.int64),
        ),
    )


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
        (swap_figure, "swap", lambda part: [part.swap.became, part.swap.kept]),
        (patching_figure, "patching", lambda part: [part.became, part.kept]),
        (ablation_figure, "ablation", lambda part: [part.ablated, part.random]),
    ],
)
def test_heat_maps_draw_both_matrices_by_row_and_column(draw, analysis, matrices):
    part = getattr(found(), analysis)
    panels = draw(part, NAMES).to_dict()["hconcat"]
    assert len(panels) == 2
    drawn = [(row["row"], row["column"], row["rate"]) for row in rows(draw(part, NAMES))]
    for matrix in matrices(part):
        for i, row in enumerate(NAMES):
            for j, column in enumerate(NAMES):
                assert (row, column, pytest.approx(matrix.mean[i, j])) in drawn


def test_relations_keep_the_order_of_the_table():
    (layer, *_), *_ = (panel["layer"] for panel in swap_figure(found().swap, NAMES).to_dict()["hconcat"])
    assert [layer["encoding"][axis]["sort"] for axis in "xy"] == [NAMES, NAMES]


def test_numbers_stand_in_cells_only_where_there_is_room():
    def layers(relations):
        names = [f"r{r}" for r in range(relations)]
        return len(ablation_figure(found(relations).ablation, names).to_dict()["hconcat"][0]["layer"])

    assert (layers(2), layers(40)) == (2, 1)


def test_doses_draw_means_and_intervals_over_members_of_the_mean_over_relations():
    part = found().swap
    drawn = [row for row in rows(dose_figure(part)) if row["scale"] == 1.0 and "follows" in row["what"]]
    values = part.swap.follow.values.mean(axis=1)
    low, high = Estimate(values).interval
    assert drawn[0] == {
        "scale": 1.0,
        "what": "the answer follows",
        "mean": pytest.approx(values.mean()),
        "low": pytest.approx(float(low)),
        "high": pytest.approx(float(high)),
    }


def test_with_one_relation_nothing_stays_and_nothing_breaks(tmp_path):
    figures = dissection_figures(found(1), ["wife"], subtitle="")
    assert {row["what"] for row in rows(dose_figure(found(1).swap))} == {"the answer follows"}
    save_figure(figures["doses"], tmp_path / "doses.svg")
    assert "NaN" not in (tmp_path / "doses.svg").read_text(encoding="utf-8")


def test_without_intervals_both_ends_are_the_mean():
    drawn = rows(readout_figure(found(members=2).readout, NAMES))
    assert all(row["low"] == row["mean"] == row["high"] for row in drawn if "mean" in row)


def test_the_read_out_stands_beside_its_control_and_chance():
    part = found().readout
    drawn = rows(readout_figure(part, NAMES))
    assert {"rate": 0.05} in drawn
    for kind in ("rates", "shuffled"):
        for name, mean in zip(NAMES, getattr(part, kind).mean, strict=True):
            assert any(row.get("relation") == name and row["mean"] == pytest.approx(mean) for row in drawn)


def test_shares_of_variance_carry_r2_and_its_control():
    part = found().superposition
    title = variance_figure(part, NAMES).to_dict()["title"]["text"]
    r2, control = part.held_out_r2.mean, part.shuffled_r2.mean
    assert title == f"Held-out R² {r2:.2f}, with shuffled facts {control:.2f}"


def test_units_are_sorted_by_relation_then_share_and_silent_ones_are_counted():
    shares = np.array([[0.2, 0.6, np.nan, 0.9, 0.3], [0.8, 0.4, np.nan, 0.1, 0.7]])
    chart = units_figure(shares, NAMES)
    first = [row["share"] for row in rows(chart) if row["relation"] == "wife"]
    assert first == [0.9, 0.6, 0.2, 0.3]
    assert chart.to_dict()["title"]["text"] == "4 units of one member, and 1 that are silent"


def test_every_figure_has_its_title_and_what_was_not_measured_has_none():
    figures = dissection_figures(found(), NAMES, subtitle="N = 8")
    assert figures.keys() == TITLES.keys()
    for name, figure in figures.items():
        assert figure.to_dict()["title"] == {"text": TITLES[name], "subtitle": "N = 8"}
    assert dissection_figures(Dissection(**SIZES), NAMES, subtitle="") == {}
    few = Dissection(**SIZES, superposition=superposition(None, regressors=9))
    assert dissection_figures(few, NAMES, subtitle="") == {}
    read = Dissection.read(found().to_dict())  # which does not hold the shares of the units
    assert dissection_figures(read, NAMES, subtitle="").keys() == TITLES.keys() - {"units"}


@pytest.mark.parametrize("relations", [2, 40])
def test_worlds_of_few_and_many_relations_can_be_drawn(tmp_path, relations):
    names = [f"relation {r}" for r in range(relations)]
    figure = framed(ablation_figure(found(relations).ablation, names), "A", subtitle="b")
    save_figure(figure, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "relation 1" in text
    assert "NaN" not in text


def outcome(claim, *, few=False):
    results = []
    for recipe, relations in (("coded", 2), ("coded", 3), ("plain", 2)):
        part = found(relations)
        if recipe == "plain" and few:
            part = part.model_copy(update={"superposition": superposition(None, regressors=9)})
        sizes = {"dim": 16 * relations, "attribute_dim": 8, "seeds": 3, "steps": 80}
        training = RECIPES[recipe](relations, preset="quick", seeds=3).model_copy(update=sizes)
        cell = DissectionCell(n_subjects=9, n_relations=relations, recipe=recipe, training=training)
        made = DissectionResult(recall=(1.0,) * 3, dissection=part)
        results.append(Measured(cell=cell, result=made, about=About(seconds=1.0)))
    (settled,) = (one for one in CLAIMS if one.id == claim)
    said = Judgement.saying("fails", "")
    return Outcome(claim=settled, preset="quick", judgement=said, results=tuple(results))


@pytest.mark.parametrize("claim", ["C3", "C4", "C5", "C6"])
def test_a_claim_is_drawn_for_every_world_under_its_sizes(tmp_path, claim):
    save_figure(outcome(claim).figure, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    for recipe, relations in (("coded", 2), ("coded", 3), ("plain", 2)):
        assert f"{recipe}, N = 9, R = {relations}, d = {16 * relations}, a = 8, 3 seeds, 80 steps" in text
    assert f"{claim}, quick: fails" in text
    assert "NaN" not in text


def test_worlds_with_too_few_subjects_are_not_drawn():
    text = str(outcome("C3", few=True).figure.to_dict())
    assert "coded, N = 9" in text
    assert "plain" not in text
