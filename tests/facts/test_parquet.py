import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from georecall.errors import TableError
from georecall.facts.names import RESERVED, normalise
from georecall.facts.readers import read_table, read_with_report
from georecall.facts.table import FactTable
from georecall.facts.table_files import read_parquet, write_parquet
from georecall.facts.worlds import random_bijections, random_functions

names = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters=RESERVED)).map(normalise).filter(bool)
)


some, any_number = (st.lists(names, min_size=least, max_size=4, unique=True).map(tuple) for least in (1, 0))


@settings(deadline=None)
@given(some, some, any_number, st.integers(0, 99))
def test_the_identical_table_comes_back(tmp_path_factory, subjects, relations, attributes, seed):
    answers = np.random.default_rng(seed).integers(-1, len(attributes), size=(len(subjects), len(relations)))
    table = FactTable(subjects, relations, attributes, answers)
    path = tmp_path_factory.mktemp("tables") / "table.parquet"
    write_parquet(table, path)
    back = read_parquet(path)
    assert back == table
    assert back.digest() == table.digest()


@pytest.mark.parametrize(
    "table",
    [
        random_bijections(50, 3, rng=np.random.default_rng(0)),
        random_bijections(50, 3, rng=np.random.default_rng(0), disjoint=True),
        random_functions(50, 3, 200, rng=np.random.default_rng(0), missing=0.6),
        random_functions(2, 2, 3, rng=np.random.default_rng(0), missing=1.0),
        FactTable(("s",), ("r",), (), np.array([[-1]])),
    ],
)
def test_the_readers_give_back_a_written_table_with_all_its_gaps(tmp_path, table):
    write_parquet(table, tmp_path / "table.parquet")
    assert read_table(tmp_path / "table.parquet") == table


def test_others_can_read_the_columns(tmp_path):
    table = FactTable.from_facts([("a", "r", "b"), ("c", "q", "a")])
    write_parquet(table, tmp_path / "table.parquet")
    frame = pl.read_parquet(tmp_path / "table.parquet")
    assert frame.schema == {"subject": pl.String, "relation": pl.String, "object": pl.String}
    assert frame.drop_nulls().rows() == list(table.facts())


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    table = FactTable.from_facts([("a", "r", "b"), ("c", "r", "a")])
    write_parquet(table, path)
    frame, mark = pl.read_parquet(path), {"georecall": table.digest()}
    swapped = frame.with_columns(object=pl.Series(["a", "b", "b", "a"]))
    for changed in (swapped, frame.head(3), frame.tail(2), frame.slice(1), frame.drop("object")):
        changed.write_parquet(path, metadata=mark)
        with pytest.raises(TableError, match=r"table\.parquet: not as write_parquet left it"):
            read_parquet(path)


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "text.parquet").write_text("subject,relation,object\n")
    pl.DataFrame({"subject": ["a"], "relation": ["r"], "object": ["b"]}).write_parquet(
        tmp_path / "plain.parquet"
    )
    for name, message in (
        ("text.parquet", "expected a Parquet file"),
        ("none.parquet", "expected a Parquet file"),
        ("plain.parquet", "expected a file of write_parquet"),
    ):
        with pytest.raises(TableError, match=message):
            read_parquet(tmp_path / name)


def test_a_written_file_read_as_wide_or_by_columns_is_an_ordinary_file(tmp_path):
    write_parquet(FactTable.from_facts([("a", "r", "b")]), tmp_path / "table.parquet")
    with pytest.raises(TableError, match="row 2, column 'subject'"):
        read_with_report(tmp_path / "table.parquet", subject="subject", form="long")
