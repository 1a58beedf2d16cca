"""The documents are true: commands print what is shown, snippets run, links lead somewhere."""

import json
import re
import shlex
import shutil

import pytest

from documents import ROOT, blocks, commands
from georecall.cli.app import app

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/memory.md", "docs/tables.md"]


@pytest.fixture
def examples(cli, tmp_path):
    """The folder in which commands run, with the examples in it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return cli


def test_the_commands_of_the_readme_print_what_it_shows(examples):
    shown = commands("".join(block.text for block in blocks(README, "console")))
    assert len(shown) == 2
    for command, output in shown:
        program, *arguments = shlex.split(command)
        result = examples(*arguments)
        assert program == "georecall"
        assert f"{command}\n{result.out}{result.err}" == f"{command}\n{output}"


def test_the_snippets_of_the_readme_print_what_their_comments_say(examples, capsys):
    examples("compile", "examples/family.csv", "-o", "family")
    names: dict[str, object] = {}
    for snippet in (block.text for block in blocks(README, "python")):
        exec(compile(snippet, "README.md", "exec"), names)  # noqa: S102
        promised = re.findall(r"^print\(.*\)  # (.*)$", snippet, flags=re.MULTILINE)
        assert len(promised) == snippet.count("print(")
        assert capsys.readouterr().out.splitlines() == promised


def test_the_make_targets_that_documents_name_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        lines = re.findall(
            r"\bmake ((?:[a-z]+ ?)+)", "\n".join(re.findall(r"^make .*$|`make [^`]*`", text, re.MULTILINE))
        )
        for target in {target for line in lines for target in line.split()}:
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_readme_lists_the_commands_that_exist_and_no_others():
    listed = re.findall(
        r"^\| ((?:`[a-z]+`(?:, )?)+) \|", TEXT.split("## Commands")[1].split("## ")[0], re.MULTILINE
    )
    named = {name for cell in listed for name in re.findall(r"[a-z]+", cell)}
    assert named == {command.name for command in app.registered_commands}


def test_the_readme_lists_the_packages_that_exist_and_no_others():
    named = re.findall(r"^\| `(\w+)` \|", TEXT.split("## Where things are")[1], re.MULTILINE)
    assert set(named) == {path.parent.name for path in (ROOT / "src/georecall").glob("*/*.py")}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_and_headings_that_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, heading = target.partition("#")
        linked = ROOT / document if not path else (ROOT / document).parent / path
        assert linked.exists(), target
        if heading:
            assert re.search(
                rf"^#+ {heading.replace('-', ' ')}$", linked.read_text(encoding="utf-8"), re.M | re.I
            )


def test_the_reference_names_every_file_and_field_of_a_memory(compiled_family):
    reference = (ROOT / "docs/memory.md").read_text(encoding="utf-8")
    for path in compiled_family.iterdir():
        assert f"`{path.name}`" in reference
    certificate = json.loads((compiled_family / "certificate.json").read_text(encoding="utf-8"))
    assert all(f"`{field}`" in reference for field in [*certificate, *certificate["proofs"][0]])
