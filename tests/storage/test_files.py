"""A file is replaced in one step."""

import os
import threading
from pathlib import Path

import pytest

from georecall.errors import FolderError
from georecall.storage.drafts import tidy
from georecall.storage.files import pointed_to, whole_file, write_text
from georecall.storage.locks import beside, locked


def test_a_text_is_written_with_its_parents_and_nothing_else(tmp_path):
    path = tmp_path / "new" / "a.txt"
    for text in ("first", "zweitens: ü\n"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_the_umask_decides_who_may_read(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_text(tmp_path / "new" / "a.txt", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o777 & ~umask
    assert (tmp_path / "new" / "a.txt").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_text_that_cannot_be_written_leaves_the_old_one_and_no_draft(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


FULL = {
    "said by Python": OSError(28, "No space left on device"),
    "said by Rust": RuntimeError("parquet: an IO error: No space left on device (os error 28)"),
}


@pytest.mark.parametrize("error", FULL.values(), ids=FULL)
def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_the_old_one_and_no_draft(tmp_path, error):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fill() -> None:
        with whole_file(path) as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(FolderError, match=r"a\.txt: cannot be written \(No space left on device\)$"):
        fill()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_that_is_not_of_the_system_stays_what_it_is(tmp_path):
    with pytest.raises(RuntimeError, match="mine"), whole_file(tmp_path / "a.txt"):
        raise RuntimeError("mine")


def test_a_folder_in_its_place_is_not_half_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FolderError, match="folder: expected a file to write, found a folder"):
        write_text(Path(folder), "text")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to("mine")
    write_text(tmp_path / "link", "text")
    assert ((tmp_path / "mine").read_text(), (tmp_path / "link").read_text()) == ("mine", "text")


def test_what_a_user_means_by_a_link_is_what_it_points_to(tmp_path):
    (tmp_path / "link").symlink_to("there")
    with whole_file(pointed_to(tmp_path / "link")) as draft:
        draft.write_text("text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "text"
    assert pointed_to(tmp_path / "there") == tmp_path / "there"


def test_a_file_that_appears_meanwhile_is_replaced_only_if_asked(tmp_path):
    path = tmp_path / "a.txt"

    def write() -> None:
        with whole_file(path, replace=False) as draft:
            draft.write_text("new")
            path.write_text("mine")

    with pytest.raises(FolderError, match="already exists"):
        write()
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_draft_that_a_kill_left_is_deleted_when_the_file_is_written(tmp_path):
    (tmp_path / ".a.txt.georecall.draft").write_text("half")
    (tmp_path / ".a.txt.georecall.lock").touch()
    write_text(tmp_path / "a.txt", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_drafts_are_deleted_when_their_writers_are_gone_and_only_ours(tmp_path):
    left = {".mine.draft", ".a.lock", "b.georecall.draft", ".c.georecall.draft.txt"}
    for name in (*left, ".gone.georecall.draft", ".gone.georecall.lock", ".held.georecall.draft"):
        (tmp_path / name).write_text("x")
    (tmp_path / ".folder.georecall.draft").mkdir()
    (tmp_path / ".linked.georecall.draft").symlink_to(tmp_path / "b.georecall.draft")
    (tmp_path / ".gone.georecall.lock").write_text("")
    held = tmp_path / "held"
    with locked(held, beside(held)):
        other = threading.Thread(target=tidy, args=(tmp_path,))
        other.start()
        other.join()
        assert {path.name for path in tmp_path.iterdir()} == left | {
            ".held.georecall.draft",
            ".held.georecall.lock",
        }
    tidy(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == left
