"""The state of a sweep is told from its files."""

import json
import threading

import pytest
from sample_cells import Failing, noted

from georecall.errors import FolderError
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, SerialEngine, run_sweep, sweep_status
from georecall.sweeps.plan import add_to_plan


def test_cells_are_counted_by_state_and_the_time_left_is_that_of_the_workers(root, logged, tmp_path):
    (tmp_path / "fault").touch()
    failing = Failing(fault=str(tmp_path / "fault"))
    run_sweep([*logged(2, 0.1), failing], root, engine=SerialEngine(), progress=no_progress)
    add_to_plan(root, logged(8, 0.1), workers=3)
    status = sweep_status(root)
    assert (status.planned, status.done, status.running, status.waiting) == (9, 2, 0, 6)
    assert [failure.summary for failure in status.failed] == ["RuntimeError: no luck with 0 …"]
    assert 0.1 <= status.mean_seconds < 0.2
    assert status.seconds_left == pytest.approx(2 * status.mean_seconds)
    assert json.loads(json.dumps(status.to_dict()))["failed"][0]["folder"] == failing.folder_name


def test_a_cell_is_running_while_it_is_measured(root, log, logged):
    cells = logged(2, 0.5)
    options = {"engine": SerialEngine(), "progress": no_progress}
    sweep = threading.Thread(target=run_sweep, args=(cells, root), kwargs=options)
    sweep.start()
    while not noted(log):
        pass
    status = sweep_status(root)
    sweep.join()
    assert (status.running, status.waiting, status.done) == (1, 1, 0)
    assert (status.mean_seconds, status.seconds_left) == (None, None)
    assert sweep_status(root).running == 0


def test_a_finished_sweep_has_no_time_left(root, logged):
    run_sweep(logged(2), root, engine=ProcessEngine(2), progress=no_progress)
    status = sweep_status(root)
    assert (status.done, status.waiting, status.seconds_left, status.workers) == (2, 0, 0, 2)


def test_looking_changes_nothing(root, logged):
    run_sweep(logged(1), root, engine=SerialEngine(), progress=no_progress)
    add_to_plan(root, logged(3), workers=1)
    before = sorted(root.rglob("*"))
    sweep_status(root)
    assert sorted(root.rglob("*")) == before


def test_a_missing_folder_and_a_file_are_refused(tmp_path):
    with pytest.raises(FolderError, match="found nothing"):
        sweep_status(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="found a file"):
        sweep_status(tmp_path / "file")


@pytest.mark.parametrize(
    "plan", [None, "{", "[]", "{}", '{"workers": 0, "cells": {}}', '{"workers": 1, "cells": []}']
)
def test_a_folder_without_the_plan_of_a_sweep_is_refused(tmp_path, plan):
    if plan is not None:
        (tmp_path / "sweep.json").write_text(plan)
    with pytest.raises(FolderError, match=r"sweep\.json"):
        sweep_status(tmp_path)


def test_a_damaged_result_is_refused(root, logged):
    run_sweep(logged(1), root, engine=SerialEngine(), progress=no_progress)
    (root / logged(1)[0].folder_name / "result.json").write_text("{}")
    with pytest.raises(FolderError, match="seconds: is missing"):
        sweep_status(root)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("result.json", {"seconds": "long"}),
        ("result.json", {"seconds": -1}),
        ("failure.json", {"seconds": None}),
        ("failure.json", {"message": ["no luck"]}),
        ("failure.json", {"more": 1}),
    ],
)
def test_a_file_of_a_cell_with_a_wrong_field_is_named_with_the_field(root, logged, tmp_path, name, changes):
    (tmp_path / "fault").touch()
    failing = Failing(fault=str(tmp_path / "fault"))
    run_sweep([*logged(1), failing], root, engine=SerialEngine(), progress=no_progress)
    (path,) = root.glob(f"*/{name}")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(
        FolderError, match=f"{name}: {next(iter(changes))}: .*delete {path.parent} to measure"
    ):
        sweep_status(root)


def test_a_plan_whose_cells_are_elsewhere_is_refused(root, logged):
    run_sweep(logged(1), root, engine=SerialEngine(), progress=no_progress)
    (root / "sweep.json").write_text('{"workers": 1, "cells": {"../../etc": {}}}')
    with pytest.raises(FolderError, match=r"sweep\.json: cells"):
        sweep_status(root)
