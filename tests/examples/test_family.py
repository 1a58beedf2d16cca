"""The small family of the quick start is consistent, and some of its facts are missing on purpose."""

import csv
from pathlib import Path

FILE = Path(__file__).parents[2] / "examples" / "family.csv"

with FILE.open(encoding="utf-8", newline="") as file:
    ROWS = [(row["subject"], row["relation"], row["object"]) for row in csv.DictReader(file)]
FACTS = {(subject, relation): value for subject, relation, value in ROWS}


def people(*relations: str) -> set[str]:
    return {value for (_, relation), value in FACTS.items() if relation in relations}


def test_no_person_has_two_objects_for_one_relation():
    assert len(FACTS) == len(ROWS)


def test_the_mother_of_the_wife_of_alice_is_mary():
    assert FACTS[FACTS["Alice", "wife"], "mother"] == "Mary"


def test_spouses_are_each_other():
    spouse = {s: value for (s, relation), value in FACTS.items() if relation in {"wife", "husband"}}
    assert all(spouse[spouse[person]] == person for person in spouse)


def test_wives_and_mothers_are_never_husbands_or_fathers():
    assert people("wife", "mother").isdisjoint(people("husband", "father"))


def test_everyone_named_is_a_subject_and_some_facts_are_missing():
    subjects = {subject for subject, _ in FACTS}
    assert people("wife", "husband", "mother", "father") <= subjects
    assert ("Alice", "father") not in FACTS
    assert ("Leo", "job") not in FACTS
