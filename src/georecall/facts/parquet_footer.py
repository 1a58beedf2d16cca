"""A look at the structure of a Parquet file before its bytes are trusted.

A reader that believes a damaged file aborts the process, or asks for more memory than there is. So the sizes,
places and counts in the footer and in the page headers must fit the file and one another. Both are structs of
Thrift's compact protocol; the numbers of their fields are those of `parquet.thrift`.

Sources: the Apache Parquet file format; the Thrift compact protocol.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_MAGIC = b"PAR1"
_TAIL = 8  # the length of the footer in four bytes, and the magic
_LONGEST_HEADER = 1 << 16
_DEEPEST = 16
_PER_BYTE = 1000
"""So many rows or unpacked bytes may stand behind each byte of a file; real tables stay far below."""

Struct = dict[int, Any]


class DamagedParquetError(Exception):
    """The structure of a file is not that of a whole Parquet file; the message says where."""


def check_structure(path: Path) -> int:
    """The number of columns in a Parquet file whose structure is sound.

    Raises DamagedParquetError if it is not, OSError if the file cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            footer, end = _footer(file, size)
            columns = _count_columns(footer[2])
            _check_rows(footer, size)
            for group in footer[4]:
                if len(group[1]) != columns:
                    raise DamagedParquetError("a row group with other columns than the schema")
                for chunk in group[1]:
                    _check_chunk(file, chunk[3], rows=group[3], end=end)
        except (
            AttributeError,
            IndexError,
            KeyError,
            TypeError,
        ):  # a field that is missing or of another type
            raise DamagedParquetError("its structure cannot be read") from None
    return columns


def _footer(file: BinaryIO, size: int) -> tuple[Struct, int]:
    """The metadata of a file, and the place at which it begins."""
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    file.seek(0)
    if size < len(_MAGIC) + _TAIL or file.read(4) != _MAGIC or tail[4:] != _MAGIC:
        raise DamagedParquetError("it does not begin and end as one")
    start = size - _TAIL - int.from_bytes(tail[:4], "little")
    if start < len(_MAGIC):
        raise DamagedParquetError("its footer is longer than the file")
    file.seek(start)
    footer, _ = _Compact(file.read(size - _TAIL - start)).struct()
    return footer, start


def _count_columns(schema: list[Struct]) -> int:
    """The number of leaves of the schema, which is a tree written down depth first."""
    open_children = 1
    for element in schema:
        open_children += element.get(5, 0) - 1
        if element.get(5, 0) < 0 or not isinstance(element[4], bytes):
            raise DamagedParquetError("its schema is no tree of columns")
    if open_children:
        raise DamagedParquetError("its schema is no tree of columns")
    return sum(5 not in element for element in schema)


def _check_rows(footer: Struct, size: int) -> None:
    rows = [group[3] for group in footer[4]]
    if min(rows, default=0) < 0 or sum(rows) != footer[3]:
        raise DamagedParquetError("its row groups do not add up to its rows")
    if footer[3] > _PER_BYTE * size:
        raise DamagedParquetError(f"{footer[3]} rows in {size} bytes")


def _check_chunk(file: BinaryIO, chunk: Struct, *, rows: int, end: int) -> None:
    """Refuse a column of a row group whose pages do not lie in the file, one after the other, as many as it says."""
    start, length, values = min(chunk[9], chunk.get(11) or chunk[9]), chunk[7], chunk[5]
    if not (len(_MAGIC) <= start and 0 <= length <= end - start and values >= 0):
        raise DamagedParquetError("a column that does not lie in the file")
    if len(chunk[3]) == 1 and values != rows:
        raise DamagedParquetError("a column with other rows than its row group")
    found, unpacked = 0, 0
    for page in _pages(file, start, start + length):
        unpacked += page[2]
        header = page.get(5) or page.get(8)
        if header:
            found += header[1]
            if header[1] < 0:
                raise DamagedParquetError("a page with fewer values than none")
        elif 7 in page and not 0 <= page[7][1] <= page[2]:
            raise DamagedParquetError("a dictionary with more values than bytes")
    if found != values:
        raise DamagedParquetError("pages that do not add up to their column")
    if unpacked > _PER_BYTE * end:
        raise DamagedParquetError(f"a column of {unpacked} bytes, packed in {length}")


def _pages(file: BinaryIO, start: int, end: int) -> Iterator[Struct]:
    while start < end:
        file.seek(start)
        page, length = _Compact(file.read(min(_LONGEST_HEADER, end - start))).struct()
        start += length + page[3]
        if min(page[2], page[3]) < 0 or start > end:
            raise DamagedParquetError("a page that does not lie in its column")
        yield page


class _Compact:
    """Values of Thrift's compact protocol, read one after another; a struct is a dictionary by field number."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self, depth: int = 0) -> tuple[Struct, int]:
        """A struct, and the place at which it ends."""
        if depth > _DEEPEST:
            raise DamagedParquetError("structs within structs without end")
        fields: Struct = {}
        number = 0
        while byte := self._byte():
            step = byte >> 4
            number = number + step if step else self._zigzag()
            fields[number] = self._value(byte & 15, depth)
        return fields, self._at

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                value: Any = kind == 1
            case 3:
                value = self._byte()
            case 4 | 5 | 6:
                value = self._zigzag()
            case 7:
                value = self._bytes(8)
            case 8:
                value = self._bytes(self._varint())
            case 9 | 10:
                value = self._list(depth)
            case 12:
                value, _ = self.struct(depth + 1)
            case _:
                raise DamagedParquetError(f"a value of an unknown kind, {kind}")
        return value

    def _list(self, depth: int) -> list[Any]:
        byte = self._byte()
        size = byte >> 4 if byte >> 4 < 15 else self._varint()
        if size > len(self._data) - self._at:  # every item takes a byte at least
            raise DamagedParquetError("a list longer than the file")
        kind = byte & 15
        return [self._byte() == 1 if kind in {1, 2} else self._value(kind, depth + 1) for _ in range(size)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise DamagedParquetError("text longer than the file")
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise DamagedParquetError("a number without end")
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
