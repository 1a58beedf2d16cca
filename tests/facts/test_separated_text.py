"""CSV and TSV files are one table, whole, or refused."""

import json

import polars as pl
import pytest

from georecall.facts import tabular_files

HEADER = "subject,relation,object\n"


@pytest.mark.parametrize(
    "content",
    [
        f'{HEADER}a,r,"b\nc,r,d\ne,r,f"\n',
        f'{HEADER}"a,r,b\nc,r,d\ne",r,f\n',
        f'{HEADER}a,"r,b\nc,r",d\n',
        f'{HEADER}a,r,"b\r\nc,r,d"\r\n',
        f'{HEADER}a,r,"b\nc,r,d\n' + "e,r,f\n" * 50_000 + 'g,r,h"\n',
        'subject,relation,"object\na,r,b"\nc,r,d\n',
    ],
    ids=["last column", "first column", "middle column", "CRLF", "far below", "header"],
)
def test_a_quotation_mark_that_swallows_rows_is_refused_where_it_opens(refusal, content):
    line = 1 if content.startswith('subject,relation,"') else 2
    message = refusal(content)
    assert f"line {line}, field " in message
    assert "a quoted field that holds rows of the table" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["Hall 3,\nRue 1, Paris", "a\nb", "a\n\nb", ",\n", "one, two,\nthree, four"])
def test_a_name_of_several_lines_stays_one(read, name):
    table, _ = read(f'{HEADER}a,r,"{name}"\n"{name}",r,c\n')
    assert table.n_facts == 2
    assert name.strip("\n") in table.attributes


def test_a_name_may_be_as_long_as_in_json_lines(read):
    long = "x" * 200_000
    record = json.dumps({"subject": "a", "relation": "r", "object": long}) + "\n"
    assert read(f"{HEADER}a,r,{long}\n")[0] == read(record, "facts.jsonl")[0]
    assert read(f'{HEADER}a,r,"{long}"\n')[0].attributes == (long,)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("name", ["facts.csv", "facts.tsv", "facts.jsonl", "facts.json"])
def test_text_of_two_bytes_a_letter_is_refused(refusal, encoding, name):
    assert "UTF-16" in refusal(f"{HEADER}a,r,b\n".encode(encoding), name) or name.endswith(("jsonl", "json"))


def test_a_million_columns_are_refused_before_they_are_read(refusal, monkeypatch):
    monkeypatch.setattr(tabular_files, "MAX_COLUMNS", 5)
    names = [f"c{i}" for i in range(6)]
    for content, name in (
        (",".join(names) + "\n" + ",".join(names) + "\n", "facts.csv"),
        (json.dumps(dict.fromkeys(names, "x")) + "\n", "facts.jsonl"),
    ):
        assert "expected at most 5 columns, got 6" in refusal(content, name)


def test_a_wide_parquet_file_is_refused_by_its_number_of_columns(tmp_path, monkeypatch, refusal):
    monkeypatch.setattr(tabular_files, "MAX_COLUMNS", 5)
    pl.DataFrame({f"c{i}": ["x"] for i in range(6)}).write_parquet(tmp_path / "wide.parquet")
    assert "expected at most 5 columns, got 6" in refusal(
        (tmp_path / "wide.parquet").read_bytes(), "f.parquet"
    )


def test_a_message_about_many_columns_lists_ten(refusal):
    names = [f"c{i}" for i in range(1000)]
    header = ",".join(names)
    assert len(refusal(f"{header}\n{header},x\n")) < 500
    assert "… 1,000 in all" in refusal(f"{header}\n{header}\n", form="long")
    assert "… 1,000 in all" in refusal(f"{header},{header}\n")
    first, second = (json.dumps(dict.fromkeys(keys, "x")) for keys in (names, names[1:]))
    assert "… 999 in all" in refusal(f"{first}\n{second}\n", "facts.jsonl")
