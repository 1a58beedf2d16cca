"""A folder is written whole or not at all, and nothing but one of ours is replaced."""

import os
from pathlib import Path

import pytest

from georecall.errors import FolderError
from georecall.storage import folders
from georecall.storage.folders import check_target, sha256_of, whole_folder

MARKER = "marker"


def write(target: Path, text: str, *, replace: bool = False) -> None:
    with whole_folder(target, marker=MARKER, replace=replace) as draft:
        (draft / MARKER).write_text(text)


def break_off(target: Path, error: type[BaseException]) -> None:
    with whole_folder(target, marker=MARKER, replace=True) as draft:
        (draft / MARKER).write_text("half")
        raise error


def only(parent: Path, name: str) -> bool:
    return [path.name for path in parent.iterdir()] == [name]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "parent" / "target"


def test_a_folder_appears_with_its_parents_and_leaves_no_draft(target):
    write(target, "new")
    assert (target / MARKER).read_text() == "new"
    assert only(target.parent, "target")
    assert target.stat().st_mode & 0o777 == 0o755


def test_nothing_is_seen_before_the_end(target):
    with whole_folder(target, marker=MARKER) as draft:
        (draft / MARKER).touch()
        assert not target.exists()
        assert draft.parent == target.parent
    assert target.exists()


def test_an_existing_folder_is_replaced_as_a_whole(target):
    write(target, "old")
    (target / "left over").touch()
    write(target, "new", replace=True)
    assert only(target, MARKER)
    assert (target / MARKER).read_text() == "new"
    assert only(target.parent, "target")


def test_an_existing_folder_is_replaced_where_the_kernel_cannot_exchange(target, monkeypatch):
    monkeypatch.setattr(folders.sys, "platform", "elsewhere")
    write(target, "old")
    write(target, "new", replace=True)
    assert (target / MARKER).read_text() == "new"
    assert only(target.parent, "target")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interruption_leaves_the_old_folder_and_no_draft(target, error):
    write(target, "old")
    with pytest.raises(error):
        break_off(target, error)
    assert (target / MARKER).read_text() == "old"
    assert only(target.parent, "target")


def test_an_interruption_leaves_nothing_where_nothing_was(target):
    with pytest.raises(RuntimeError):
        break_off(target, RuntimeError)
    assert list(target.parent.iterdir()) == []


def test_a_folder_is_not_overwritten_unless_asked(target):
    write(target, "old")
    with pytest.raises(FolderError, match="already exists"):
        write(target, "new")
    assert (target / MARKER).read_text() == "old"


def test_a_folder_without_the_marker_is_not_replaced(target):
    target.mkdir(parents=True)
    (target / "work").touch()
    with pytest.raises(FolderError, match="no marker, so it may hold other work"):
        write(target, "new", replace=True)
    assert only(target, "work")


def test_an_empty_folder_may_be_replaced_but_only_if_asked(target):
    target.mkdir(parents=True)
    with pytest.raises(FolderError, match="already exists"):
        check_target(target, marker=MARKER, replace=False)
    write(target, "new", replace=True)
    assert only(target.parent, "target")


def test_a_file_is_not_replaced_by_a_folder(target):
    target.parent.mkdir()
    target.write_text("work")
    with pytest.raises(FolderError, match="found a file"):
        write(target, "new", replace=True)
    assert target.read_text() == "work"


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=r"target: cannot be written"):
        write(tmp_path / "file" / "target", "new")


def test_the_working_folder_itself_can_be_replaced(target, monkeypatch):
    write(target, "old")
    monkeypatch.chdir(target)
    write(Path(), "new", replace=True)
    assert (target / MARKER).read_text() == "new"
    assert only(target.parent, "target")


def test_a_link_goes_on_pointing_to_the_folder_that_is_replaced(target):
    write(target, "old")
    link = target.with_name("link")
    link.symlink_to(target.name)
    write(link, "new", replace=True)
    assert os.readlink(link) == "target"
    assert (target / MARKER).read_text() == "new"
    assert sorted(path.name for path in target.parent.iterdir()) == ["link", "target"]


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256_of(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
