"""A path is a name: `[ ]`, `*`, `?`, `~`, `%20` and spaces stand for themselves, whatever the neighbours are called."""

import pytest

from georecall.facts.readers import read_table
from georecall.facts.table import FactTable
from georecall.facts.table_files import read_parquet, write_parquet

RIGHT = FactTable.from_facts([("Alice", "wife", "Sarah")])
OTHER = FactTable.from_facts([("Alice", "wife", "Mary"), ("Bob", "job", "baker")])

NAMES = [
    ("h[ab]", "ha"),
    ("one*", "one1"),
    ("one?", "one1"),
    ("{a,b}", "a"),
    ("~", "x"),
    ("a%20b", "a b"),
    ("a b", "a%20b"),
    ("**", "x"),
    ("[!x]", "y"),
    ("file:", "x"),
]
"""Names that are patterns or are written otherwise elsewhere, and a neighbour that would be found instead."""


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    """Relative paths, as `~` means home at their beginning only, and a home that holds other things."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


@pytest.mark.parametrize(("name", "neighbour"), NAMES)
def test_a_parquet_file_in_a_folder_named_like_a_pattern_is_the_one_that_is_read(name, neighbour, tmp_path):
    for folder, table in ((name, RIGHT), (neighbour, OTHER), ("home", OTHER)):
        (tmp_path / folder).mkdir(exist_ok=True)
        write_parquet(table, f"{folder}/t.parquet")
    assert read_table(f"{name}/t.parquet") == read_parquet(f"{name}/t.parquet") == RIGHT


@pytest.mark.parametrize(("name", "neighbour"), NAMES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_named_like_a_pattern_is_the_one_that_is_read(name, neighbour, suffix, tmp_path):
    for stem, table in ((name, RIGHT), (neighbour, OTHER)):
        if suffix == ".parquet":
            write_parquet(table, f"{stem}{suffix}")
        else:
            rows = "\n".join(",".join(fact) for fact in table.facts())
            (tmp_path / f"{stem}{suffix}").write_text(f"subject,relation,object\n{rows}\n")
    assert read_table(f"{name}{suffix}") == RIGHT


@pytest.mark.parametrize(("name", "neighbour"), NAMES)
def test_writing_touches_no_neighbour(name, neighbour, tmp_path):
    write_parquet(OTHER, f"{neighbour}.parquet")
    write_parquet(RIGHT, f"{name}.parquet")
    assert read_table(f"{neighbour}.parquet") == OTHER
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"home", f"{name}.parquet", f"{neighbour}.parquet"}
