"""The kinds of folders that are ours, told by what is in them and never by the name of a file alone."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

Content = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Folders written by one command.

    * `name`: what such a folder is called, as in "a memory".
    * `markers`: patterns of files of JSON; one says so by its content, of which `is_ours` holds.
    * `files`: what a folder with that content of its marker consists of, as patterns of at most one folder;
      all else in it is the user's.
    """

    name: str
    markers: tuple[str, ...]
    is_ours: Callable[[Any], bool]
    files: Callable[[Content], Iterable[str]] = lambda _: ()

    def includes(self, folder: Path) -> bool:
        """Whether a folder is of this kind."""
        return self._content(folder) is not None

    def files_in(self, folder: Path) -> Iterator[str]:
        """The files of a folder that are of its kind, as `name` or `folder/name`; no link is followed."""
        content = self._content(folder)
        for pattern in () if content is None else self.files(content):
            for path in folder.glob(pattern) if is_inside(pattern) else ():
                if not path.is_dir() and not path.parent.is_symlink():
                    yield path.relative_to(folder).as_posix()

    def _content(self, folder: Path) -> Any:
        contents = (_read(path) for marker in self.markers for path in folder.glob(marker))
        return next(filter(self.is_ours, contents), None)


def has(*fields: str) -> Callable[[Any], bool]:
    """Whether a content is a JSON object with these fields."""
    return lambda content: isinstance(content, dict) and content.keys() >= set(fields)


def is_plain(name: Any) -> bool:
    """Whether a name is that of a file right in a folder, on every system."""
    return (
        isinstance(name, str)
        and name not in {"", ".", ".."}
        and not any(character in name for character in "/\\:\0")
    )


def is_inside(path: Any) -> bool:
    """Whether a path names something in a folder, or in a folder in it."""
    parts = PurePosixPath(path).parts if isinstance(path, str) else ()
    return 0 < len(parts) <= 2 and all(map(is_plain, parts))


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
