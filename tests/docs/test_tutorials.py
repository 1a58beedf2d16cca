"""The quick start and the tutorials, followed as a newcomer would: every command and snippet prints what is shown."""

import shlex
import shutil

import pytest

from documents import ROOT, VARIES, agrees, blocks, commands, with_outputs
from georecall.language_models.packaged_model import missing_packaged_model

DOCS = ROOT / "docs"
PAGES = [DOCS / "index.md", DOCS / "tables.md", *sorted((DOCS / "tutorials").glob("*.md"))]
LANGUAGES = {"console", "csv", "python", "sh", "text"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page, cli, tmp_path, capsys):
    if page.stem == "probe" and (missing := missing_packaged_model()):
        pytest.skip(missing)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    names: dict[str, object] = {}
    for block, output in with_outputs(blocks(page)):
        if block.language == "csv":
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, page.name, "exec"), names)  # noqa: S102
            printed = capsys.readouterr().out
            assert agrees(output.text, printed, title=output.title), printed
        elif block.language == "console":
            for command, shown in commands(block.text):
                program, *arguments = shlex.split(command)
                result = cli(*arguments)
                assert program == "georecall"
                assert agrees(shown, result.out + result.err, title=block.title), result.out + result.err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_only_blocks_that_are_understood(page):
    text = page.read_text(encoding="utf-8")
    found = blocks(page)
    assert text.count("```") == 2 * len(found)
    assert {block.language for block in found} <= LANGUAGES
    assert {block.title for block in found if block.language != "csv"} <= {"", VARIES}


@pytest.mark.parametrize(
    ("shown", "printed", "title", "verdict"),
    [
        ("d = 4\n", "d = 4  \n", "", True),
        ("d = 4\n", "d = 5\n", "", False),
        ("d = 4\n", "d =  1,205.5\n", VARIES, True),
        ("d = 4\n", "width = 4\n", VARIES, False),
        ("3, 3\n", "3, 3, 3\n", VARIES, False),
        ("first\n…\nlast\n", "first\nbetween\nand\nlast\n", "", True),
        ("first\n…\n", "first\n", "", True),
        ("…\nlast\n", "last\nmore\n", "", False),
        ("a.c\n", "abc\n", "", False),
    ],
)
def test_outputs_are_compared_as_the_documents_say(shown, printed, title, verdict):
    assert agrees(shown, printed, title=title) is verdict
