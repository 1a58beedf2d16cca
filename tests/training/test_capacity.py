"""A capacity search measures each dimension once, survives interruptions, and never counts a collapse as success."""

import itertools

import numpy as np
import pytest
from pydantic import ValidationError

from georecall.progress import no_progress
from georecall.scaling.laws import CapacityPoint
from georecall.sweeps import SerialEngine, run_sweep
from georecall.training.capacity import CapacityCell, CapacityResult
from georecall.training.config import TrainConfig
from georecall.training.recall_cell import Parameters, RecallCell, RecallResult
from georecall.training.trainer import Checked

TINY = {"n_subjects": 8, "n_relations": 2, "seeds": 2, "passes": 20, "least_steps": 120, "most_dim": 12}


def tiny(**fields: object) -> CapacityCell:
    return CapacityCell(**{**TINY, **fields})


def runs(folder):
    return {path.name for path in folder.glob("RecallCell-*")}


@pytest.fixture
def measured(monkeypatch):
    """The dimensions that are trained, in order."""
    dims: list[int] = []
    measure = RecallCell.measure

    def noted(cell, progress):
        dims.append(cell.training.dim)
        return measure(cell, progress)

    monkeypatch.setattr(RecallCell, "measure", noted)
    return dims


@pytest.fixture
def planted(monkeypatch):
    """Replaces training: recall by dimension, for each seed."""

    def plant(recall):
        def measure(cell, progress):  # noqa: ARG001
            dim = cell.training.dim
            parameters = Parameters(trained=100 * dim, frozen=0)
            return RecallResult(recall=recall(dim), steps=10, questions=16, parameters=parameters)

        monkeypatch.setattr(RecallCell, "measure", measure)

    return plant


@pytest.mark.usefixtures("one_thread")
def test_a_search_leaves_its_runs_in_the_folder_and_a_second_measures_nothing_again(tmp_path, measured):
    found = tiny().run(tmp_path, no_progress)
    assert len(measured) == len(set(measured)) == len(found.tried)
    assert runs(tmp_path) == {tiny().at(dim).folder_name for dim in found.tried}
    assert tiny().run(tmp_path, no_progress) == found
    assert sorted(measured) == list(found.tried)


def test_searches_of_one_world_share_their_runs(tmp_path, measured):
    quick = {"least_steps": 20, "passes": 1, "most_dim": 3}
    first = tiny(**quick).run(tmp_path, no_progress).tried
    second = tiny(**quick, recheck=3).run(tmp_path, no_progress).tried
    assert sorted(measured) == sorted({*first, *second})


@pytest.mark.usefixtures("one_thread")
def test_the_least_dimension_recalls_the_target_the_one_below_does_not_and_the_bits_are_possible(tmp_path):
    cell = tiny()
    found = cell.run(tmp_path, no_progress)
    assert found.censored is False
    for seed, least in enumerate(found.least):
        assert found.recall[least][seed] >= cell.target
        assert least == 1 or found.recall[least - 1][seed] < cell.target
    point = CapacityPoint.of(cell.measured_in(tmp_path))
    assert 0 < point.bits_per_parameter <= point.bits_per_trained <= 32


def test_an_interrupted_search_takes_over_its_finished_runs(tmp_path, measured, monkeypatch):
    noted, calls = RecallCell.measure, itertools.count()

    def interrupted(cell, progress):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return noted(cell, progress)

    cell = tiny(n_subjects=16, most_dim=6, least_steps=20, passes=1)
    monkeypatch.setattr(RecallCell, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_sweep([cell], tmp_path, engine=SerialEngine(), progress=no_progress)
    assert not cell.is_measured(tmp_path)
    before = list(measured)
    assert len(before) == 2
    assert runs(tmp_path) == {cell.at(dim).folder_name for dim in before}
    run_sweep([cell], tmp_path, engine=SerialEngine(), progress=no_progress)
    assert measured[:2] == before
    assert sorted(measured) == sorted(set(measured)) == list(cell.result(tmp_path).tried)


@pytest.mark.parametrize(
    "changed",
    [
        {"seeds": 3},
        {"passes": 21},
        {"batch": 4},
        {"learning_rates": (0.1,)},
        {"width": "8d"},
        {"freeze": "subjects"},
        {"world_seed": 1},
        {"target": 0.9},
    ],
    ids=str,
)
def test_other_settings_are_another_cell_with_other_runs(changed):
    assert tiny(**changed).key != tiny().key
    if "passes" not in changed:
        assert tiny(**changed).at(5).key != tiny().at(5).key


def test_the_device_is_no_part_of_the_key_but_reaches_the_runs():
    assert tiny(device="cuda").key == tiny().key
    assert tiny(device="cuda").at(3).key == tiny().at(3).key
    assert tiny(device="cuda").at(3).device == "cuda"


def test_seeds_that_need_more_than_is_allowed_have_no_threshold(planted):
    planted(lambda dim: [float(dim >= 4), float(dim >= 13)])
    found = tiny().measure(no_progress)
    assert (found.least, found.censored, found.threshold) == ((4, None), True, 4)
    assert found.recall[12] == (1.0, 0.0)


def test_the_threshold_is_the_lower_median_a_seed_without_one_counting_as_above_all(planted):
    for turns, median in (((5, 3, 4), 4), ((3, 13, 5), 5), ((13, 13, 3), None), ((6, 2), 2), ((13, 2), 2)):
        planted(lambda dim, turns=turns: [float(dim >= turn) for turn in turns])
        found = tiny(seeds=len(turns)).measure(no_progress)
        assert found.threshold == median
        expected = None if median is None else Parameters(trained=100 * median, frozen=0)
        assert found.parameters == expected


def test_the_result_states_the_budget_and_what_was_taken_of_it(planted):
    planted(lambda dim: [float(dim >= 2)] * 2)
    found = tiny().measure(no_progress)
    assert found.steps == tiny().at(1).training.steps
    assert found.steps_taken == 10 * len(found.tried)
    assert found.questions == 16
    assert set(found.recall) == set(found.tried)


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"passes": 100, "batch": 16}, 120),
        ({"passes": 200, "batch": 16}, 200),
        ({"passes": 100, "batch": 4}, 400),
        ({"passes": 100, "batch": 4, "hops": 2, "attention": "learned"}, 800),
        ({"passes": 300, "batch": 1000}, 300),
    ],
    ids=str,
)
def test_the_budget_is_passes_over_all_questions_in_batches_but_a_number_of_steps_at_least(fields, steps):
    training = tiny(**fields).at(3).training
    assert training.steps == steps
    assert training.check_every == max(1, steps // 40)


@pytest.mark.parametrize(("width", "units"), [("4d", 20), ("1d", 5), ("12d", 60), ("N", 8), ("64", 64)])
def test_a_width_is_a_multiple_of_d_or_the_number_of_subjects_or_a_number(width, units):
    assert tiny(width=width).at(5).training.width == units


@pytest.mark.parametrize("width", ["", "d", "0", "0d", "-4d", "4 d", "4D", "n", "2N", "4.5d", "4d\n", "1٣"])
def test_other_widths_are_refused(width):
    with pytest.raises(ValidationError, match="expected a multiple of d such as 4d, N, or a number"):
        tiny(width=width)


def test_an_empty_range_of_dimensions_is_refused():
    with pytest.raises(ValidationError, match="least_dim must be at most most_dim = 12, got 13"):
        tiny(least_dim=13)


@pytest.mark.usefixtures("one_thread")
def test_frozen_subjects_need_more_dimensions_than_trained_ones(tmp_path):
    world = {"n_subjects": 12, "seeds": 1, "least_steps": 300}
    trained, frozen = (tiny(**world, freeze=what).run(tmp_path, no_progress) for what in ("none", "subjects"))
    assert frozen.threshold > trained.threshold
    assert frozen.parameters.frozen == 12 * frozen.threshold
    assert trained.parameters.frozen == 0


def recall_cell(**fields: object) -> RecallCell:
    training = {"dim": 3, "width": 12, "seeds": 2, "steps": 40, "check_every": 10}
    return RecallCell(n_subjects=8, n_relations=2, training=TrainConfig(**training | fields), target=0.99)


@pytest.mark.usefixtures("one_thread")
def test_a_learning_rate_that_diverges_counts_as_no_recall_and_does_not_spoil_the_other(tmp_path):
    alone = recall_cell(learning_rates=(0.03,)).run(tmp_path, no_progress)
    both = recall_cell(learning_rates=(0.03, 1e15)).run(tmp_path, no_progress)
    first = recall_cell(learning_rates=(1e15, 0.03)).run(tmp_path, no_progress)
    assert 0 < max(alone.recall) < 1
    assert both.recall == pytest.approx(alone.recall)
    assert first.recall == pytest.approx(alone.recall)


@pytest.mark.usefixtures("one_thread")
def test_a_search_in_which_every_run_diverges_is_a_failure_that_says_so(tmp_path):
    report = run_sweep([tiny(learning_rates=(1e15,))], tmp_path, engine=SerialEngine(), progress=no_progress)
    (failure,) = report.failed
    assert "every member has diverged" in failure.message


def test_a_seed_counts_with_its_best_learning_rate():
    cell = recall_cell(learning_rates=(0.01, 0.02, 0.03))
    looked = Checked(
        step=1,
        loss=[np.nan] * 6,
        recall=[0.1, 0.9, 0.0, 1.0, 0.5, 0.0],
        margin=[0.0] * 6,
        held_out_recall=None,
    )
    assert cell._by_seed(looked) == [0.5, 1.0]
    assert not cell._reached(looked)


def test_progress_names_the_world_and_the_dimension_tried(planted):
    planted(lambda dim: [float(dim >= 3)] * 2)
    heard = []
    found = tiny(hops=2, attention="learned").measure(lambda *news: heard.append(news))
    names, done, totals, *_ = zip(*(news[:3] for news in heard), strict=True)
    assert set(names) == {"N = 8, R = 2, frozen: none, k = 2 direct"}
    assert heard[0][3].startswith("d = ")
    assert done == tuple(range(len(found.tried) + 1))
    assert all(count <= total for count, total in zip(done, totals, strict=True))
    assert done[-1] == totals[-1]


def test_a_result_of_version_0_1_is_read_as_it_was_meant():
    kept = {
        "least": [3, None], "tried": [2, 3], "monotone": True, "censored": True, "threshold": 3,
        "recall": {"2": [0.5, 0.25], "3": [1.0, 0.5]}, "questions": 16, "steps": 40, "steps_taken": 80,
        "parameters": {"trained": 100, "frozen": 0},
    }  # fmt: skip
    assert CapacityResult.read(kept).to_dict() == kept
