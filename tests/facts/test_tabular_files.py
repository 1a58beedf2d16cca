import datetime
import itertools
import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georecall.errors import TableError
from georecall.facts import parquet_files
from georecall.facts.names import RESERVED, normalise
from georecall.facts.readers import read_with_report
from georecall.facts.reports import ReadReport
from georecall.facts.table import FactTable

cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=RESERVED)).filter(normalise)


def lines(*records):
    return "".join(f'{{"subject": {s}, "relation": {r}, "object": {o}}}\n' for s, r, o in records)


def read_lines(tmp_path, text, **options):
    path = tmp_path / "facts.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_with_report(path, **options)


def read_frame(tmp_path, columns, **options):
    path = tmp_path / "facts.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return read_with_report(path, **options)


def test_json_numbers_and_booleans_keep_their_literal_text(tmp_path):
    long = "1234567890" * 500
    table, _ = read_lines(
        tmp_path, lines((long, '"r"', "1e5"), ("1.50", '"r"', "-0"), ('"007"', '"r"', "true"))
    )
    assert list(table.facts()) == [(long, "r", "1e5"), ("1.50", "r", "-0"), ("007", "r", "true")]


def test_json_null_is_blank_and_the_text_null_is_a_name(tmp_path):
    text = lines(('"a"', '"r"', "null"), ('"b"', '"r"', '"null"'))
    with pytest.raises(TableError, match=r"line 1, column 'object'"):
        read_lines(tmp_path, text)
    table, report = read_lines(tmp_path, text, allow_missing=True)
    assert list(table.facts()) == [("b", "r", "null")]
    assert report.blanks == 1


def test_json_lines_may_be_wide_in_any_order_of_keys(tmp_path):
    table, _ = read_lines(tmp_path, '\ufeff{"who": "a", "wife": "b"}\n\n{"wife": "d", "who": "c"}\r\n')
    assert list(table.facts()) == [("a", "wife", "b"), ("c", "wife", "d")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"subject": "a", "relation": "r"', "line 3, character 33: expected JSON"),
        ('["a", "r", "o"]', "line 3: expected a JSON object"),
        ('{"subject": "a", "relation": "r"}', "line 3: 'subject', 'relation'"),
        (
            '{"subject": "a", "relation": "r", "object": "o", "x": 1}',
            "line 3: 'subject', 'relation', 'object', 'x'",
        ),
        ('{"subject": "a", "relation": "r", "object": ["o"]}', "line 3, column 'object'"),
        ('{"subject": {}, "relation": "r", "object": "o"}', "line 3, column 'subject'"),
        ('{"subject": "a", "relation": "r", "object": NaN}', "line 3: expected JSON: NaN is no JSON value"),
        (
            '{"subject": "a", "relation": "r", "object": "o", "object": "p"}',
            "line 3: .*key 'object' more than once",
        ),
        ('{"subject": "a", "relation": "r", "object": "\\ud800"}', "line 3, column 'object'.*lone surrogate"),
        ("[" * 100_000, "line 3: expected JSON"),
    ],
)
def test_faulty_json_lines_are_refused(tmp_path, line, message):
    with pytest.raises(TableError, match=message):
        read_lines(tmp_path, lines(('"a"', '"b"', '"c"')) + "\n" + line + "\n")


def test_json_lines_that_are_not_utf8_are_refused_with_the_line(tmp_path):
    (tmp_path / "facts.ndjson").write_bytes(lines(('"a"', '"b"', '"c"')).encode() + b'{"subject": "\xff"}')
    with pytest.raises(TableError, match="line 2, byte offset"):
        read_with_report(tmp_path / "facts.ndjson")


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(cells, cells, cells),
        min_size=1,
        max_size=5,
        unique_by=lambda f: (normalise(f[0]), normalise(f[1])),
    )
)
def test_any_names_survive_json_lines_and_parquet(tmp_path_factory, facts):
    folder = tmp_path_factory.mktemp("facts")
    records = [dict(zip(("subject", "relation", "object"), fact, strict=True)) for fact in facts]
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    pl.DataFrame(records).write_parquet(folder / "facts.parquet")
    expected = FactTable.from_facts(facts)
    assert read_with_report(folder / "facts.jsonl")[0] == expected
    assert read_with_report(folder / "facts.parquet")[0] == expected


def test_parquet_columns_of_whole_numbers_and_categories_become_text(tmp_path):
    columns = {
        "object": pl.Series([2**63, 7], dtype=pl.UInt64),
        "subject": pl.Series(["a", "b"], dtype=pl.Categorical),
        "relation": pl.Series(["r", "r"], dtype=pl.Enum(["r"])),
        "weight": [0.5, 0.25],
    }
    table, report = read_frame(tmp_path, columns)
    assert list(table.facts()) == [("a", "r", "9223372036854775808"), ("b", "r", "7")]
    assert report == ReadReport(ignored_columns=("weight",))


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], [True, False], [datetime.date(2000, 1, 1)] * 2, [["a"], ["b"]]]
)
def test_other_parquet_columns_are_refused(tmp_path, values):
    with pytest.raises(TableError, match="column 'year': expected text or whole numbers, got"):
        read_frame(tmp_path, {"who": ["a", "b"], "year": values})


def test_parquet_nulls_are_blank_and_named_by_row(tmp_path):
    columns = {"who": ["a", "b"], "wife": ["c", None], "age": pl.Series([None, None], dtype=pl.Null)}
    with pytest.raises(TableError, match=r"row 1, column 'age'.*\n.*row 2, column 'wife'"):
        read_frame(tmp_path, columns)
    table, report = read_frame(tmp_path, columns, allow_missing=True)
    assert list(table.facts()) == [("a", "wife", "c")]
    assert report.blanks == 3


def test_parquet_columns_with_pattern_like_names_are_read(tmp_path):
    table, _ = read_frame(tmp_path, {"^who$": ["a"], "^.*$": ["b"], "*": ["c"]})
    assert list(table.facts()) == [("a", "^.*$", "b"), ("a", "*", "c")]


def test_a_parquet_file_without_rows_or_content_is_refused(tmp_path):
    with pytest.raises(TableError, match="no facts"):
        read_frame(tmp_path, {"subject": [], "relation": [], "object": []})
    (tmp_path / "text.parquet").write_text("not parquet")
    with pytest.raises(TableError, match="expected a Parquet file"):
        read_with_report(tmp_path / "text.parquet")


def test_parquet_files_are_read_slice_by_slice(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_files, "_SLICE", 3)
    names = [f"x{i}" for i in range(7)]
    columns = {"subject": names, "relation": ["r"] * 7, "object": [*names[1:], None]}
    table, _ = read_frame(tmp_path, columns, allow_missing=True)
    assert list(table.facts()) == [(one, "r", following) for one, following in itertools.pairwise(names)]
    with pytest.raises(TableError, match="row 7"):
        read_frame(tmp_path, columns)


def test_a_column_named_twice_is_refused(tmp_path):
    for header in ("who,wife, wife", "subject,relation,object,object"):
        (tmp_path / "facts.csv").write_text(f"{header}\na,b,c,d\n")
        with pytest.raises(TableError, match=r"column name more than once: '(wife|object)'"):
            read_with_report(tmp_path / "facts.csv")
