"""A memory as a folder: stock Hugging Face files, the table, and a certificate that holds every file's hash."""

import glob
import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from georecall.errors import FolderError
from georecall.memory.statement import Sealed
from georecall.storage.folders import check_target, sha256_of
from georecall.storage.json_files import json_model, parse_object, read_content
from georecall.storage.kinds import Kind, has, is_plain
from georecall.storage.paths import check_utf8
from georecall.untrusted import shortened

FORMAT = 2
CERTIFICATE = "certificate.json"
TENSORS = "model.safetensors"
TABLE = "facts.parquet"
CARD = "README.md"
GROUND_TRUTH = "ground_truth.safetensors"

MEMORY = Kind(
    name="a memory",
    markers=(CERTIFICATE,),
    is_ours=lambda sealed: (
        has("format", "construction", "proofs", "files", "sha256")(sealed)
        and isinstance(sealed["files"], dict)
    ),
    files=lambda sealed: (CERTIFICATE, *map(glob.escape, filter(is_plain, sealed["files"]))),
)
"""A memory consists of the files that its certificate lists."""

SMALL = 1 << 26
"""Bytes of the largest file whose hash is checked when a memory is only opened to be asked: 64 MiB."""

REMEDY = "was this folder written by `georecall compile`?"

_VERSIONED = ("georecall", "numpy", "torch", "transformers", "tokenizers", "safetensors")


def check_output(folder: Path, *, replace: bool) -> None:
    """Refuse, before any work is done, a folder that a memory must not be written to: see `check_target`."""
    check_utf8(folder)
    check_target(folder, kind=MEMORY, replace=replace)


def versions() -> dict[str, str]:
    """Versions of the packages that made a result."""
    return {name: version(name) for name in _VERSIONED}


def write_certificate(folder: Path, content: Mapping[str, Any], known: Mapping[str, str]) -> None:
    """Write `certificate.json`: the content, the SHA-256 of every other file, and of itself without that line.

    `known` holds hashes that need not be worked out again.
    """
    names = sorted(path.name for path in folder.iterdir() if path.name != CERTIFICATE)
    files = {name: known.get(name) or sha256_of(folder / name) for name in names}
    sealed = {"format": FORMAT, **content, "versions": versions(), "files": files}
    sealed["sha256"] = _digest(sealed)
    (folder / CERTIFICATE).write_bytes(_text(sealed).encode())


def read_certificate(folder: Path, *, check_all: bool = True) -> Sealed:
    """The certificate of a folder, after checking its own hash and that of every file it names, or of the small ones.

    Raises:
        FolderError: the folder or a file is missing, truncated or altered, or of another format; or a field of the
            certificate is not what it may be.
    """
    check_utf8(folder)
    check_is_folder(folder)
    path = folder / CERTIFICATE
    text = read_content(path, remedy=REMEDY)
    sealed = parse_object(text, place=str(path), remedy=REMEDY)
    content = {key: value for key, value in sealed.items() if key != "sha256"}
    if sealed.get("sha256") != _digest(content) or text != _text(sealed).encode():
        raise FolderError(f"{path}: altered: its content does not give the hash it states")
    if sealed.get("format") != FORMAT:
        raise FolderError(
            f"{path}: expected format {FORMAT}, got {shortened(sealed.get('format'))}; "
            f"compile {folder / TABLE} again"
        )
    certificate = json_model(text, Sealed, place=str(path), remedy=REMEDY)
    for name, digest in certificate.files.items():
        _check_file(folder, name, digest if check_all or is_small(folder / name) else None)
    return certificate


def check_is_folder(folder: Path) -> None:
    """Refuse what cannot be a memory: a file, or nothing."""
    if not folder.is_dir():
        raise FolderError(
            f"{folder}: expected the folder of a memory, found {'a file' if folder.is_file() else 'nothing'}"
        )


def is_small(path: Path) -> bool:
    """Whether a file is checked whenever its memory is opened."""
    return path.is_file() and path.stat().st_size <= SMALL


def _check_file(folder: Path, name: str, digest: str | None) -> None:
    """Only files right in the folder are read: a certificate may come from anybody. Without a digest, it is there."""
    path = folder / name
    if not is_plain(name) or path.is_symlink():
        raise FolderError(
            f"{folder / CERTIFICATE}: expected it to list files of its own folder, got {name!r}"
        )
    if not path.is_file():
        raise FolderError(f"{path}: missing from the memory")
    if digest is None:
        return
    found = sha256_of(path)
    if found != digest:
        raise FolderError(f"{path}: altered or truncated: expected SHA-256 {digest}, got {found}")


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()
