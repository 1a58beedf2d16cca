"""What a model was asked once, on disk: hidden states, and whatever else is costly to ask again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from georecall.errors import FolderError
from georecall.language_models.prompts import Template
from georecall.storage.files import write_bytes, write_text

CONVENTION = 1
"""Raised when what counts as a state, or as a subject's token, changes."""

DESCRIPTION, ARRAYS = "states.json", "arrays.safetensors"
HASH = "sha256"
"""Entry of a file that says what the tensors in it hash to."""


@dataclass(frozen=True)
class StateCache:
    """A folder with a folder for each model, list of subjects and template; subjects are kept `chunk` at a time."""

    folder: Path
    chunk: int = 256

    def entry(
        self,
        model: str,
        dtype: torch.dtype,
        subjects: Sequence[str],
        template: Template,
        *,
        shape: tuple[int, int, int],
    ) -> "CachedStates":
        """The states, of shape [states, subjects, dim], that a model with this digest has in a template.

        Raises:
            FolderError: the folder cannot be written, or what it says of itself is altered.
        """
        description = {
            "model": model,
            "dtype": str(dtype).removeprefix("torch."),
            "subjects": hashlib.sha256(json.dumps(list(subjects)).encode()).hexdigest(),
            "template": template.text,
            "shape": list(shape),
            "chunk": self.chunk,
            "convention": CONVENTION,
        }
        return CachedStates(folder=self._described(description), chunk=self.chunk, shape=shape)

    def remembered(
        self, description: dict[str, Any], make: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        """Arrays kept under a description of all that they depend on; made and kept if they are not there.

        Raises:
            FolderError: as `entry`; or the arrays are damaged.
        """
        path = self._described(description | {"convention": CONVENTION}) / ARRAYS
        if not path.exists():
            made = make()
            write_bytes(path, _hashed({name: np.ascontiguousarray(array) for name, array in made.items()}))
        return _unaltered(path)

    def _described(self, description: dict[str, Any]) -> Path:
        """The folder that is named for a description, with the description in it."""
        text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
        folder = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        _describe(folder / DESCRIPTION, text)
        return folder


@dataclass(frozen=True, kw_only=True)
class CachedStates:
    """The files of one extraction: each holds some subjects, with a tensor for each state."""

    folder: Path
    chunk: int
    shape: tuple[int, int, int]

    @cached_property
    def parts(self) -> tuple[range, ...]:
        """The subjects of each file."""
        count = self.shape[1]
        return tuple(range(start, min(start + self.chunk, count)) for start in range(0, count, self.chunk))

    def holds(self, number: int) -> bool:
        """Whether a file is there; FolderError if it is damaged."""
        path = self._path(number)
        if not path.exists():
            return False
        expected = {str(state): (len(self.parts[number]), self.shape[2]) for state in range(self.shape[0])}
        if {name: array.shape for name, array in _unaltered(path).items()} != expected:
            raise _damaged(path, f"expected {self.shape[0]} states of shape {expected['0']}")
        return True

    def keep(self, number: int, states: Float32[np.ndarray, "states part dim"]) -> None:
        """Write a file; it appears when it is whole."""
        tensors = {str(layer): np.ascontiguousarray(state) for layer, state in enumerate(states)}
        write_bytes(self._path(number), _hashed(tensors))

    def state(self, layer: int) -> Float32[np.ndarray, "subjects dim"]:
        """One state of all subjects; the others are not read.

        Raises:
            FolderError: a file is missing or damaged.
        """
        return np.concatenate([self._read(number, layer) for number in range(len(self.parts))])

    def _path(self, number: int) -> Path:
        return self.folder / f"subjects-{number:05}.safetensors"

    def _read(self, number: int, layer: int) -> Float32[np.ndarray, "part dim"]:
        path = self._path(number)
        try:
            with safe_open(path, framework="np") as file:
                return file.get_tensor(str(layer))
        except (SafetensorError, OSError) as error:
            raise _damaged(path, str(error)) from error


def _hashed(tensors: dict[str, np.ndarray]) -> bytes:
    """A file of tensors that holds their hash."""
    return save(tensors, metadata={HASH: _digest(tensors)})


def _unaltered(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a file; FolderError if it is not whole, or not what was written."""
    try:
        with safe_open(path, framework="np") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            stated = (file.metadata() or {}).get(HASH)
    except (SafetensorError, OSError) as error:
        raise _damaged(path, str(error)) from error
    if stated != _digest(tensors):
        raise _damaged(path, "its content is not what was written")
    return tensors


def _digest(tensors: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _describe(path: Path, text: str) -> None:
    if not path.exists():
        write_text(path, text)
    elif path.read_bytes() != text.encode():
        raise _damaged(path, "it is not what its folder is named for")


def _damaged(path: Path, reason: str) -> FolderError:
    return FolderError(f"{path}: damaged ({reason}); delete it, and the next run makes it anew")
