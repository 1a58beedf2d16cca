"""Figures of a probe draw its numbers, every source in its colour, and leave out what was not measured."""

from functools import cache

import numpy as np
import pytest

from georecall.facts.table import FactTable
from georecall.figures.probing import (
    COLOURS,
    TITLES,
    heat_figure,
    layers_figure,
    probing_figures,
    subspaces_figure,
    superposed_states_figure,
    swaps_figure,
)
from georecall.figures.saving import save_figure
from georecall.probing import HiddenStates, ProbeSettings, Templates, analyse
from georecall.probing.causal import SwapEffect
from georecall.probing.probe import ProbeSummary
from georecall.statistics.intervals import Interval

LAYERS, SUBJECTS, DIM = (0, 2, 5), 30, 6
NAMES = ("[bold]x[/bold]", "new\nline", "a.b")


@cache
def _measured(names, random):
    facts = [(f"s{row}", name, f"{name} {row % (place + 2)}") for row in range(SUBJECTS)
             for place, name in enumerate(names)]  # fmt: skip
    table = FactTable.from_facts(facts)
    rng = np.random.default_rng(0)
    states = rng.normal(size=(2, len(LAYERS), SUBJECTS, DIM)).astype(np.float32)
    hidden = HiddenStates(
        layers=LAYERS,
        states=states[0],
        random_states=states[1] if random else None,
        vectors=rng.normal(size=(len(table.attributes), DIM)),
    )
    effects = {
        name: SwapEffect(
            relation=name,
            layer=2,
            towards=rng.normal(size=8),
            towards_at_random=rng.normal(size=8),
            others={other: rng.normal(size=8) for other in names if other != name},
            others_at_random={},
        ).summary
        for name in names
    }
    return ProbeSummary(
        model="a model",
        digest="",
        subjects=SUBJECTS,
        facts=table.n_facts,
        templates=Templates(),
        settings=ProbeSettings(),
        knowledge={},
        findings=analyse(hidden, table, shuffles=1),
        linear_relations={},
        swaps=effects,
    )


def found(names=NAMES, *, random=True):
    """What `georecall probe` would find in noise."""
    return _measured(names, random)


def rows(chart):
    """All data of a figure."""
    spec = chart.to_dict()
    values = [row for data in spec.get("datasets", {}).values() for row in data]

    def inside(part):
        values.extend(part.get("data", {}).get("values", []))
        for kind in ("layer", "concat", "hconcat", "vconcat"):
            for child in part.get(kind, []):
                inside(child)

    inside(spec)
    return values


def test_every_point_of_every_source_is_drawn_with_its_interval():
    findings = found().findings
    drawn = rows(layers_figure(findings))
    for point in findings.curves:
        layers = [point.layer] if point.layer is not None else [LAYERS[0], LAYERS[-1]]
        for layer in layers:
            assert point.to_dict() | {"layer": layer} in drawn


def test_there_is_a_panel_for_each_relation_in_order_with_its_score():
    panels = layers_figure(found().findings).to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == list(NAMES)
    kinds = {point.relation: point.kind for point in found().findings.curves}
    for panel in panels:
        score = {"classes": "accuracy", "vectors": "mean reciprocal rank"}[kinds[panel["title"]["text"]]]
        assert panel["layer"][0]["encoding"]["y"]["title"] == score
        assert panel["layer"][0]["encoding"]["y"]["scale"] == {"domain": [0, 1]}


def test_every_source_has_a_colour_of_its_own():
    sources = {point.source for point in found().findings.curves}
    assert sources == set(COLOURS)
    assert len(set(COLOURS.values())) == len(COLOURS)


def test_the_heat_map_has_the_scores_of_the_hidden_states_alone():
    findings = found().findings
    drawn = {(row["relation"], row["layer"]): row["score"] for row in rows(heat_figure(findings))}
    assert drawn == {
        (point.relation, point.layer): point.value
        for point in findings.curves
        if point.source == "hidden states"
    }
    assert len(drawn) == len(NAMES) * len(LAYERS)


def test_the_joint_fit_is_drawn_by_layer_beside_its_controls():
    joint = found().findings.joint
    drawn = rows(superposed_states_figure(joint))
    for source, field in (
        ("all relations", "joint"),
        ("random weights", "random"),
        ("shuffled facts", "shuffled"),
    ):
        for layer, interval in zip(LAYERS, getattr(joint, field).by_layer, strict=True):
            assert {"layer": layer, "source": source} | interval.to_dict() in drawn


def test_what_a_relation_explains_alone_stands_beside_what_is_lost_without_it():
    joint = found().findings.joint
    drawn = rows(superposed_states_figure(joint))
    for what, field in (("alone", "alone"), ("lost without it", "unique")):
        for name in NAMES:
            assert {"relation": name, "what": what} | getattr(joint, field)[name].chosen.to_dict() in drawn


def test_without_an_untrained_control_there_is_no_line_for_it():
    joint = found(random=False).findings.joint
    sources = {row["source"] for row in rows(superposed_states_figure(joint)) if "source" in row}
    assert sources == {"all relations", "shuffled facts"}


def test_subspaces_are_those_of_the_layer_chosen_most_often():
    joint = found().findings.joint.model_copy(update={"chosen_layers": (5, 2, 2, 5, 2)})
    panels = subspaces_figure(joint).to_dict()["hconcat"]
    assert [panel["title"]["text"] for panel in panels] == [
        "Layer 2", "Facts shuffled", "Random subspaces of the same ranks",
    ]  # fmt: skip
    drawn = rows(subspaces_figure(joint))
    for overlaps in (
        joint.subspaces[1].overlaps, joint.shuffled_subspaces[1].overlaps, joint.subspaces[1].chance_overlaps,
    ):  # fmt: skip
        for i, row in enumerate(NAMES):
            for j, column in enumerate(NAMES):
                cell = {"row": row, "column": column, "overlap": float(overlaps.mean[i, j])}
                assert (cell in drawn) == (i != j)


def test_swaps_draw_three_means_of_each_relation():
    swaps = found().swaps
    drawn = {(row["relation"], row["what"]): row["value"] for row in rows(swaps_figure(swaps))}
    assert drawn == {
        (name, what): getattr(swaps[name], field).value
        for name in NAMES
        for what, field in (
            ("towards the new attribute", "towards"),
            ("the same norm in a random direction", "towards_at_random"),
            ("right answers of other relations", "others_mean"),
        )
    }


def test_other_relations_that_nobody_was_asked_are_not_drawn():
    swaps = found(("only",)).swaps
    assert swaps["only"].others_mean is None
    assert len({row["what"] for row in rows(swaps_figure(swaps))}) == 2


def test_every_figure_has_its_title_and_what_was_not_measured_has_none():
    figures = probing_figures(found(), subtitle="30 subjects")
    assert figures.keys() == TITLES.keys()
    for name, figure in figures.items():
        assert figure.to_dict()["title"] == {"text": TITLES[name], "subtitle": "30 subjects"}
    findings = found().findings.model_copy(update={"joint": None})
    few = found().model_copy(update={"findings": findings, "swaps": {}})
    assert probing_figures(few, subtitle="").keys() == {"layers", "heat"}


@pytest.mark.parametrize("names", [NAMES, ("only",)], ids=["names like mark-up", "one relation"])
def test_figures_of_any_names_can_be_drawn(names, tmp_path):
    for name, figure in probing_figures(found(names), subtitle="x").items():
        save_figure(figure, tmp_path / f"{name}.svg")
        text = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert TITLES[name] in text
        assert "NaN" not in text


def test_a_layer_at_which_all_states_are_one_is_drawn_without_a_number(tmp_path):
    joint = found().findings.joint
    nothing = Interval(value=np.nan, low=np.nan, high=np.nan)
    explained = joint.joint.model_copy(update={"by_layer": (nothing, *joint.joint.by_layer[1:])})
    joint = joint.model_copy(update={"joint": explained})
    save_figure(superposed_states_figure(joint), tmp_path / "x.svg")
    assert "NaN" not in (tmp_path / "x.svg").read_text(encoding="utf-8")
