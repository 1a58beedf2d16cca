import json

import pytest

from georecall.errors import TableError
from georecall.facts.readers import read_with_report

CAPITALS = {
    "name": "country capital",
    "prompt_templates": ["The capital of {} is"],
    "samples": [{"subject": "France", "object": "Paris"}, {"subject": "Peru", "object": "Lima", "note": 1}],
}
AGES = {"name": "age", "samples": [{"subject": "Peru", "object": 203}]}


def read(tmp_path, content, **options):
    path = tmp_path / "relations.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_with_report(path, **options)


def test_a_byte_order_mark_and_numbers_of_any_length_are_read(tmp_path):
    digits = "9" * 5000
    content = f'\ufeff{{"name": "r", "samples": [{{"subject": {digits}, "object": 1.{digits}e999}}]}}'
    assert list(read(tmp_path, content)[0].facts()) == [(digits, "r", f"1.{digits}e999")]


def test_one_relation_is_a_table(tmp_path):
    table, report = read(tmp_path, CAPITALS)
    assert list(table.facts()) == [
        ("France", "country capital", "Paris"),
        ("Peru", "country capital", "Lima"),
    ]
    assert report.notes() == ()


def test_several_relations_share_their_subjects(tmp_path):
    table, _ = read(tmp_path, [CAPITALS, AGES])
    assert table.subjects == ("France", "Peru")
    assert table.relations == ("country capital", "age")
    assert table.n_facts == 3
    assert list(table.facts())[-1] == ("Peru", "age", "203")


def test_conflicts_and_blanks_are_named_by_sample_and_relation(tmp_path):
    clash = {"name": "age", "samples": [{"subject": "Peru", "object": "204"}]}
    with pytest.raises(
        TableError, match=r"samples 3 and 4, .*subject 'Peru', relation 'age': '203' and '204'"
    ):
        read(tmp_path, [CAPITALS, AGES, clash])
    blank = {"name": "age", "samples": [{"subject": "Peru", "object": None}]}
    with pytest.raises(TableError, match=r"sample 1, column 'object': subject 'Peru', relation 'age'"):
        read(tmp_path, blank)
    assert read(tmp_path, blank, allow_missing=True)[0].n_facts == 0
    with pytest.raises(TableError, match="sample 1, column 'name'"):
        read(tmp_path, {"name": "", "samples": AGES["samples"]})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1, character 2: expected JSON"),
        ('{"name": "r",\n "samples": [}', "line 2, character 14: expected JSON"),
        ("[]", "no facts"),
        ("3", "relation 1: expected an object with the key 'name', got 3"),
        ([CAPITALS, "x"], "relation 2: expected an object with the key 'name', got x"),
        (
            [{"subject": "a", "relation": "r", "object": "b"}],
            "relation 1: expected an object with the key 'name'",
        ),
        ({"name": "r"}, r"relation 1 \('r'\): expected a list of samples"),
        ({"name": "r", "samples": []}, r"relation 1 \('r'\): expected a list of samples"),
        ({"name": "r", "samples": [{"subject": "a"}]}, r"sample 1 \(relation 'r'\): .*key 'object'"),
        ({"name": "r", "samples": [["a", "b"]]}, r"sample 1 \(relation 'r'\): .*key 'subject'"),
        (
            {"name": "r", "samples": [{"subject": "a", "object": ["b"]}]},
            "expected text under the key 'object'",
        ),
        ('{"name": "r", "samples": [], "samples": []}', "key 'samples' more than once"),
        ('{"name": "r", "samples": [{"subject": "a", "subject": "b"}]}', "key 'subject' more than once"),
        ("[" * 100_000, "too many lists and objects within one another"),
        ('{"a":' * 900 + "1" + "}" * 900, "relation 1: expected an object with the key 'name'"),
        ('{"name": "r", "samples": [{"subject": "a", "object": -Infinity}]}', "-Infinity is no JSON value"),
        ({"name": ["r"], "samples": []}, "expected text under the key 'name'"),
    ],
)
def test_files_of_another_shape_are_refused(tmp_path, content, message):
    with pytest.raises(TableError, match=message):
        read(tmp_path, content)


def test_forms_and_column_names_are_refused(tmp_path):
    for options in ({"form": "long"}, {"subject": "subject"}):
        with pytest.raises(TableError, match="expected no form and no column names"):
            read(tmp_path, CAPITALS, **options)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "relations.json").write_bytes(b'{"name":\n"\xe9"}')
    with pytest.raises(TableError, match="line 2, byte offset 10"):
        read_with_report(tmp_path / "relations.json")
