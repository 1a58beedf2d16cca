"""The shipped table of countries is complete, consistent and true where it is spot-checked."""

import csv
import importlib.util
import unicodedata
from collections import Counter
from functools import reduce
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "countries"
COUNTRY_RELATIONS = {
    "capital",
    "continent",
    "currency",
    "currency code",
    "official language",
    "demonym",
    "calling code",
    "top-level domain",
    "ISO code",
}
HOPS = {
    "capital",
    "country",
    "continent",
    "largest neighbour",
    "largest country",
    "most populous country",
}

with (FOLDER / "countries.csv").open(encoding="utf-8", newline="") as file:
    HEADER, *ROWS = list(csv.reader(file))
FACTS = {(subject, relation): value for subject, relation, value in ROWS}
SUBJECTS = {subject for subject, _ in FACTS}
COUNTRIES = {subject for subject, relation in FACTS if relation == "ISO code"}


def follow(subject: str, *relations: str) -> str:
    return reduce(lambda entity, relation: FACTS[entity, relation], relations, subject)


def test_the_file_is_long_form_utf8_with_lf_line_ends():
    data = (FOLDER / "countries.csv").read_bytes()
    assert HEADER == ["subject", "relation", "object"]
    assert data.endswith(b"\n")
    assert b"\r" not in data
    assert not data.startswith(b"\xef\xbb\xbf")


def test_no_subject_has_two_objects_for_one_relation():
    counts = Counter((subject, relation) for subject, relation, _ in ROWS)
    assert max(counts.values()) == 1


def test_every_name_is_filled_stripped_and_in_nfc():
    names = {name for row in ROWS for name in row}
    assert all(name and name == name.strip() for name in names)
    assert all(unicodedata.is_normalized("NFC", name) for name in names)


def test_195_countries_have_at_least_eight_relations_each():
    counts = Counter(subject for subject, _ in FACTS)
    assert len(COUNTRIES) == 195
    assert min(counts[country] for country in COUNTRIES) >= 8


def test_only_the_demonym_of_vatican_city_is_missing():
    missing = {(c, r) for c in COUNTRIES for r in COUNTRY_RELATIONS} - FACTS.keys()
    assert missing == {("Vatican City", "demonym")}


def test_the_country_of_every_capital_leads_back():
    assert all(follow(country, "capital", "country") == country for country in COUNTRIES)
    capitals = {subject for subject, relation in FACTS if relation == "country"}
    assert all(follow(capital, "country", "capital") == capital for capital in capitals)


def test_a_capital_lies_on_the_continent_of_its_country():
    assert all(follow(c, "capital", "continent") == follow(c, "continent") for c in COUNTRIES)


def test_the_countries_named_for_a_continent_lie_on_it():
    continents = {FACTS[country, "continent"] for country in COUNTRIES}
    for relation in ("largest country", "most populous country"):
        assert all(follow(continent, relation, "continent") == continent for continent in continents)


def test_every_largest_neighbour_is_another_country():
    neighbours = {(s, value) for (s, relation), value in FACTS.items() if relation == "largest neighbour"}
    assert len(neighbours) == 156
    assert all(subject != value and value in COUNTRIES for subject, value in neighbours)


def test_exactly_the_hops_lead_from_subject_to_subject():
    assert all((value in SUBJECTS) == (relation in HOPS) for (_, relation), value in FACTS.items())


def test_no_two_entities_differ_only_in_accents_or_punctuation():
    names = SUBJECTS | {value for (_, relation), value in FACTS.items() if relation in HOPS}
    folded = Counter(
        "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if c.isalnum()) for name in names
    )
    assert max(folded.values()) == 1


def test_rows_are_countries_then_capitals_then_continents():
    def group(subject: str) -> int:
        return 0 if subject in COUNTRIES else 1 if (subject, "country") in FACTS else 2

    groups = [group(subject) for subject, _, _ in ROWS]
    assert groups == sorted(groups)


@pytest.mark.parametrize(
    ("subject", "relations", "answer"),
    [
        ("France", ["capital"], "Paris"),
        ("France", ["largest neighbour", "capital", "country"], "Spain"),
        ("Singapore", ["capital", "country"], "Singapore"),
        ("Nairobi", ["country", "continent", "most populous country", "currency"], "Naira"),
        ("Canada", ["largest neighbour", "capital"], "Washington, D.C."),
        ("Oceania", ["largest country", "capital"], "Canberra"),
        ("Switzerland", ["currency code"], "CHF"),
        ("Japan", ["currency"], "Yen"),
        ("Brazil", ["official language"], "Portuguese"),
        ("Egypt", ["official language"], "Arabic"),
        ("United Kingdom", ["top-level domain"], ".uk"),
        ("India", ["calling code"], "+91"),
        ("Namibia", ["ISO code"], "NAM"),
        ("Ivory Coast", ["demonym"], "Ivorian"),
    ],
)
def test_well_known_facts_are_true(subject, relations, answer):
    assert follow(subject, *relations) == answer


@pytest.fixture
def script() -> ModuleType:
    for line in (FOLDER / "requirements.txt").read_text().split():
        package, version = line.split("==")
        try:
            installed = metadata.version(package)
        except metadata.PackageNotFoundError:
            pytest.skip(f"making the table again needs {line}, which is not installed")
        if installed != version:
            pytest.skip(f"making the table again needs {line}, installed is {installed}")
    spec = importlib.util.spec_from_file_location("make_table", FOLDER / "make_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_reproduces_the_file_bit_for_bit(script):
    assert script.csv_text().encode() == (FOLDER / "countries.csv").read_bytes()


def test_every_correction_changes_what_the_sources_say(script, monkeypatch):
    corrections = script.CORRECTIONS
    monkeypatch.setattr(script, "CORRECTIONS", {("Bulgaria", "currency code"): "EUR"})
    uncorrected = {(s, r): value for s, r, value in csv.reader(script.csv_text().splitlines())}
    assert [key for key, value in corrections.items() if uncorrected.get(key) == value] == [
        ("Bulgaria", "currency code")
    ]
