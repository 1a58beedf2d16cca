"""A folder that is not as it was written is refused, and the error names the file."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_saving import FILES

from cases import WORLDS
from georecall.errors import FolderError
from georecall.memory import FactMemory
from georecall.memory import folder as memory_folder
from georecall.memory.folder import write_certificate

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "one byte of it altered": lambda content: bytes([*content[:9], content[9] ^ 1, *content[10:]]),
    "its last byte altered": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "a byte added": lambda content: content + b"\n",
    "its last byte cut off": lambda content: content[:-1],
    "cut in half": lambda content: content[: len(content) // 2],
    "emptied": lambda _: b"",
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "memory"
    FactMemory.compile(WORLDS["family"].table).save(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "memory"))


def refused(folder: Path, file: str) -> None:
    with pytest.raises(FolderError, match=re.escape(str(folder / file))):
        FactMemory.load(folder)


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("file", sorted(FILES))
def test_a_damaged_file_is_refused_by_name(folder, file, damage):
    (folder / file).write_bytes(damage((folder / file).read_bytes()))
    refused(folder, file)


@pytest.mark.parametrize("file", sorted(FILES))
def test_a_missing_file_is_refused_by_name(folder, file):
    (folder / file).unlink()
    refused(folder, file)


def test_no_byte_of_the_certificate_can_be_altered(folder):
    path = folder / "certificate.json"
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        for bit in (1, 2):
            path.write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
            refused(folder, "certificate.json")


def test_a_claim_added_to_the_certificate_is_refused(folder):
    path = folder / "certificate.json"
    sealed = json.loads(path.read_text())
    sealed["proofs"][0]["margin"] = 99.0
    path.write_text(json.dumps(sealed, indent=2))
    refused(folder, "certificate.json")


@pytest.mark.parametrize("text", ["[]", "{}", "null", "7", "not JSON"])
def test_what_is_no_certificate_is_refused(folder, text):
    (folder / "certificate.json").write_text(text)
    refused(folder, "certificate.json")


def test_a_certificate_of_another_format_is_refused_although_its_hash_is_right(folder):
    sealed = json.loads((folder / "certificate.json").read_text())
    del sealed["sha256"]
    write_certificate(folder, sealed, {})
    FactMemory.load(folder)
    write_certificate(folder, sealed | {"format": 99}, {})
    with pytest.raises(FolderError, match="expected format 2, got 99"):
        FactMemory.load(folder)


def test_files_that_are_not_the_memory_s_may_lie_in_the_folder(folder, saved):
    (folder / "notes.txt").write_text("mine")
    (folder / "more").mkdir()
    assert FactMemory.load(folder).table == FactMemory.load(saved).table


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(FolderError, match="expected the folder of a memory, found nothing"):
        FactMemory.load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="expected the folder of a memory, found a file"):
        FactMemory.load(tmp_path / "file")
    with pytest.raises(FolderError, match="was this folder written by"):
        FactMemory.load(tmp_path)


OUTSIDE = {
    "an absolute path": "/etc/hostname",
    "a path out of the folder": "../outside.txt",
    "a path of Windows": "..\\outside.txt",
    "a file of a folder in it": "more/file.txt",
    "the folder itself": ".",
    "a link": "linked.txt",
    "no name": "",
    "the end of a text": "a\0b",
}


@pytest.mark.parametrize("name", OUTSIDE.values(), ids=OUTSIDE)
def test_a_certificate_that_lists_what_is_not_a_file_of_its_folder_is_refused_and_nothing_is_hashed(
    folder, tmp_path, monkeypatch, name
):
    (tmp_path / "outside.txt").write_text("secret")
    (folder / "linked.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "more").mkdir()
    (folder / "more" / "file.txt").write_text("x")
    sealed = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    sealed["files"] = {name: "0" * 64}
    del sealed["sha256"]
    sealed["sha256"] = memory_folder._digest(sealed)
    (folder / "certificate.json").write_bytes(memory_folder._text(sealed).encode())
    monkeypatch.setattr(memory_folder, "sha256_of", lambda path: pytest.fail(f"{path} is hashed"))
    with pytest.raises(
        FolderError, match=r"certificate\.json: expected it to list files of its own folder, got "
    ):
        FactMemory.load(folder)
