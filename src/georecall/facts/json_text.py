"""JSON in which every value is text: a number keeps its literal digits."""

import json
from pathlib import Path
from typing import Any, NoReturn

from georecall.errors import TableError

_LITERALS = {None: "", True: "true", False: "false"}


def parse(text: str, *, path: Path, line: int | None = None) -> Any:
    """The value of a JSON text, numbers as text; `line` is where the text starts if it is part of a file.

    Raises TableError if the text is not JSON (NaN and Infinity are not), or an object has a key twice.
    """
    try:
        return json.loads(
            text, parse_int=str, parse_float=str, parse_constant=_not_json, object_pairs_hook=_distinct
        )
    except json.JSONDecodeError as error:
        place = f"line {(line or 1) + error.lineno - 1}, character {error.colno}"
        raise TableError(f"{path}, {place}: expected JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        place = f", line {line}" if line else ""
        raise TableError(f"{path}{place}: expected JSON: {error}") from None


def cell_text(value: Any) -> str | None:
    """A JSON value as the text of a cell: null is blank; None for arrays and objects, which are no cells."""
    if isinstance(value, str):
        return value
    return None if isinstance(value, list | dict) else _LITERALS[value]


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value (write null, or the name in quotation marks)")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} more than once")
    return values
