"""A sweep goes on after failures, resumes after any interruption, and measures nothing twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sample_cells import Diverging, Failing, Interrupted, Logged, Sum, noted

from georecall.errors import FolderError
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, SerialEngine, SweepReport, run_sweep

SWEEPING = """
import sys
from pathlib import Path
from sample_cells import Logged
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, SerialEngine, run_sweep

root, log, count, seconds, engine = sys.argv[1:]
cells = [Logged(number=number, log=log, seconds=float(seconds)) for number in range(int(count))]
print("begins", flush=True)
engine = ProcessEngine(2) if engine == "processes" else SerialEngine()
run_sweep(cells, Path(root), engine=engine, progress=no_progress)
"""
"""A sweep in a process of its own, which can be killed."""


def sweep(cells, root, **options) -> SweepReport:
    return run_sweep(cells, root, **({"engine": SerialEngine(), "progress": no_progress} | options))


def names(cells) -> tuple[str, ...]:
    return tuple(cell.folder_name for cell in cells)


def begin(root: Path, log: Path, *, count: int, seconds: float, engine: str) -> subprocess.Popen[str]:
    """Start a sweep in a process group of its own; returns once it has imported all that it needs."""
    command = [sys.executable, "-c", SWEEPING, *map(str, (root, log, count, seconds, engine))]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    return process


def test_every_cell_is_measured_once_however_often_it_is_given(root, log, logged):
    report = sweep(logged(3) + logged(2), root)
    assert report == SweepReport(finished=names(logged(3)), cached=(), failed=())
    assert noted(log) == ["0", "1", "2"]


def test_finished_cells_are_cached(root, log, logged):
    sweep(logged(2), root)
    report = sweep(logged(4), root)
    assert (report.finished, report.cached) == (names(logged(4)[2:]), names(logged(2)))
    assert noted(log) == ["0", "1", "2", "3"]


def test_a_failure_is_recorded_with_its_traceback_and_the_rest_goes_on(root, tmp_path, logged):
    (tmp_path / "fault").touch()
    cell = Failing(fault=str(tmp_path / "fault"), number=7)
    report = sweep([cell, *logged(1)], root)
    assert report.finished == names(logged(1))
    (failure,) = report.failed
    assert failure.summary == "RuntimeError: no luck with 7 …"
    folder = root / failure.folder
    assert {path.name for path in folder.iterdir()} == {"config.json", "failure.json"}
    recorded = json.loads((folder / "failure.json").read_text())
    assert recorded.keys() == {"type", "message", "traceback", "seconds"}
    assert recorded["message"] == "no luck with 7\nsecond line"
    assert "in measure\n    raise RuntimeError" in recorded["traceback"]
    assert recorded["seconds"] >= 0
    json.dumps(report.to_dict())


def test_a_failed_cell_is_tried_again_only_when_asked_for_and_a_success_replaces_the_failure(root, tmp_path):
    fault = tmp_path / "fault"
    fault.touch()
    cell = Failing(fault=str(fault))
    sweep([cell], root)
    fault.unlink()
    assert len(sweep([cell], root).failed) == 1
    report = sweep([cell], root, retry_failed=True)
    assert (report.finished, report.failed) == (names([cell]), ())
    assert {path.name for path in (root / cell.folder_name).iterdir()} == {"config.json", "result.json"}
    assert sweep([cell], root, retry_failed=True).cached == names([cell])


def test_a_measurement_that_diverges_has_failed(root):
    (failure,) = sweep([Diverging()], root).failed
    assert failure.type == "ValueError"
    assert not Diverging().is_measured(root)


def test_cells_made_of_others_share_them(root, log):
    cells = [Sum(log=str(log), parts=(1, 2)), Sum(log=str(log), parts=(2, 3))]
    assert sweep(cells, root).finished == names(cells)
    assert noted(log) == ["1", "2", "3"]


def test_ctrl_c_keeps_what_is_finished_records_no_failure_and_leaves_nothing_half_written(root, logged):
    cells = [*logged(1), Interrupted(), *logged(3)]
    with pytest.raises(KeyboardInterrupt):
        sweep(cells, root)
    folders = {path.name for path in root.iterdir() if path.is_dir()}
    assert folders == set(names(logged(1)))
    assert sweep(logged(3), root).cached == names(logged(1))


def test_the_plan_is_written_and_grows(root, logged):
    sweep(logged(1), root)
    sweep(logged(3)[1:], root)
    plan = json.loads((root / "sweep.json").read_text())
    assert plan["cells"] == {cell.folder_name: cell.config for cell in logged(3)}
    assert plan["workers"] == 1


def test_progress_counts_the_cached_cells(root, logged):
    sweep(logged(1), root)
    heard = []
    sweep(logged(3), root, progress=lambda *news: heard.append(news), task="K9")
    assert heard == [("K9", 1, 3), ("K9", 2, 3), ("K9", 3, 3), ("K9", 3, 3)]


def test_drafts_and_locks_that_a_kill_left_are_taken_away(root, logged):
    sweep(logged(1), root)
    (done,), (waiting,) = names(logged(1)), names(logged(2)[1:])
    for name in (done, waiting):
        (root / f".{name}-k1ll3d").mkdir()
        (root / f".{name}-k1ll3d" / "config.json").write_text("{")
        (root / f".{name}.georecall.draft").mkdir()
        (root / f".{name}.georecall.lock").touch()
    (root / f".{done}.lock").touch()  # as version 0.1 named them
    (root / ".sweep.json-k1ll3d").write_text("{")
    (root / ".sweep.json.georecall.draft").write_text("{")
    (root / ".notes-of-mine").mkdir()
    sweep(logged(2), root)
    left = {path.name for path in root.iterdir()}
    assert left == {done, waiting, "sweep.json", ".notes-of-mine"}


@pytest.mark.parametrize("name", ["result.json", "sweep.json"])
def test_a_damaged_file_is_refused_before_anything_is_measured(root, log, logged, name):
    sweep(logged(1), root)
    path = root / name if name == "sweep.json" else root / logged(1)[0].folder_name / name
    path.write_text('{"half')
    with pytest.raises(FolderError, match=f"{name}: is not JSON"):
        sweep(logged(2), root)
    assert noted(log) == ["0"]


def test_a_file_is_no_folder_for_a_sweep(tmp_path, logged):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FolderError, match="expected the folder of a sweep, found a file"):
        sweep(logged(1), tmp_path / "file")


@pytest.mark.parametrize(("engine", "kills"), [("serial", 5), ("processes", 2)])
def test_killed_at_any_moment_a_sweep_is_completed_and_nothing_is_lost_or_measured_again(
    root, log, logged, engine, kills
):
    count, seconds = 24, 0.03
    cells, delays = logged(count, seconds), random.Random(0)  # noqa: S311
    finished: dict[str, int] = {}
    for _ in range(kills):
        before = len(noted(log))
        process = begin(root, log, count=count, seconds=seconds, engine=engine)
        while len(noted(log)) == before and process.poll() is None:
            time.sleep(0.005)
        time.sleep(delays.uniform(0, 0.2))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        for name, inode in finished.items():
            assert (root / name / "result.json").stat().st_ino == inode
        finished |= {
            name: (root / name / "result.json").stat().st_ino
            for name in names(cells)
            if (root / name).exists()
        }
    begun = len(noted(log))
    assert len(finished) > 0
    report = sweep(cells, root)
    assert set(report.cached) == finished.keys()
    assert set(report.finished) == set(names(cells)) - finished.keys()
    assert len(noted(log)) - begun == count - len(finished)
    assert all(cell.result(root).square == cell.number**2 for cell in cells)
    assert {path.name for path in root.iterdir() if path.is_dir()} == set(names(cells))


def test_an_interrupted_sweep_of_processes_leaves_whole_folders_and_no_failure(root, log):
    process = begin(root, log, count=200, seconds=0.02, engine="processes")
    while len(noted(log)) < 10:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert list(root.glob("*/failure.json")) == []
    assert list(root.glob(".Logged-*-*")) == []
    assert (
        len(list(root.glob("*/result.json"))) == len([path for path in root.iterdir() if path.is_dir()]) > 0
    )


def test_two_sweeps_at_once_share_the_work(root, log):
    processes = [begin(root, log, count=20, seconds=0.05, engine="serial") for _ in range(2)]
    for process in processes:
        process.communicate(timeout=20)
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(map(int, noted(log))) == list(range(20))


def test_a_cell_that_left_no_result_here_is_reported(root, logged):
    class Elsewhere(SerialEngine):
        def run(self, cells, root, **options):
            return super().run(cells, root.with_name("elsewhere"), **options)

    (failure,) = sweep(logged(1), root, engine=Elsewhere()).failed
    assert failure.type == "WorkerLost"
    assert "do all workers share that folder?" in failure.message


def test_processes_take_over_what_was_measured_serially(root, log, logged):
    sweep(logged(2), root)
    report = sweep(logged(4), root, engine=ProcessEngine(2))
    assert report.cached == names(logged(2))
    assert sorted(noted(log)) == ["0", "1", "2", "3"]
    assert {type(cell) for cell in logged(4)} == {Logged}
