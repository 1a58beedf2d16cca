"""Every relation has a sentence that holds the subject once, and what does not fit is named."""

import json
from pathlib import Path

import pytest

from georecall.errors import ProbingError
from georecall.language_models.templates import DEFAULT_SUBJECT, Templates, read_templates

RELATIONS = ("capital", "currency")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "sentences.json"


def test_a_relation_without_a_template_is_asked_by_its_name():
    given = Templates(relations={"capital": ("{subject}:", "In {subject}")})
    assert given.completed(RELATIONS).relations == {
        "capital": ("{subject}:", "In {subject}"),
        "currency": ("The currency of {subject} is",),
    }


def test_an_empty_list_of_templates_is_none():
    assert Templates(relations={"capital": ()}).completed(["capital"]) == Templates().completed(["capital"])


def test_relations_keep_the_order_of_the_table_and_completing_twice_is_completing_once():
    once = Templates(relations={"currency": ("{subject}",)}).completed(RELATIONS)
    assert tuple(once.relations) == RELATIONS
    assert once.completed(RELATIONS) == once


def test_a_template_for_a_relation_that_the_table_lacks_is_refused_on_one_line():
    with pytest.raises(ProbingError) as caught:
        Templates(relations={"capitol": ("{subject}",)}).completed(("capital", "new\nline"))
    assert str(caught.value) == (
        r"expected templates for relations of the table, 'capital', 'new\nline'; got 'capitol'"
    )


@pytest.mark.parametrize(
    ("text", "count"), [("Let us talk", 0), ("{subject} and {subject}", 2), ("{Subject}", 0)]
)
@pytest.mark.parametrize("part", ["subject", "relation"])
def test_a_template_that_does_not_hold_the_subject_once_is_refused(part, text, count):
    sentences = (
        Templates(subject=text)
        if part == "subject"
        else Templates(relations={"capital": ("{subject}", text)})
    )
    with pytest.raises(ProbingError, match="exactly once") as caught:
        sentences.completed(RELATIONS)
    assert f"{text!r} with {count}" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, Templates()),
        ({"subject": "So {subject}"}, Templates(subject="So {subject}")),
        (
            {"relations": {"currency": ["{subject} pays"]}},
            Templates(relations={"currency": ("{subject} pays",)}),
        ),
    ],
    ids=["neither", "subject", "relations"],
)
def test_both_parts_of_a_file_are_optional(content, expected, path):
    path.write_text(json.dumps(content), encoding="utf-8")
    assert read_templates(path, RELATIONS) == expected.completed(RELATIONS)
    assert DEFAULT_SUBJECT.count("{subject}") == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "missing; expected a file of templates"),
        ("{", "is not JSON (Expecting property name"),
        (b"\xff{}", "is not JSON ('utf-8' codec"),
        ('{"subject": "{subject}", "subject": "So {subject}"}', "is not JSON (key 'subject' more than once"),
        ('{"relations": {"capital": [], "capital": []}}', "is not JSON (key 'capital' more than once"),
        ("[" * 100_000, "is not JSON (too many lists"),
        ('{"subject": ' + "9" * 5000 + "}", "9' is no finite number"),
        ('{"subject": NaN}', "is not JSON (NaN is no JSON value"),
        ("[1]", "expected a JSON object, got [1]"),
        ('{"subjects": "{subject}"}', "subjects: is not expected here"),
        ('{"subject": 3}', "subject: expected a valid string, got 3"),
        ('{"relations": {"capital": "{subject}"}}', "relations.capital: expected a JSON array, got '{subject}'"),
        ('{"relations": {"capital": [null]}}', "relations.capital.0: expected a valid string, got None"),
        ('{"relations": {"capital": ["is"]}}', "exactly once, got 'is' with 0"),
        ('{"relations": {"capitol": ["{subject}"]}}', "'capital', 'currency'; got 'capitol'"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_once_with_the_reason(content, says, path):
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ProbingError) as caught:
        read_templates(path, RELATIONS)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert said.count(str(path)) == 1
    assert says in said


def test_a_folder_is_no_file_of_templates(tmp_path):
    with pytest.raises(ProbingError, match="expected a file of templates"):
        read_templates(tmp_path, RELATIONS)


def test_a_byte_order_mark_is_passed_over(path):
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"subject": "So {subject}"}).encode())
    assert read_templates(path, RELATIONS).subject == "So {subject}"
