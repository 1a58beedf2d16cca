"""Commands take a path as a name, beside neighbours that the same text would match as a pattern."""

from pathlib import Path

import pytest

from georecall.facts.table import FactTable
from georecall.facts.table_files import write_parquet
from georecall.language_models.language_model import LanguageModel
from georecall.memory import FactMemory


@pytest.fixture
def another_home(monkeypatch, tmp_path):
    """A home below the folder in which commands are run."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [("mem[1]", "mem1"), ("m*", "mm"), ("m?", "mm"), ("~", "x"), ("a%20b", "a b"), ("a b", "x")],
)
@pytest.mark.usefixtures("another_home")
def test_a_memory_lives_in_a_folder_of_any_name(cli, family_csv, name, neighbour):
    other = FactMemory.compile(FactTable.from_facts([("Alice", "wife", "Nobody")]), hops=1)
    for folder in (neighbour, "home/mem"):
        other.save(f"{folder}/mem")
    folder = f"{name}/mem"
    assert cli("compile", family_csv, "-o", folder, "--arch", "llama").code == 0
    assert cli("ask", folder, "Alice", "wife").out.startswith("Alice –wife→ Sarah\n")
    assert cli("edit", folder, "Alice", "wife", "Mary").code == 0
    assert cli("forget", folder, "Alice", "job", "-o", f"{name}/[2]").code == 0
    assert cli("verify", folder, "--chains", "3").code == 0
    assert cli("info", f"{name}/[2]").code == 0
    assert LanguageModel.load(folder).name == "mem"
    assert cli("ask", f"{name}/[2]", "Alice", "wife").out.startswith("Alice –wife→ Mary\n")
    assert FactMemory.load(f"{neighbour}/mem").ask("Alice", "wife").answer == "Nobody"
    assert {path.name for path in Path(name).iterdir()} == {"mem", "[2]"}


def test_a_parquet_table_is_compiled_and_not_its_neighbour(cli):
    for folder, answer in (("h[ab]", "right"), ("ha", "wrong")):
        Path(folder).mkdir()
        write_parquet(FactTable.from_facts([("x", "is", answer)]), f"{folder}/t.parquet")
    assert cli("compile", "h[ab]/t.parquet", "-o", "memory").code == 0
    assert cli("ask", "memory", "x", "is").out.startswith("x –is→ right\n")


def test_a_figure_and_a_run_live_where_they_were_sent(cli):
    assert cli("bounds", "--subjects", "9", "--relations", "2", "--plot", "~/p[1]*.svg").code == 0
    short = ("--subjects", "12", "--relations", "1", "--dim", "4", "--seeds", "1", "--steps", "2")
    assert cli("train", *short, "-o", "~/r[1]?").code == 0
    assert cli("analyze", "~/r[1]?").code == 0
    assert {path.name for path in Path("~").iterdir()} == {"p[1]*.svg", "r[1]?"}
