"""`--force` and changes in place replace what is ours and nothing else; one command writes a folder at a time."""

import json
import os
import threading
from pathlib import Path

import pytest

from georecall.cli.rewriting import rewrite
from georecall.memory import FactMemory
from georecall.storage.folders import claimed

TRAIN = (
    "train",
    "--subjects",
    "6",
    "--relations",
    "2",
    "--dim",
    "4",
    "--width",
    "8",
    "--seeds",
    "1",
    "--steps",
    "4",
)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def used(folder: Path) -> dict[str, bytes | None]:
    """Put the work of a user into a folder."""
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("mine")
    (folder / "notes.txt").write_text("mine")
    return {name: content for name, content in snapshot(folder).items() if "notes" in name or ".git" in name}


def others(command: tuple[str, ...], kind: str, family_csv: Path) -> tuple[str, ...]:
    return (*(str(family_csv) if part == "TABLE" else part for part in command), "-o", kind)


WRITES = {
    "compile": (("compile", "TABLE", "--force"), "memory"),
    "edit": (("edit", "family", "Alice", "wife", "Grace", "--force"), "memory"),
    "train": ((*TRAIN, "--force"), "run"),
    "capacity": (("capacity", "--subjects", "8"), "sweep"),
    "reproduce": (("reproduce", "--claims", "K1"), "report"),
    "probe": (("probe", "--example", "countries"), "probe"),
}
FOREIGN = {
    "a Hugging Face model": {"config.json": '{"model_type": "opt"}', "model.safetensors": "weights"},
    "settings of something else": {"config.json": '{"dim": 3, "width": 4}', "facts.parquet": "facts"},
    "a certificate of something else": {"certificate.json": '{"format": 1, "files": {}}'},
    "a certificate with other fields": {
        "certificate.json": '{"format": 1, "construction": 0, "proofs": 0, "files": 7, "sha256": 0}'
    },
    "a plan of something else": {"sweep.json": '{"cells": []}', "states/mine/states.json": "{}"},
    "results of something else": {"results.json": '[{"id": 1}]', "result.json": "{}", "index.html": "mine"},
    "markers that are no JSON": {
        "config.json": "{",
        "certificate.json": "",
        "sweep.json": "\0",
        "results.json": "[",
    },
}


@pytest.mark.parametrize("files", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("command", WRITES)
@pytest.mark.usefixtures("family")
def test_a_folder_of_another_kind_is_refused_whatever_its_files_are_called(cli, family_csv, command, files):
    for name, content in files.items():
        path = Path("mine", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    before = snapshot(Path())
    result = cli(*others(WRITES[command][0], "mine", family_csv))
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert "mine: expected a new folder or " in result.err
    assert snapshot(Path()) == before


def test_a_run_does_not_replace_a_memory_nor_a_memory_a_run(cli, family, family_csv):
    cli(*TRAIN, "-o", "run")
    before = snapshot(Path())
    assert "found other work" in cli(*TRAIN, "-o", family, "--force").err
    assert "found other work" in cli("compile", family_csv, "-o", "run", "--force").err
    assert snapshot(Path()) == before


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("target", ["family", "."])
def test_a_change_in_place_keeps_the_folder_and_all_that_is_not_ours(
    cli, family, monkeypatch, target, linked
):
    mine, inode = used(family), family.stat().st_ino
    if linked:
        Path("link").symlink_to("family")
    place = Path("link" if linked else "family").absolute()
    monkeypatch.chdir(place if target == "." else place.parent)
    assert cli("edit", place.name if target != "." else ".", "Alice", "wife", "Grace").code == 0
    assert FactMemory.load(place).ask("Alice", "wife").answer == "Grace"
    assert (family.stat().st_ino, place.is_symlink()) == (inode, linked)
    monkeypatch.chdir(family.parent)
    assert mine.items() <= snapshot(Path()).items() or mine.items() <= snapshot(family).items()
    assert not any(path.name.startswith(".georecall") for path in family.iterdir())


def test_a_memory_that_is_replaced_keeps_what_is_not_ours(cli, family, family_csv):
    mine, inode = used(family), family.stat().st_ino
    (family / "more").mkdir()
    assert cli("compile", family_csv, "-o", family, "--arch", "llama", "--force").code == 0
    assert mine.items() <= snapshot(family).items()
    assert family.stat().st_ino == inode
    assert cli("verify", family, "--chains", "5").code == 0


def test_an_empty_folder_is_filled_if_asked_even_one_that_cannot_be_renamed(cli, family_csv, monkeypatch):
    """As the folder at which a disk is mounted."""
    Path("mounted").mkdir()
    rename = os.rename

    def busy(source: Path, to: Path) -> None:
        if Path(source).name == "mounted" or Path(to).name == "mounted":
            raise OSError(16, "Device or resource busy")
        rename(source, to)

    monkeypatch.setattr(os, "rename", busy)
    assert "already exists" in cli("compile", family_csv, "-o", "mounted").err
    assert cli("compile", family_csv, "-o", "mounted", "--force").code == 0
    assert cli("edit", "mounted", "Alice", "wife", "Grace").code == 0


def test_a_file_that_an_older_version_wrote_and_this_one_does_not_goes_when_its_memory_is_replaced(
    cli, family
):
    from georecall.memory.folder import read_certificate, write_certificate  # noqa: PLC0415

    (family / "special_tokens_map.json").write_text("{}")
    content = read_certificate(family).model_dump(mode="json", exclude={"sha256"})
    write_certificate(family, content, {})
    (family / "notes.txt").write_text("mine")
    cli("forget", family, "Alice", "wife")
    assert not (family / "special_tokens_map.json").exists()
    assert (family / "notes.txt").read_text() == "mine"


def test_a_run_that_is_replaced_takes_what_was_found_out_about_it_along_and_nothing_else(cli):
    cli(*TRAIN, "-o", "run")
    for name in (
        "transfer-ridge.json",
        "analysis/analysis.json",
        "analysis/swap.png",
        "notes.txt",
        "plots/mine.png",
    ):
        Path("run", name).parent.mkdir(exist_ok=True)
        Path("run", name).write_text("x")
    assert cli(*TRAIN, "--first-seed", "7", "-o", "run", "--force").code == 0
    left = {path.relative_to("run").as_posix() for path in Path("run").rglob("*") if path.is_file()}
    files = {
        "config.json",
        "facts.parquet",
        "history.json",
        "result.json",
        "model.safetensors",
        "history.html",
    }
    assert left == files | {"notes.txt", "plots/mine.png"}
    assert json.loads(Path("run/config.json").read_text())["first_seed"] == 7
    assert not Path("run/analysis").exists()


def test_edits_at_once_are_made_one_after_the_other_and_none_is_lost(family):
    facts = [(subject, relation) for subject, relation, _ in FactMemory.load(family).table.facts()][:6]

    def forget(subject: str, relation: str) -> None:
        rewrite(family, lambda memory: memory.forget(subject, relation), subject, relation, None, False, True)

    threads = [threading.Thread(target=forget, args=fact) for fact in facts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory = FactMemory.load(family)
    assert [memory.ask(*fact).answer for fact in facts] == [None] * 6


def test_a_run_that_is_being_trained_is_neither_replaced_nor_resumed(cli):
    cli(*TRAIN, "-o", "run", "--stop-after", "1")
    before = snapshot(Path("run"))
    results = []
    with claimed(Path("run")):
        for command in ((*TRAIN, "-o", "run", "--force"), ("train", "--resume", "run")):
            other = threading.Thread(target=lambda command=command: results.append(cli(*command)))
            other.start()
            other.join()
    for result in results:
        assert (result.code, result.out) == (2, "")
        assert result.err == "error: run: in use by another command; try again when it has ended\n"
    assert len(results) == 2
    assert snapshot(Path("run")) == before


def test_a_folder_that_appears_while_a_memory_is_compiled_is_left_as_it_is(cli, family_csv, monkeypatch):
    from georecall.memory import saving  # noqa: PLC0415

    written = saving.model_card

    def appear(memory: FactMemory) -> str:
        Path("memory").mkdir()
        Path("memory", "notes.txt").write_text("mine")
        return written(memory)

    monkeypatch.setattr(saving, "model_card", appear)
    result = cli("compile", family_csv, "-o", "memory")
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert "memory: cannot be written (something of that name has appeared meanwhile" in result.err
    assert {path.name for path in Path().iterdir()} == {"memory"}
    assert [path.name for path in Path("memory").iterdir()] == ["notes.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_umask_decides_who_may_read_what_a_command_writes(cli, family_csv, umask):
    before = os.umask(umask)
    try:
        cli("compile", family_csv, "-o", "memory")
        cli("edit", "memory", "Alice", "wife", "Grace", "-o", "edited")
        cli("forget", "memory", "Alice", "wife")
        cli(*TRAIN, "-o", "run")
        cli("explore", "memory", "--export", "page.html")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in Path().rglob("*")}
    assert len(modes) > 25
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o777 & ~umask}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o666 & ~umask}


FULL_AFTER = [100, 1000, 10_000, 25_000]
"""Bytes of the largest file that can be written."""
WRITERS = {
    "compile": ("compile", "TABLE", "-o", "new"),
    "replace": ("compile", "TABLE", "-o", "family", "--force"),
    "edit": ("edit", "family", "Alice", "wife", "Grace"),
    "gguf": ("gguf", "llama", "-o", "llama.gguf"),
    "export": ("explore", "family", "--export", "page.html"),
}


@pytest.mark.usefixtures("family")
@pytest.mark.parametrize("size", FULL_AFTER)
@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_one_error_that_names_the_file_and_leaves_all_as_it_was(
    cli,
    family_csv,
    command,
    size,
):
    resource = pytest.importorskip("resource")
    if command == "gguf":
        pytest.importorskip("gguf")
        cli("compile", family_csv, "-o", "llama", "--arch", "llama", "--hops", "1")
    words = [str(family_csv) if word == "TABLE" else word for word in WRITERS[command]]
    before, limits = snapshot(Path()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        result = cli(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    target = {"compile": "new", "gguf": "llama.gguf", "export": "page.html"}.get(command, "family")
    assert result.err.startswith(f"error: {target}: cannot be written (")
    assert snapshot(Path()) == before


def test_a_disk_that_is_full_during_training_is_one_error_and_the_run_goes_on_later(cli):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    cli(*TRAIN, "-o", "run", "--stop-after", "1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        result = cli("train", "--resume", "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.code == 2
    assert result.err == "error: run/model.safetensors: cannot be written (File too large)\n"
    assert not any(path.name.startswith(".") for path in Path("run").iterdir())
    assert cli("train", "--resume", "run").code == 0
