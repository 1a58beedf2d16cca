"""Whatever interrupts saving, the folder is the old memory or the new one, whole."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from test_saving import FILES

from cases import WORLDS
from georecall.errors import FolderError
from georecall.facts.table import FactTable
from georecall.memory import FactMemory, saving

OLD = FactMemory.compile(WORLDS["one fact"].table)
NEW = FactMemory.compile(WORLDS["family"].table)
STEPS = [
    (saving, "write_parquet"),
    (saving, "save_tokenizer"),
    (saving, "model_card"),
    (saving, "write_safetensors"),
    (saving.files, "write_certificate"),
]
DELAYS = [0, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3]
"""Seconds after which an editing process is killed."""

EDITING = """
import os, sys
import polars  # imported, but not used before the fork, which its threads would not survive
from georecall.facts.table import FactTable
from georecall.memory import FactMemory

FactMemory.compile(FactTable.from_facts([("a", "is", "b")])).model()  # imports all that is needed
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        while True:
            for name in ("good", "bad"):
                memory = FactMemory.load(sys.argv[1])
                memory.edit("fact 0", "is", name).edit("fact 1", "is", name).save(sys.argv[1], replace=True)
    print(child, flush=True)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""
"""Edits in a process of its own for every line of input; georecall is imported once for all of them."""


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize(("owner", "step"), STEPS, ids=[step for _, step in STEPS])
def test_an_error_while_saving_leaves_the_old_memory_or_nothing_and_no_draft(
    owner, step, error, tmp_path, monkeypatch
):
    def fail(*_arguments: object, **_options: object) -> None:
        raise error

    OLD.save(tmp_path / "old")
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(owner, step, fail)
    for target in (tmp_path / "old", tmp_path / "empty" / "new"):
        with pytest.raises((FolderError, KeyboardInterrupt)):
            NEW.save(target, replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "old"]
    assert list((tmp_path / "empty").iterdir()) == []
    assert FactMemory.load(tmp_path / "old").table == OLD.table


def test_an_error_in_the_middle_of_a_tensor_leaves_the_old_memory(tmp_path, monkeypatch):
    OLD.save(tmp_path / "memory")
    written = []

    def chunks(chain, rows=1):
        for start in range(0, chain.n_entities, rows):
            written.append(start)
            if start > 3:
                raise MemoryError
            yield chain.entity_rows(slice(start, start + rows))

    monkeypatch.setattr(type(NEW.chain), "embedding_chunks", chunks)
    with pytest.raises(MemoryError):
        FactMemory.compile(NEW.table).save(tmp_path / "memory", replace=True)
    assert len(written) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]
    assert FactMemory.load(tmp_path / "memory").table == OLD.table


def test_killing_an_edit_at_any_moment_leaves_a_whole_memory(tmp_path: Path):
    """Drafts stay behind where the process is killed outright; with none, no kill would have met an edit."""
    met = 0
    folder = tmp_path / "memory"
    facts = [(f"fact {number}", "is", ("good", "bad")[number % 2]) for number in range(200)]
    FactMemory.compile(FactTable.from_facts(facts)).save(folder)
    command = [sys.executable, "-c", EDITING, str(folder)]
    environment, pipe = os.environ | {"OMP_NUM_THREADS": "1"}, subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - this interpreter
        command, stdin=pipe, stdout=pipe, text=True, env=environment
    ) as editing:
        for delay in DELAYS:
            print(file=editing.stdin, flush=True)
            child = int(editing.stdout.readline())
            time.sleep(delay)
            os.kill(child, signal.SIGKILL)
            assert int(editing.stdout.readline()) == signal.SIGKILL
            met += any(folder.glob(".georecall.[dc]*"))
            loaded = FactMemory.load(folder)
            found = [loaded.ask(f"fact {number}", "is").answer for number in range(4)]
            assert found[:2] in (["good", "bad"], ["good", "good"], ["bad", "bad"])
            assert found[2:] == ["good", "bad"]
        editing.stdin.close()
    assert editing.returncode == 0
    assert met > 0
    FactMemory.load(folder).edit("fact 0", "is", "good").save(folder, replace=True)
    assert {path.name for path in folder.iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["memory"]


def test_what_is_loaded_beside_an_edit_is_the_old_memory_or_the_new_one(tmp_path: Path):
    """Both facts are changed by one edit after the other, in memory, and saved together."""
    folder = tmp_path / "memory"
    memory = FactMemory.compile(FactTable.from_facts([("a", "is", "good"), ("b", "is", "bad")]))
    memory.save(folder)
    other = memory.edit("a", "is", "bad").edit("b", "is", "good")
    over = threading.Event()

    def edit() -> None:
        while not over.is_set():
            other.save(folder, replace=True)
            memory.save(folder, replace=True)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        seen = set()
        for _ in range(40):
            loaded = FactMemory.load(folder)
            answers = tuple(loaded.ask(subject, "is").answer for subject in ("a", "b"))
            assert [answer for _, _, answer in loaded.table.facts()] == list(answers)
            seen.add(answers)
    finally:
        over.set()
        editor.join()
    assert seen <= {("good", "bad"), ("bad", "good")}
