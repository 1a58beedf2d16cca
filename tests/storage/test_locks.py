"""One at a time: who waits, who is refused, and what a lock file becomes."""

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from georecall.errors import FolderError
from georecall.storage.locks import beside, is_held, locked

HOLDING = """
import sys, time
from pathlib import Path
from georecall.storage.locks import beside, locked

path = Path(sys.argv[1])
with locked(path, beside(path)):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture(params=[None, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP], ids=str)
def _without_flock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that says so, and one that has locks."""
    if request.param is not None:
        fcntl = pytest.importorskip("fcntl")

        def refuse(*_: object) -> None:
            raise OSError(request.param, os.strerror(request.param))

        monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("_without_flock")
def test_a_lock_is_held_by_one_thread_again_by_it_and_by_no_other_and_leaves_no_file(path):
    with locked(path, beside(path)):
        with locked(path, beside(path), wait=0.0):
            pass
        others = []
        other = threading.Thread(target=lambda: others.append(is_held(beside(path))))
        other.start()
        other.join()
        assert others == [True]
    assert not is_held(beside(path))
    assert list(path.parent.iterdir()) == []


@pytest.mark.usefixtures("_without_flock")
def test_threads_that_wait_hold_a_lock_one_after_the_other(path):
    inside, most = [], []

    def work() -> None:
        with locked(path, beside(path)):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 6
    assert list(path.parent.iterdir()) == []


def test_a_lock_of_another_process_is_waited_for_as_long_as_asked_and_released_by_its_death(path):
    command = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:  # noqa: S603
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_held(beside(path))
        with pytest.raises(FolderError, match="work: in use by another command; try again when it has ended"):  # noqa: SIM117
            with locked(path, beside(path), wait=0.1):
                pass
        holder.kill()
    with locked(path, beside(path), wait=5.0):
        pass
    assert list(path.parent.iterdir()) == []


def test_a_lock_of_a_process_that_cannot_be_seen_is_an_error_that_names_the_file(path, monkeypatch):
    from georecall.storage import locks  # noqa: PLC0415

    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(locks, "_LOOK", 0.1)
    soft = path.with_name(".work.georecall.lock.soft")
    with locked(path, beside(path)):
        marker = soft.read_bytes()
    host = marker.split(b"\n")[1]
    soft.write_bytes(marker.replace(host, b"a-machine-that-is-gone"))
    for wait in (0.1, None):
        with pytest.raises(FolderError, match=r"work: in use by pid \d+ on .*delete .*lock\.soft if"):  # noqa: SIM117
            with locked(path, beside(path), wait=wait):
                pass


def test_a_lock_in_a_folder_that_is_not_there_is_one_error_and_makes_none(path):
    with pytest.raises(FolderError, match=r"x: cannot be written \("):  # noqa: SIM117
        with locked(path / "x", beside(path / "x")):
            pass
    assert list(path.parent.iterdir()) == []
