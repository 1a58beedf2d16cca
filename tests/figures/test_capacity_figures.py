"""The figure and the table of a capacity sweep: every seed is there, censored or not, beside the references."""

import math

import numpy as np
import polars as pl
import pytest

from georecall.facts.worlds import random_bijections
from georecall.figures.capacity import capacity_figure, dimension_of_bits
from georecall.figures.saving import save_figure
from georecall.report.capacity_tables import tried, write_tried
from georecall.scaling.laws import CapacityPoint
from georecall.sweeps import Measured
from georecall.sweeps.cells import About
from georecall.theory.bounds import one_hop_bits
from georecall.theory.sizes import one_hop_size
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.runs import parameter_counts
from georecall.training.trainer import fresh_model


def point(n, r, least, *, freeze="none", threshold=None) -> CapacityPoint:
    return CapacityPoint(
        n_subjects=n,
        n_relations=r,
        freeze=freeze,
        least=least,
        threshold=threshold,
        trained=None if threshold is None else 100,
        frozen=None if threshold is None else 0,
    )


POINTS = [
    point(64, 2, (4, 5, 4), threshold=4),
    point(256, 2, (5, None, 6), threshold=6),
    point(64, 4, (8, 8, 9), threshold=8),
    point(64, 2, (6, 7, 7), freeze="subjects", threshold=7),
    point(256, 2, (None, None, 12), freeze="subjects"),
    point(64, 4, (None, None, None), freeze="inputs+unembedding"),
]


def layers(points, panel):
    """The rows of every layer of a panel; data that all layers share belong to the panel."""
    spec = capacity_figure(points).to_dict()
    shown = spec["hconcat"][panel]
    data = [layer.get("data", shown.get("data")) for layer in shown["layer"]]
    return [spec["datasets"][part["name"]] if "name" in part else part["values"] for part in data]


def shown(rows):
    return [(row["N"], row["series"], row["d"]) for row in rows]


def test_there_is_a_panel_for_each_r_and_one_for_all_worlds():
    panels = capacity_figure(POINTS).to_dict()["hconcat"]
    assert [panel["title"]["text"] for panel in panels] == ["R = 2", "R = 4", "All worlds"]


def test_every_seed_with_a_threshold_is_a_dot_and_lines_go_through_the_medians_that_are_known():
    _, medians, dots = layers(POINTS, 0)
    assert shown(dots) == [
        *((64, "trained", d) for d in (4, 5, 4)),
        *((256, "trained", d) for d in (5, 6)),
        *((64, "subjects frozen", d) for d in (6, 7, 7)),
        (256, "subjects frozen", 12),
    ]
    assert shown(medians) == [(64, "trained", 4), (256, "trained", 6), (64, "subjects frozen", 7)]
    (all_worlds,) = layers(POINTS, 2)
    assert len(all_worlds) == 12
    assert all(row["bits"] == row["R"] * math.log2(row["N"]) for row in all_worlds)


def test_the_references_are_those_of_each_world():
    references, *_ = layers(POINTS, 0)
    found = {(row["N"], row["series"]): row["d"] for row in references}
    assert len(found) == 2 * 3
    assert found[256, "one-hop construction, R·p"] == one_hop_size(256, 2).dimension
    assert found[64, "2 bits a parameter"] > found[64, "lower bound, 32 bits"] == 1


@pytest.mark.parametrize(("n", "r", "dim"), [(64, 2, 4), (100, 8, 11)])
def test_the_dimension_of_bits_counts_the_parameters_of_the_model_that_is_trained(n, r, dim):
    table = random_bijections(n, r, rng=np.random.default_rng(0))
    config = CapacityCell(n_subjects=n, n_relations=r, seeds=1).at(dim).training
    parameters = parameter_counts(fresh_model(table, config))["trained"]
    assert dimension_of_bits(n, r, one_hop_bits(n, r) / parameters) == pytest.approx(dim)


def test_the_subtitle_counts_censored_worlds():
    subtitle = capacity_figure(POINTS).to_dict()["title"]["subtitle"]
    assert (
        subtitle
        == "A dot for each of 3 seeds, lines through their medians; 3 worlds had seeds without a threshold"
    )
    assert "without" not in capacity_figure(POINTS[:1]).to_dict()["title"]["subtitle"]


@pytest.mark.parametrize(
    "points", [POINTS, POINTS[:1], POINTS[-1:], [point(1, 2, (1,), threshold=1)]], ids=len
)
def test_it_can_be_drawn(tmp_path, points):
    save_figure(capacity_figure(points), tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "x.png").stat().st_size > 5000


def result(cell, recall, least):
    found = CapacityResult(
        least=least, tried=tuple(recall), monotone=True, threshold=None, recall=recall, questions=16, steps=100,
        steps_taken=100, parameters=None,
    )  # fmt: skip
    return Measured(cell=cell, result=found, about=About(seconds=1.0))


CELL = CapacityCell(n_subjects=8, n_relations=2, seeds=2)
RESULTS = [
    result(CELL, {1: (0.1, 0.2), 2: (1.0, 0.5)}, (2, None)),
    result(CELL.model_copy(update={"freeze": "subjects"}), {3: (0.3, 0.4)}, (None, None)),
]


def test_the_table_has_a_row_for_each_world_dimension_and_seed(tmp_path):
    write_tried(RESULTS, tmp_path / "x.parquet")
    table = pl.read_parquet(tmp_path / "x.parquet")
    rows = table.select("freeze", "dim", "seed", "recall", "least_of_seed").rows()
    assert rows == [
        ("none", 1, 0, 0.1, 2),
        ("none", 1, 1, 0.2, None),
        ("none", 2, 0, 1.0, 2),
        ("none", 2, 1, 0.5, None),
        ("subjects", 3, 0, 0.3, None),
        ("subjects", 3, 1, 0.4, None),
    ]
    assert table["learning_rates"].to_list() == [[0.03, 0.1]] * 6
    assert table["steps"].to_list() == [100] * 6


def test_columns_have_the_same_types_where_nothing_is_known():
    assert tried(RESULTS[1:]).schema == tried(RESULTS).schema
    assert tried(RESULTS)["threshold"].dtype == pl.Int64
