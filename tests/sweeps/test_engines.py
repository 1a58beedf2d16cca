"""Every engine brings all cells to an end, on one thread a worker, whatever befalls its workers."""

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sample_cells import Deadly, Threads, noted

from georecall.errors import GeorecallError, MissingPackageError
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, RayEngine, SerialEngine, choose_engine, run_sweep

NEEDS_RAY = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")


def test_processes_of_one_thread_each_measure_at_once(root):
    cells = [Threads(number=number) for number in range(4)]
    run_sweep(cells, root, engine=ProcessEngine(2), progress=no_progress)
    results = [cell.result(root) for cell in cells]
    assert {(result.torch, result.told) for result in results} == {(1, "1")}
    assert os.getpid() not in {result.process for result in results}


def test_one_worker_is_a_process_too(root):
    cell = Threads(number=0)
    run_sweep([cell], root, engine=ProcessEngine(1), progress=no_progress)
    assert cell.result(root).process != os.getpid()


def test_the_serial_engine_measures_in_this_process(root, logged):
    run_sweep(logged(1), root, engine=SerialEngine(), progress=no_progress)
    assert logged(1)[0].result(root).process == os.getpid()


def test_progress_comes_as_cells_end(root, logged):
    cells, heard = logged(6, 0.05), []

    def progress(task, done, total):  # noqa: ARG001
        heard.append((done, sum(cell.is_measured(root) for cell in cells)))

    run_sweep(cells, root, engine=ProcessEngine(2), progress=progress)
    assert [done for done, _ in heard] == [*range(7), 6]
    assert all(done <= measured <= done + 4 for done, measured in heard)


def test_cells_whose_process_dies_are_handed_out_again_and_given_up_only_for_what_they_do_alone(
    root, log, logged
):
    once, always = Deadly(log=f"{log}-once", times=1), Deadly(log=f"{log}-always", times=100)
    cells = [*logged(3, 0.02), always, once, *logged(6, 0.02)]
    report = run_sweep(cells, root, engine=ProcessEngine(2), progress=no_progress)
    (failure,) = report.failed
    assert (failure.folder, failure.type) == (always.folder_name, "WorkerLost")
    assert "handed out 3 times, the last time alone, and its worker died" in failure.message
    assert set(report.finished) == {cell.folder_name for cell in (*logged(6, 0.02), once)}
    assert 1 <= len(noted(Path(always.log))) <= 3


@NEEDS_RAY
def test_when_a_ray_node_dies_its_cells_are_measured_elsewhere(root, log, logged, monkeypatch):
    import ray  # noqa: PLC0415
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # where workers find the cells
    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
    doomed = cluster.add_node(**node)
    cells, removals = [*logged(10, 0.5), Threads(number=0)], []

    def progress(task, done, total):  # noqa: ARG001
        if done == 4:
            removals.append(threading.Thread(target=cluster.remove_node, args=(doomed, False)))
            removals[0].start()

    try:
        engine = RayEngine(cluster.address)
        assert engine.workers == 2
        report = run_sweep(cells, root, engine=engine, progress=progress)
        removals[0].join()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert report.finished == tuple(cell.folder_name for cell in cells)
    assert len({cell.result(root).process for cell in cells}) > 1
    numbers = [int(number) for number in noted(log)]
    assert set(numbers) == set(range(10))
    assert len(numbers) <= 10 + 1
    assert cells[-1].result(root).torch == 1


@NEEDS_RAY
def test_an_address_without_a_cluster_is_refused(root, logged):
    with pytest.raises(GeorecallError, match=r"no Ray cluster can be reached at '127.0.0.1:1'"):
        run_sweep(logged(1), root, engine=RayEngine("127.0.0.1:1"), progress=no_progress)


def test_without_ray_its_engine_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'georecall\[ray\]'"):
        choose_engine("ray", workers=None, address=None, cells=2)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        (None, 1, SerialEngine),
        (None, 2, ProcessEngine),
        ("serial", 2, SerialEngine),
        ("processes", 1, ProcessEngine),
    ],
)
def test_one_cell_is_measured_here_and_several_in_processes_unless_an_engine_is_named(name, cells, kind):
    assert isinstance(choose_engine(name, workers=None, address=None, cells=cells), kind)


def test_the_workers_are_as_many_as_asked_for():
    assert choose_engine("processes", workers=3, address=None, cells=2).workers == 3


REFUSED = {
    "an unknown engine": ({"name": "dask"}, "serial, processes, ray, got 'dask'"),
    "an address without ray": ({"name": "processes", "address": "auto"}, "'auto'. needs the engine ray"),
    "an address alone": ({"address": "auto"}, "needs the engine ray"),
    "no workers": ({"name": "processes", "workers": 0}, "at least 1 worker, got 0"),
    "fewer": ({"workers": -2}, "at least 1 worker, got -2"),
    "workers in one process": ({"name": "serial", "workers": 2}, "serial has no workers, got 2"),
}


@pytest.mark.parametrize(("options", "says"), REFUSED.values(), ids=REFUSED)
def test_options_that_do_not_fit_are_refused(options, says):
    with pytest.raises(GeorecallError, match=says):
        choose_engine(**({"name": None, "workers": None, "address": None, "cells": 2} | options))


def test_torch_is_imported_only_where_cells_are_measured():
    code = "import sys, georecall.sweeps; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603
