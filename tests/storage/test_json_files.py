"""JSON is read back as what it must be, or refused in one line that says where."""

from typing import Annotated, Literal

import pytest
from pydantic import Field

from georecall.errors import FolderError
from georecall.storage import json_files
from georecall.storage.json_files import Stored, json_model, read_json_model, read_object


class Sample(Stored):
    hops: Annotated[int, Field(ge=1)]
    arch: Literal["opt", "llama"] = "opt"
    margin: float = 0.0
    layout: dict[str, tuple[int, int]] = Field(default_factory=dict)


REFUSED = {
    "nothing": (b"", "is not JSON (Expecting value: line 1 column 1 (char 0))"),
    "Latin-1": (b'"\xe9"', "is not JSON ('utf-8' codec can't decode byte 0xe9 in position 1"),
    "half": (b'{"hops": 1', "is not JSON (Expecting ',' delimiter"),
    "NaN": (b'{"hops": 1, "margin": NaN}', "is not JSON (NaN is no JSON value"),
    "an infinity": (b'{"hops": 1, "margin": -Infinity}', "-Infinity is no JSON value"),
    "a number too large": (b'{"hops": 1, "margin": 1e999}', "'1e999' is no finite number"),
    "5,000 digits": (b'{"hops": ' + b"9" * 5000 + b"}", "9' is no finite number"),
    "100,000 deep": (b"[" * 100_000, "is not JSON (too many lists and objects"),
    "500 deep": (b'{"hops": ' + b"[" * 500 + b"]" * 500 + b"}", "is not JSON (recursion limit exceeded"),
    "a key twice": (b'{"hops": 1, "hops": 2}', "is not JSON (key 'hops' more than once)"),
    "a lone surrogate": (rb'{"hops": 1, "arch": "\ud800"}', "is not JSON ("),
    "a list": (b"[1]", "expected a JSON object, got [1]"),
    "null": (b"null", "expected a JSON object, got None"),
    "a field missing": (b"{}", "hops: is missing"),
    "a field too many": (b'{"hops": 1, "hopes": 2}', "hopes: is not expected here"),
    "text for a number": (b'{"hops": "1"}', "hops: expected a valid integer, got '1'"),
    "true for a number": (b'{"hops": true}', "hops: expected a valid integer, got True"),
    "a number out of range": (b'{"hops": 0}', "hops: expected a value greater than or equal to 1, got 0"),
    "another word": (b'{"hops": 1, "arch": "gpt"}', "arch: expected 'opt' or 'llama', got 'gpt'"),
    "inside": (b'{"hops": 1, "layout": {"a b": [0, "x"]}}', "layout.'a b'.1: expected a valid integer, got 'x'"),
    "several": (b'{"hops": 0, "margin": "x"}', "hops: expected a value greater than or equal to 1, got 0 (and 1 more)"),
    "a long value": (b'{"hops": "' + b"x" * 10**6 + b'"}', "xxx...xxx"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_said_in_one_line_with_the_file_and_the_way_out(content, says, tmp_path):
    path = tmp_path / "sample.json"
    path.write_bytes(content)
    with pytest.raises(FolderError) as found:
        read_json_model(path, Sample, remedy="make it again")
    said = str(found.value)
    assert said.startswith(f"{path}: ")
    assert said.endswith("; make it again")
    assert says in said
    assert "\n" not in said
    assert len(said) < 300 + len(str(path))


def test_a_byte_order_mark_is_passed_over():
    content = b'\xef\xbb\xbf{"hops": 2, "layout": {"a": [0, 1]}, "margin": 3}'
    found = json_model(content, Sample, place="text", remedy="")
    assert found == Sample(hops=2, layout={"a": (0, 1)}, margin=3.0)


def test_a_missing_file_a_folder_and_a_file_of_absurd_size_are_told_apart(tmp_path, monkeypatch):
    (tmp_path / "large.json").write_text('{"hops": 1}')
    monkeypatch.setattr(json_files, "MOST_BYTES", 10)
    for name, says in {
        "none.json": "none.json: missing",
        "": "is no file",
        "large.json": "at most 10 bytes, found 11",
    }.items():
        with pytest.raises(FolderError, match=says):
            read_object(tmp_path / name, remedy="make it again")


def test_an_object_keeps_whatever_fields_it_has(tmp_path):
    (tmp_path / "any.json").write_text('{"b": [1, 2.5, null], "a": {"": true}}')
    assert read_object(tmp_path / "any.json", remedy="") == {"b": [1, 2.5, None], "a": {"": True}}
