"""JSON as it is kept on disk and read back: finite numbers, distinct keys, and the fields of a model."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from georecall.errors import FolderError
from georecall.untrusted import place_of, shortened, strict_json

MOST_BYTES = 1 << 28
"""No file that we write is larger."""

_NOT_JSON = "json_invalid"
_BARE = {"missing": "is missing", "extra_forbidden": "is not expected here"}
"""Faults of a field whose value does not matter."""
_WORDS = {
    r"^Value error, ": "",
    r"^Input should be (an object|a valid dictionary)$": "expected a JSON object",
    r"^Input should be a valid (array|list|tuple)$": "expected a JSON array",
    r"^Input should be (?=greater|less)": "expected a value ",
    r"^Input should be ": "expected ",
    r"^\w+ should ": "must ",
}
"""What pydantic says, in our words."""


class Stored(BaseModel):
    """Base of the models of files: frozen, of finite numbers, and without fields of other names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Object(RootModel[dict[str, Any]]):
    """Any object."""


Model = TypeVar("Model", bound=BaseModel)


def json_text(value: dict[str, Any]) -> str:
    """An object as text.

    Raises:
        ValueError: it holds NaN or an infinity, which JSON does not have: a measurement that diverged.
        TypeError: it holds what is no JSON.
    """
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def read_json_model(path: Path, model: type[Model], *, remedy: str) -> Model:
    """What a file of JSON holds, as `model`; `remedy` tells the user what to do about a damaged one.

    Raises:
        FolderError: the file is missing, cannot be read, or as `json_model`.
    """
    return json_model(read_content(path, remedy=remedy), model, place=str(path), remedy=remedy)


def read_object(path: Path, *, remedy: str) -> dict[str, Any]:
    """The object in a file of JSON, whatever its fields; raises as `read_json_model` does."""
    return parse_object(read_content(path, remedy=remedy), place=str(path), remedy=remedy)


def parse_object(content: bytes | str, *, place: str, remedy: str) -> dict[str, Any]:
    """The object that a JSON text holds, whatever its fields; raises as `json_model` does."""
    return json_model(content, _Object, place=place, remedy=remedy).root


def read_content(path: Path, *, remedy: str) -> bytes:
    """The bytes of a file of JSON.

    Raises:
        FolderError: the file is missing, no file, larger than any of ours, or cannot be read.
    """
    try:
        if not path.is_file():
            found = "is no file" if path.exists() else "missing"
            raise FolderError(f"{path}: {found}; {remedy}")
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise FolderError(f"{path}: expected at most {MOST_BYTES:,} bytes, found {size:,}; {remedy}")
        return path.read_bytes()
    except OSError as error:
        raise FolderError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error


def json_model(content: bytes | str, model: type[Model], *, place: str, remedy: str) -> Model:
    """What a JSON text holds, as `model`; `place` says where it is from. A byte order mark is passed over.

    Raises:
        FolderError: it is not UTF-8 or not JSON; a number is not finite, or a key is there twice; or a field is
            missing, not expected, or of another type or range. The message names the first field at fault.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        strict_json(text, number=_finite)
    except ValueError as error:
        raise FolderError(f"{place}: is not JSON ({error}); {remedy}") from error
    with fields_of(place, remedy=remedy):
        return model.model_validate_json(text, strict=True)


@contextmanager
def fields_of(place: str, *, remedy: str) -> Iterator[None]:
    """Let fields that do not fit their model be one error that names the first of them.

    Raises:
        FolderError: a model was given other fields than it has.
    """
    try:
        yield
    except ValidationError as error:
        raise FolderError(f"{place}: {_problem(error)}; {remedy}") from error


def _problem(error: ValidationError) -> str:
    """The first field at fault, what was expected and what came."""
    first, *others = error.errors(include_url=False)
    message = first["msg"]
    for pattern, words in _WORDS.items():
        message = re.sub(pattern, words, message)
    if first["type"] == _NOT_JSON:
        return f"is not JSON ({message.removeprefix('Invalid JSON: ')})"
    where = place_of(first["loc"])
    said = _BARE.get(first["type"]) or f"{message}, got {shortened(first['input'])}"
    more = f" (and {len(others)} more)" if others else ""
    return f"{where}: {said}{more}" if where else f"{said}{more}"


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise ValueError(f"{shortened(literal)} is no finite number")
    return value
