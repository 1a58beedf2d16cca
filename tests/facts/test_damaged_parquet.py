"""A Parquet file that is damaged or made to mislead is one error: no panic, no abort, no other table."""

import io

import numpy as np
import polars as pl
import pytest

from georecall.errors import TableError
from georecall.facts import parquet_footer
from georecall.facts.parquet_footer import DamagedParquetError, check_structure
from georecall.facts.readers import read_table
from georecall.facts.table import FactTable
from georecall.facts.table_files import write_parquet

TABLE = FactTable.from_facts(
    [(f"x{i}", relation, f"x{(i * 7) % 40}") for i in range(40) for relation in "rq"]
)
CASES = 600


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes cut short, with some taken out, or with some changed."""
    changed = bytearray(data)
    place, way = int(rng.integers(len(changed))), rng.random()
    if way < 0.15:
        return bytes(changed[:place])
    if way < 0.25:
        del changed[place : place + int(rng.integers(1, 40))]
        return bytes(changed)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        place = int(rng.integers(len(changed)))
        changed[place] = rng.choice([changed[place] ^ 1 << rng.integers(8), rng.integers(256), 255, 0, 127])
    return bytes(changed)


def test_a_damaged_file_is_the_same_table_or_one_line_that_names_it(tmp_path, capfd):
    path = tmp_path / "facts.parquet"
    write_parquet(TABLE, path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    for _ in range(CASES):
        path.write_bytes(damaged(whole, rng))
        try:
            assert read_table(path) == TABLE
        except TableError as error:
            refused += 1
            what, *places = str(error).split("\n  ")
            assert what.startswith(str(path))
            assert not any("\n" in place for place in (what, *places))
    assert refused > CASES / 2
    assert capfd.readouterr() == ("", "")


def _written(frame: pl.DataFrame, **options: object) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


FRAME = pl.DataFrame(
    {
        "subject": [f"s{i}" for i in range(3000)],
        "number": range(3000),
        "list": [[i] * (i % 3) for i in range(3000)],
        "struct": [{"a": i, "b": None} for i in range(3000)],
        "gaps": [None, "x", "y"] * 1000,
    }
)


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd", "lz4", "gzip"])
@pytest.mark.parametrize("options", [{}, {"row_group_size": 700}, {"data_page_size": 100}])
def test_every_sound_file_passes(compression, options, tmp_path):
    (tmp_path / "x.parquet").write_bytes(_written(FRAME, compression=compression, **options))
    assert check_structure(tmp_path / "x.parquet") == 6


def test_a_file_without_rows_passes(tmp_path):
    (tmp_path / "x.parquet").write_bytes(_written(FRAME.head(0)))
    assert check_structure(tmp_path / "x.parquet") == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "does not begin and end"),
        (b"PAR1PAR1", "does not begin and end"),
        (b"PAR1" + b"\0" * 20, "does not begin and end"),
        (b"PAR1" + b"\xff\xff\xff\x7fPAR1", "footer is longer"),
        (b"PAR1" + b"\0" + b"\x01\0\0\0PAR1", "cannot be read"),
        (b"PAR1" + b"\xff" * 12 + b"\x0c\0\0\0PAR1", "unknown kind|cannot be read|without end"),
        (b"PAR1" + b"\x29\xfc" + b"\xff" * 8 + b"\x01" + b"\x0b\0\0\0PAR1", "list longer"),
        (b"PAR1" + b"\x1c" * 60 + b"\x3c\0\0\0PAR1", "without end"),
    ],
)
def test_a_structure_that_does_not_fit_its_file_is_refused(content, message, tmp_path):
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(DamagedParquetError, match=message):
        check_structure(tmp_path / "x.parquet")


def test_rows_without_number_in_a_small_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_footer, "_PER_BYTE", 50)
    rows = {name: pl.repeat("x", 300_000, eager=True) for name in ("subject", "relation", "object")}
    path = tmp_path / "x.parquet"
    path.write_bytes(_written(pl.DataFrame(rows)))
    with pytest.raises(TableError, match=r"x\.parquet: expected a Parquet file: 300000 rows in \d+ bytes"):
        read_table(path)


def test_a_column_of_endless_text_in_a_small_file_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(_written(pl.DataFrame({"subject": ["x" * 50_000_000], "a": ["b"]})))
    with pytest.raises(TableError, match=r"a column of \d+ bytes, packed in"):
        read_table(path)
