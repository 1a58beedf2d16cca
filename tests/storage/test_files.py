"""A text file is replaced in one step."""

from pathlib import Path

import pytest

from georecall.storage.files import write_text


def test_a_text_is_written_with_its_parents_and_nothing_else(tmp_path):
    path = tmp_path / "new" / "a.txt"
    for text in ("first", "zweitens: ü\n"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_text_that_cannot_be_written_leaves_the_old_one_and_no_draft(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_or_a_folder_in_its_place_is_not_half_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):
        write_text(Path(folder), "text")
    assert list(tmp_path.iterdir()) == [folder]
