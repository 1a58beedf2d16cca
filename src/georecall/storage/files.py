"""Single files that are replaced in one step."""

import os
import tempfile
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file through a neighbour that is then renamed: the old content or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        draft.chmod(0o644)
        draft.replace(path)
    except BaseException:
        draft.unlink()
        raise
