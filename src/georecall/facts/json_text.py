"""JSON in which every value is text: a number keeps its literal digits."""

import json
from pathlib import Path
from typing import Any

from georecall.errors import TableError
from georecall.untrusted import strict_json

_LITERALS = {None: "", True: "true", False: "false"}


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
