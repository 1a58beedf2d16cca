"""JSON as sweeps keep it: objects of finite numbers, refused when damaged."""

import json
from pathlib import Path
from typing import Any

from georecall.errors import FolderError


def json_text(value: dict[str, Any]) -> str:
    """An object as text.

    Raises:
        ValueError: it holds NaN or an infinity, which JSON does not have: a measurement that diverged.
        TypeError: it holds what is no JSON.
    """
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def read_object(path: Path, *, remedy: str) -> dict[str, Any]:
    """The object in a file; `remedy` tells the user what to do about a damaged one.

    Raises:
        FolderError: the file is missing, or not one JSON object of finite numbers.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        raise FolderError(f"{path}: is missing; {remedy}") from None
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path}: is not JSON ({error}); {remedy}") from error
    if not isinstance(value, dict):
        raise FolderError(f"{path}: expected a JSON object, found {type(value).__name__}; {remedy}")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")
