"""What a model was asked once, on disk: hidden states, and whatever else is costly to ask again."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from safetensors.numpy import save

from georecall.errors import FolderError
from georecall.language_models.prompts import Template
from georecall.storage.files import write_bytes, write_text
from georecall.storage.json_files import read_content
from georecall.storage.tensors import TensorFile, TensorForm, open_tensors

CONVENTION = 1
"""Raised when what counts as a state, or as a subject's token, changes."""

DESCRIPTION, ARRAYS = "states.json", "arrays.safetensors"
HASH = "sha256"
"""Entry of a file that says what the tensors in it hash to."""

REMEDY = "delete it, and the next run makes it anew"


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
        with open_tensors(path, remedy=REMEDY) as file:
            return _unaltered(file, file.tensors())

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
        form = TensorForm("F32", (len(self.parts[number]), self.shape[2]))
        with open_tensors(path, remedy=REMEDY) as file:
            _unaltered(file, file.expected({str(state): form for state in range(self.shape[0])}))
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
        with open_tensors(self._path(number), remedy=REMEDY) as file:
            return file.tensor(str(layer)).numpy()


def _hashed(tensors: dict[str, np.ndarray]) -> bytes:
    """A file of tensors that holds their hash."""
    return save(tensors, metadata={HASH: _digest(tensors)})


def _unaltered(file: TensorFile, tensors: Mapping[str, torch.Tensor]) -> dict[str, np.ndarray]:
    """The tensors of a file as arrays; FolderError if they are not what was written."""
    try:
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError as error:  # a number format that NumPy does not have
        raise file.damaged(str(error)) from error
    if file.metadata.get(HASH) != _digest(arrays):
        raise file.damaged("its content is not what was written")
    return arrays


def _digest(tensors: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _describe(path: Path, text: str) -> None:
    if not path.exists():
        write_text(path, text)
    elif read_content(path, remedy=REMEDY) != text.encode():
        raise FolderError(f"{path}: damaged (it is not what its folder is named for); {REMEDY}")
