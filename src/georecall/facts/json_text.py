"""JSON as people write it: strictly one value, no key twice; for tables every number keeps its literal digits."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from georecall.errors import TableError

_LITERALS = {None: "", True: "true", False: "false"}


def strict_json(text: str, *, number: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text; `number` makes a value of the digits of a number.

    Raises ValueError if the text is not JSON (NaN and Infinity are not), an object has a key twice, or lists and
    objects lie too deep in one another.
    """
    try:
        return json.loads(
            text, parse_int=number, parse_float=number, parse_constant=_not_json, object_pairs_hook=_distinct
        )
    except RecursionError:
        raise ValueError("too many lists and objects within one another") from None


def parse(text: str, *, path: Path, line: int | None = None) -> Any:
    """The value of a JSON text, numbers as text; `line` is where the text starts if it is part of a file.

    Raises TableError as `strict_json` does ValueError.
    """
    try:
        return strict_json(text, number=str)
    except json.JSONDecodeError as error:
        place = f"line {(line or 1) + error.lineno - 1}, character {error.colno}"
        raise TableError(f"{path}, {place}: expected JSON: {error.msg}") from None
    except ValueError as error:
        place = f", line {line}" if line else ""
        raise TableError(f"{path}{place}: expected JSON: {error}") from None


def cell_text(value: Any) -> str | None:
    """A JSON value as the text of a cell: null is blank; None for arrays and objects, which are no cells."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, list | dict) else _LITERALS[value]


def excerpt(value: Any) -> str:
    """The beginning of a JSON value, however deep."""
    try:
        return f"{value!s:.60}"
    except RecursionError:
        return f"a {type(value).__name__} of many levels"


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value (write null, or the name in quotation marks)")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        times = Counter(key for key, _ in pairs)
        raise ValueError(f"key {next(key for key in times if times[key] > 1)!r} more than once")
    return values
