"""The numbers of a safetensors file in float32, of which only those asked for are read, without torch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from georecall.errors import FolderError
from georecall.storage.tensors import TensorForm, open_tensors
from georecall.untrusted import shortened

if TYPE_CHECKING:
    from torch import Tensor

_BITS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}

_LENGTH = 8
"""Bytes at the beginning of a file, which say how long its header is."""


class StoredArrays:
    """The tensors of one file, which must be of these forms; they are read when they are asked for.

    Raises:
        FolderError: the file is missing, cannot be read, is no safetensors file, or holds other tensors.
    """

    def __init__(self, path: Path, forms: Mapping[str, TensorForm], *, remedy: str) -> None:
        self._path, self._forms, self._remedy = path, forms, remedy
        with open_tensors(path, remedy=remedy, framework="np") as file:
            file.check_forms(forms)
        with path.open("rb") as opened:
            length = int.from_bytes(opened.read(_LENGTH), "little")
            header = json.loads(opened.read(length))
        self._arrays = {
            name: np.memmap(
                path,
                dtype=_BITS[form.dtype],
                mode="r",
                offset=_LENGTH + length + header[name]["data_offsets"][0],
                shape=form.shape,
            )
            for name, form in forms.items()
        }

    def __call__(self, name: str, part: Any = ...) -> Float32[np.ndarray, "..."]:
        """`tensor[part]`."""
        return _in_float32(np.asarray(self._arrays[name][part]))

    def tensors(self) -> "dict[str, Tensor]":
        """All of them, by torch, in their own number format.

        Raises:
            FolderError: the file was changed meanwhile, or a number is not finite.
        """
        with open_tensors(self._path, remedy=self._remedy) as file:
            return file.expected(self._forms, finite=True)

    def check_finite(self) -> None:
        """Refuse numbers that are none.

        Raises:
            FolderError: a number is not finite.
        """
        for name in self._forms:
            if not np.isfinite(self(name)).all():
                raise self.damaged(f"tensor {shortened(name)}: expected finite numbers, got NaN or infinity")

    def damaged(self, reason: str) -> FolderError:
        """The error for numbers that are not as they were written."""
        return FolderError(f"{self._path}: damaged ({reason}); {self._remedy}")


def _in_float32(numbers: np.ndarray) -> Float32[np.ndarray, "..."]:
    """Numbers of a file; 16 bits that are no float16 are bfloat16, the upper half of a float32."""
    if numbers.dtype == _BITS["BF16"]:
        return (numbers.astype("<u4") << 16).view("<f4")
    return numbers.astype(np.float32)
