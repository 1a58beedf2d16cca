"""A folder is written whole or not at all; what is replaced in it is ours, and nothing else is touched."""

import os
import sys
from pathlib import Path

import pytest

from georecall.errors import FolderError
from georecall.storage.drafts import tidy
from georecall.storage.folders import check_target, claimed, sha256_of, steady, whole_folder
from georecall.storage.kinds import Kind, has
from georecall.storage.locks import inside

MARKER = "marker.json"
KIND = Kind(
    name="a sample",
    markers=(MARKER,),
    is_ours=has("text"),
    files=lambda _: (MARKER, "page", "extra", "figures/*.png"),
)
CAN_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def write(target: Path, text: str, *others: str, replace: bool = False) -> None:
    with whole_folder(target, kind=KIND, replace=replace, wait=0.0) as draft:
        for name in others:
            (draft / name).write_text(text)
        (draft / MARKER).write_text(f'{{"text": "{text}"}}')


def break_off(target: Path, error: type[BaseException]) -> None:
    with whole_folder(target, kind=KIND, replace=True) as draft:
        (draft / MARKER).write_text("half")
        raise error


def content(folder: Path) -> dict[str, str | None]:
    """All that is below a folder; None for a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
    }


def only(parent: Path, name: str) -> bool:
    return [path.name for path in parent.iterdir()] == [name]


def sample(text: str, *others: str) -> dict[str, str | None]:
    return {MARKER: f'{{"text": "{text}"}}'} | dict.fromkeys(others, text)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "parent" / "target"


@pytest.fixture
def in_use(target: Path) -> Path:
    """The target, with the work of its user in it."""
    write(target, "old", "page", "extra")
    (target / "figures").mkdir()
    (target / "figures" / "a.png").write_text("old")
    (target / "figures" / "mine.txt").write_text("mine")
    (target / ".git").mkdir()
    (target / ".git" / "HEAD").write_text("mine")
    return target


OLD = sample("old", "page", "extra", "figures/a.png")
NEW = sample("new", "page")
MINE = {".git": None, ".git/HEAD": "mine", "figures": None, "figures/mine.txt": "mine"}


def test_a_folder_appears_with_its_parents_and_leaves_no_draft(target):
    write(target, "new", "page")
    assert content(target) == NEW
    assert only(target.parent, "target")


def test_nothing_is_seen_before_the_end(target):
    with whole_folder(target, kind=KIND) as draft:
        (draft / MARKER).touch()
        assert not target.exists()
        assert draft.parent == target.parent
    assert target.exists()


def test_the_files_of_an_existing_folder_are_replaced_and_all_others_stay(in_use):
    before = in_use.stat().st_ino
    write(in_use, "new", "page", replace=True)
    assert content(in_use) == NEW | MINE
    assert in_use.stat().st_ino == before
    assert only(in_use.parent, "target")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interruption_leaves_the_old_folder_and_no_draft(in_use, error):
    with pytest.raises(error):
        break_off(in_use, error)
    assert content(in_use) == OLD | MINE
    assert only(in_use.parent, "target")


def test_an_interruption_leaves_nothing_where_nothing_was(target):
    with pytest.raises(RuntimeError):
        break_off(target, RuntimeError)
    assert list(target.parent.iterdir()) == []


@CAN_FORK
def test_killed_before_any_step_a_folder_is_the_old_one_or_the_new_one_when_it_is_next_opened(in_use):
    found, step = [], 0
    while killed_at(step, lambda: write(in_use, "new", "page", replace=True)):
        with claimed(in_use):
            now = content(in_use)
            del now[".georecall.lock"]
        assert now in (OLD | MINE, NEW | MINE)
        found.append(now == NEW | MINE)
        write(in_use, "old", "page", "extra", replace=True)
        (in_use / "figures" / "a.png").write_text("old")
        step += 1
    assert found == sorted(found)
    assert {*found} == {False, True}
    assert content(in_use) == NEW | MINE


@CAN_FORK
def test_killed_before_any_step_what_is_read_is_the_old_or_the_new(in_use):
    def read():
        return (in_use / MARKER).read_text(), (in_use / "page").read_text()

    step = 0
    while killed_at(step, lambda: write(in_use, "new", "page", replace=True)):
        assert steady(in_use, MARKER, read) in [(OLD[MARKER], "old"), (NEW[MARKER], "new")]
        write(in_use, "old", "page", "extra", replace=True)
        step += 1
    assert step > 10


@CAN_FORK
def test_killed_before_any_step_an_empty_folder_can_be_filled_again(target):
    step = 0
    target.mkdir(parents=True)
    while killed_at(step, lambda: write(target, "new", "page", replace=True)):
        write(target, "new", "page", replace=True)
        assert content(target) == NEW
        for path in target.iterdir():
            path.unlink()
        step += 1
    assert step > 5


@CAN_FORK
def test_killed_before_any_step_a_new_folder_is_not_there_or_whole_and_can_be_written_again(target):
    step = 0
    while killed_at(step, lambda: write(target, "new", "page")):
        assert not target.exists() or content(target) == NEW
        write(target, "new", "page", replace=True)
        tidy(target.parent)
        assert content(target) == NEW
        assert only(target.parent, "target")
        for path in target.iterdir():
            path.unlink()
        target.rmdir()
        step += 1
    assert step > 5


def killed_at(step: int, work) -> bool:
    """Do some work in a process that ends before its file operation of that number; False if it has fewer."""
    child = os.fork()
    if child == 0:
        left = [step]

        def hook(event, arguments):
            writes = event == "open" and isinstance(arguments[1], str) and "w" in arguments[1]
            if writes or event in {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}:
                if left[0] == 0:
                    os._exit(9)
                left[0] -= 1

        sys.addaudithook(hook)
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_a_reader_that_meets_a_replacement_reads_again(in_use):
    read = []

    def reading():
        first = (in_use / MARKER).read_text()
        if not read:
            write(in_use, "new", "page", replace=True)
        read.append((first, (in_use / "page").read_text()))
        return read[-1]

    assert steady(in_use, MARKER, reading) == (NEW[MARKER], "new")
    assert read[0] == (OLD[MARKER], "new")


def test_an_error_in_reading_is_raised_unless_the_folder_was_replaced_meanwhile(in_use):
    tries = []

    def failing():
        tries.append(len(tries))
        raise FolderError("damaged")

    with pytest.raises(FolderError, match="damaged"):
        steady(in_use, MARKER, failing)
    assert tries == [0]


def test_a_commit_that_says_to_delete_or_to_follow_what_is_not_in_the_folder_does_not(in_use, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.png").write_text("mine")
    (in_use / "linked").symlink_to(outside)
    commit = in_use / ".georecall.commit"
    commit.mkdir()
    names = '["../../outside/a.png", "linked/a.png", "/etc/hostname", "..", "", 7, ".git/HEAD/x"]'
    (commit / ".georecall.old").write_text(names)
    with claimed(in_use):
        assert not commit.exists()
    assert (outside / "a.png").read_text() == "mine"
    assert content(in_use) == OLD | MINE | {"linked": None}


def test_a_folder_is_not_overwritten_unless_asked(target):
    write(target, "old")
    with pytest.raises(FolderError, match="already exists"):
        write(target, "new")
    assert content(target) == sample("old")


NOT_OURS = {
    "no marker": None,
    "a marker of another kind": '{"model_type": "opt"}',
    "a marker that is a list": '["text"]',
    "a marker that is no JSON": "text",
    "an empty marker": "",
}


@pytest.mark.parametrize("marker", NOT_OURS.values(), ids=NOT_OURS)
def test_a_folder_that_does_not_say_that_it_is_ours_is_not_replaced(target, marker):
    target.mkdir(parents=True)
    (target / "work").write_text("mine")
    if marker is not None:
        (target / MARKER).write_text(marker)
    before = content(target)
    with pytest.raises(FolderError, match=r"a new folder or a sample, found other work: no marker\.json"):
        write(target, "new", replace=True)
    assert content(target) == before


def test_an_empty_folder_may_be_filled_but_only_if_asked(target):
    target.mkdir(parents=True)
    before = target.stat().st_ino
    with pytest.raises(FolderError, match="already exists"):
        check_target(target, kind=KIND, replace=False)
    write(target, "new", replace=True)
    assert (content(target), target.stat().st_ino) == (sample("new"), before)


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "dangling link"])
def test_what_appears_while_a_folder_is_made_is_left_as_it_is(target, kind):

    def make() -> None:
        with whole_folder(target, kind=KIND) as draft:
            (draft / MARKER).touch()
            if kind == "dangling link":
                target.symlink_to("nowhere")
            elif kind == "file":
                target.write_text("mine")
            else:
                target.mkdir()
            if kind == "folder":
                (target / MARKER).write_text('{"text": "mine"}')

    with pytest.raises(FolderError, match=r"target: cannot be written .*appeared meanwhile"):
        make()
    assert only(target.parent, "target")
    if kind == "folder":
        assert content(target) == sample("mine")


def test_a_folder_where_a_file_is_to_be_put_is_named_and_nothing_is_replaced(in_use):
    (in_use / "page").unlink()
    (in_use / "page").mkdir()
    before = content(in_use)
    with pytest.raises(FolderError, match=r"page: cannot be written \(expected a file to replace"):
        write(in_use, "new", "page", replace=True)
    assert content(in_use) == before


def test_a_folder_that_is_taken_away_meanwhile_is_one_error(in_use):
    moved = in_use.with_name("moved")

    def move() -> None:
        with whole_folder(in_use, kind=KIND, replace=True) as draft:
            (draft / MARKER).touch()
            in_use.rename(moved)

    with pytest.raises(FolderError, match=r"target: cannot be written \(No such file"):
        move()
    with claimed(moved):
        pass
    assert content(moved) == OLD | MINE


def test_a_folder_in_use_is_not_replaced(in_use):
    with claimed(in_use):
        other = os.fork() if hasattr(os, "fork") else None
        if other == 0:
            try:
                write(in_use, "new", replace=True)
            except FolderError as error:
                os._exit(0 if "in use by another command" in str(error) else 1)
            os._exit(2)
        if other is not None:
            assert os.waitpid(other, 0)[1] == 0
    assert content(in_use) == OLD | MINE


def test_who_holds_a_folder_may_replace_it(in_use):
    with claimed(in_use):
        write(in_use, "new", "page", replace=True)
        assert inside(in_use).exists()
    assert content(in_use) == NEW | MINE


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


def test_the_working_folder_itself_can_be_written(in_use, monkeypatch):
    monkeypatch.chdir(in_use)
    write(Path(), "new", "page", replace=True)
    assert content(Path()) == content(in_use) == NEW | MINE


def test_a_link_goes_on_pointing_to_the_folder_that_is_written(in_use):
    link = in_use.with_name("link")
    link.symlink_to(in_use.name)
    write(link, "new", "page", replace=True)
    assert os.readlink(link) == "target"
    assert content(in_use) == NEW | MINE
    assert sorted(path.name for path in in_use.parent.iterdir()) == ["link", "target"]


def test_nothing_behind_a_link_is_deleted(in_use, tmp_path):
    """A file or a folder of ours that is a link gives way, and what it points to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.png").write_text("mine")
    (in_use / "extra").unlink()
    (in_use / "extra").symlink_to(outside / "a.png")
    (in_use / "page").unlink()
    (in_use / "page").symlink_to(outside / "a.png")
    (in_use / "figures").rename(in_use / "kept")
    (in_use / "figures").symlink_to(outside)
    write(in_use, "new", "page", replace=True)
    assert (outside / "a.png").read_text() == "mine"
    assert (in_use / "page").read_text() == "new"
    assert not (in_use / "extra").is_symlink()
    assert (in_use / "figures").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_the_umask_decides_who_may_read(target, umask):
    before = os.umask(umask)
    try:
        write(target, "old", "page")
        assert target.stat().st_mode & 0o777 == 0o777 & ~umask
        write(target, "new", "page", replace=True)
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in target.iterdir()} == {0o666 & ~umask}


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256_of(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
