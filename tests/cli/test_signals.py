"""A command that is asked to end tidies up and says what ended it; one that is killed leaves nothing for ever."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CODE = """
import signal, sys, time
from georecall.cli import main
from georecall.memory import saving

def wait(memory):
    print("writes", flush=True)
    time.sleep(60)

saving.model_card = wait
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have been started by nohup
sys.argv = ["georecall", "compile", sys.argv[1], "-o", "memory", *sys.argv[2:]]
main()
"""
"""Compiles until the model card is to be written, which takes a minute."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without asking them")


def compiling(csv: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CODE, str(csv), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        command, stdout=pipe, stderr=pipe, text=True, cwd=folder, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writes\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_asked_to_end_tidies_up_and_says_so_in_one_line(
    family_csv, family, tmp_path, number
):
    before = {path.name: path.read_bytes() for path in family.iterdir()}
    process = compiling(family_csv, tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (128 + number, "", f"error: ended by {number.name}\n")
    assert {path.name: path.read_bytes() for path in family.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["family"]


def test_what_a_killed_command_left_is_deleted_by_the_next_that_writes_there(cli, family_csv, tmp_path):
    process = compiling(family_csv, tmp_path)
    process.kill()
    process.communicate()
    assert {path.name for path in tmp_path.iterdir()} == {".memory.georecall.draft", ".memory.georecall.lock"}
    assert cli("compile", family_csv, "-o", "another").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"another"}


def test_drafts_of_a_command_that_still_runs_are_left_to_it(cli, family_csv, tmp_path):
    process = compiling(family_csv, tmp_path)
    assert cli("compile", family_csv, "-o", "another").code == 0
    left = {path.name for path in tmp_path.iterdir()}
    process.kill()
    process.communicate()
    assert left == {"another", ".memory.georecall.draft", ".memory.georecall.lock"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_workers_of_a_command_that_ends_end_too(tmp_path, number):
    """Every cell takes a minute; each worker notes its process when it begins."""
    code = """
from pathlib import Path
from sample_cells import Threads, Logged
from georecall.cli import app, main
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, run_sweep
from georecall.cli.signals import ended_by_signals

with ended_by_signals():
    cells = [Logged(number=number, log="log", seconds=60) for number in range(2)]
    run_sweep(cells, Path("cells"), engine=ProcessEngine(2), progress=no_progress)
"""
    path = str(HERE.parent / "sweeps")
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": f"{path}:{os.environ.get('PYTHONPATH', '')}",
    }
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
    )
    log = tmp_path / "log"
    while not log.exists() or len(log.read_text().splitlines()) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.send_signal(number)
    assert process.wait(timeout=30) == (128 + number if number == signal.SIGTERM else -number)
    patience = time.monotonic() + 20
    while any(map(runs, workers)) and time.monotonic() < patience:
        time.sleep(0.1)
    assert not any(map(runs, workers))


def children(process: int) -> list[int]:
    """Processes that a process has started, on Linux."""
    path = Path(f"/proc/{process}/task/{process}/children")
    if not path.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(number) for number in path.read_text().split()]


def runs(process: int) -> bool:
    """Whether a process has not ended, be it that nobody has asked how."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
