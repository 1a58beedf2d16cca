"""Files of relations and their samples, a shape in which relations for language models are published.

An object, or a list of objects, {"name": …, "samples": [{"subject": …, "object": …}, …]}; other keys are
ignored.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from georecall.errors import TableError
from georecall.facts.checks import Origin
from georecall.facts.json_text import cell_text, excerpt, parse
from georecall.facts.table_builder import TableBuilder
from georecall.facts.tabular_files import not_utf8


def read_relations(path: Path) -> TableBuilder:
    """The facts of a relation-JSON file; samples are counted from 1 through the whole file.

    Raises TableError if the file is not UTF-8, not JSON or not of the shape above.
    """
    try:
        content = parse(path.read_text(encoding="utf-8-sig"), path=path)
    except UnicodeDecodeError:
        raise not_utf8(path) from None
    builder = TableBuilder(Origin(source=str(path), unit="sample", relation="name"))
    builder.add_long(_samples(content if isinstance(content, list) else [content], path))
    return builder


def _samples(relations: list[Any], path: Path) -> Iterator[tuple[int, list[str]]]:
    number = 0
    for position, relation in enumerate(relations, 1):
        place = f"{path}, relation {position}"
        name = _text(relation, "name", place)
        samples = relation.get("samples")
        if not isinstance(samples, list) or not samples:
            raise TableError(f"{place} ({name!r}): expected a list of samples under the key 'samples'")
        for sample in samples:
            number += 1
            where = f"{path}, sample {number} (relation {name!r})"
            yield number, [_text(sample, "subject", where), name, _text(sample, "object", where)]


def _text(container: Any, key: str, place: str) -> str:
    if not isinstance(container, dict) or key not in container:
        raise TableError(f"{place}: expected an object with the key {key!r}, got {excerpt(container)}")
    text = cell_text(container[key])
    if text is None:
        raise TableError(f"{place}: expected text under the key {key!r}, got {excerpt(container[key])}")
    return text
