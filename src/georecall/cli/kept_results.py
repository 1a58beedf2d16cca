"""A file that holds a result beside the settings it depends on, and takes the place of no other settings unasked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from georecall.errors import FolderError
from georecall.storage.files import write_text
from georecall.storage.json_files import json_text, read_object

SETTINGS = "settings"
WAY_OUT = "give another folder with --output, or --force to replace it"


def earlier_result(file: Path, settings: Mapping[str, Any], *, replace: bool) -> dict[str, Any] | None:
    """What the file holds if it was measured with these settings; None if there is none, or it may be replaced.

    Raises:
        FolderError: it holds a result of other settings, or none that can be read, and is not to be replaced.
    """
    if not file.exists():
        return None
    try:
        content = read_object(file, remedy=WAY_OUT)
        _check_same(file, content.get(SETTINGS), settings)
    except FolderError:
        if replace:
            return None
        raise
    return content


def write_result(file: Path, settings: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Write a result with its settings, and return both; `earlier_result` says beforehand whether it may be written."""
    content = {SETTINGS: dict(settings), **found}
    write_text(file, json_text(content))
    return content


def _check_same(file: Path, found: object, settings: Mapping[str, Any]) -> None:
    if not isinstance(found, dict):
        raise FolderError(f"{file}: does not say with which settings it was measured; {WAY_OUT}")
    other = [name for name in settings if found.get(name) != settings[name]]
    if other:
        differences = ", ".join(f"{name} {found.get(name)!r} instead of {settings[name]!r}" for name in other)
        raise FolderError(f"{file}: was measured with other settings: {differences}; {WAY_OUT}")
