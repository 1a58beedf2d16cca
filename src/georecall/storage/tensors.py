"""Safetensors files: written a few rows at a time, and read back only if they hold what is expected."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Shaped
from safetensors import SafetensorError, safe_open

from georecall.errors import FolderError
from georecall.storage.paths import check_utf8
from georecall.untrusted import shortened

if TYPE_CHECKING:
    import torch
    from torch import Tensor

NUMBERS_AT_ONCE = 1 << 19
"""Numbers of a matrix that are made at a time: 4 MB in float64, which stay in the cache until they are written."""

DTYPE_CODES = {"float32": "F32", "bfloat16": "BF16", "float16": "F16"}
"""Number formats by torch's names, and what a safetensors file calls them."""


def code_of(dtype: "torch.dtype") -> str:
    """What a safetensors file calls a number format."""
    return DTYPE_CODES[str(dtype).removeprefix("torch.")]


@dataclass(frozen=True)
class TensorSource:
    """A tensor given by its shape and by a function that makes its rows again, chunk by chunk."""

    shape: tuple[int, ...]
    chunks: "Callable[[], Iterable[np.ndarray | Tensor]]"

    @classmethod
    def of(cls, array: "np.ndarray | Tensor") -> "TensorSource":
        """A source of one chunk."""
        return cls(tuple(array.shape), lambda: [array])

    @classmethod
    def by_rows(
        cls, shape: tuple[int, int], rows: Callable[[slice], Shaped[np.ndarray, "rows columns"]]
    ) -> "TensorSource":
        """A matrix of which any rows can be made alone; they are made a few megabytes at a time."""
        count, columns = shape
        step = max(1, NUMBERS_AT_ONCE // columns)

        def chunks() -> Iterable[Shaped[np.ndarray, "rows columns"]]:
            return (rows(slice(start, min(start + step, count))) for start in range(0, count, step))

        return cls(shape, chunks)

    def cast(self, dtype: "torch.dtype") -> "Iterable[Tensor]":
        """The chunks as tensors of `dtype`."""
        import torch  # noqa: PLC0415 - takes seconds, and reading needs none of it

        return (torch.as_tensor(chunk).to(dtype) for chunk in self.chunks())

    def tensor(self, dtype: "torch.dtype") -> "Tensor":
        """The whole tensor; no second copy of it is made."""
        import torch  # noqa: PLC0415 - as above

        whole, start = torch.empty(self.shape, dtype=dtype), 0
        for chunk in self.cast(dtype):
            whole[start : start + len(chunk)] = chunk
            start += len(chunk)
        return whole


def write_safetensors(path: Path, sources: Mapping[str, TensorSource], dtype: "torch.dtype") -> str:
    """Write `sources` cast to `dtype` as a safetensors file; returns its SHA-256 in hexadecimal.

    Raises:
        ValueError: a source yields more or fewer bytes than its shape says.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, source in sources.items():
        end = offset + prod(source.shape) * dtype.itemsize
        header[name] = {
            "dtype": code_of(dtype),
            "shape": list(source.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    with path.open("wb") as file, ThreadPoolExecutor(1) as hasher:
        for part in _parts(text, sources, dtype):
            hashed = hasher.submit(digest.update, part)
            file.write(part)
            hashed.result()
    return digest.hexdigest()


def _parts(text: bytes, sources: Mapping[str, TensorSource], dtype: "torch.dtype") -> Iterable[memoryview]:
    import torch  # noqa: PLC0415 - as above

    yield memoryview(len(text).to_bytes(8, "little"))
    yield memoryview(text)
    for name, source in sources.items():
        held, size = 0, prod(source.shape) * dtype.itemsize
        for chunk in source.cast(dtype):
            part = chunk.reshape(-1).contiguous().view(torch.uint8).numpy().data
            held += part.nbytes
            yield part
        if held != size:
            raise ValueError(f"the chunks of {name} hold {held} bytes, its shape says {size}")


@dataclass(frozen=True)
class TensorForm:
    """Number format and shape of a tensor, as the header of a file states them."""

    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def of(cls, tensor: "Tensor") -> "TensorForm":
        """The form of a tensor."""
        return cls(code_of(tensor.dtype), tuple(tensor.shape))

    def __str__(self) -> str:
        """In words."""
        return f"{self.dtype} of shape {list(self.shape)}"


@dataclass(frozen=True)
class TensorFile:
    """An open safetensors file; `remedy` tells the user what to do about a damaged one."""

    path: Path
    remedy: str
    _file: Any

    @property
    def metadata(self) -> dict[str, str]:
        """What the header says besides the tensors."""
        return self._file.metadata() or {}

    @property
    def forms(self) -> dict[str, TensorForm]:
        """The forms of all tensors, in the order of the file; none of them is read."""
        parts = {name: self._file.get_slice(name) for name in self._file.offset_keys()}
        return {name: TensorForm(part.get_dtype(), tuple(part.get_shape())) for name, part in parts.items()}

    def tensor(self, name: str) -> "Tensor":
        """One tensor.

        Raises:
            FolderError: torch has no such number format or shape.
        """
        try:
            return self._file.get_tensor(name)
        except (TypeError, RuntimeError) as error:
            raise self.damaged(str(error)) from error

    def tensors(self) -> "dict[str, Tensor]":
        """All tensors, whatever they are; raises as `tensor` does."""
        return {name: self.tensor(name) for name in self.forms}

    def expected(self, forms: Mapping[str, TensorForm], *, finite: bool = False) -> "dict[str, Tensor]":
        """All tensors, if they have these forms, and are `finite` if asked for.

        Raises:
            FolderError: as `check_forms`; or a tensor is not finite.
        """
        self.check_forms(forms)
        tensors = self.tensors()
        for name, tensor in tensors.items():
            if finite and not _is_finite(tensor):
                raise self.damaged(f"tensor {shortened(name)}: expected finite numbers, got NaN or infinity")
        return tensors

    def check_forms(self, forms: Mapping[str, TensorForm]) -> None:
        """Refuse other tensors than these; none of them is read.

        Raises:
            FolderError: a tensor is missing, not expected, or of another form.
        """
        found = self.forms
        for name in [*forms, *found]:
            want, have = forms.get(name), found.get(name)
            if want != have:
                raise self.damaged(
                    f"tensor {shortened(name)}: expected {want or 'none'}, got {have or 'none'}"
                )

    def damaged(self, reason: str) -> FolderError:
        """The error for a file that is not as it was written; of the reason the first line is given."""
        return FolderError(f"{self.path}: damaged ({reason.partition(chr(10))[0]}); {self.remedy}")


@contextmanager
def open_tensors(path: Path, *, remedy: str, framework: Literal["pt", "np"] = "pt") -> Iterator[TensorFile]:
    """A safetensors file to be read in the block, in which nothing is read but what is asked for.

    The framework "np" reads no tensors, only what they are, and does not import torch.

    Raises:
        FolderError: it is missing, cannot be read, or is no safetensors file; or its path is not UTF-8.
    """
    check_utf8(path)
    if not path.is_file():
        found = "is no file" if path.exists() else "missing"
        raise FolderError(f"{path}: {found}; {remedy}")
    try:
        with safe_open(path, framework=framework) as file:
            yield TensorFile(path, remedy, file)
    except (SafetensorError, OSError) as error:
        raise TensorFile(path, remedy, None).damaged(str(error)) from error


def _is_finite(tensor: "Tensor") -> bool:
    """Whether all numbers are finite: where one is NaN, so are the extremes."""
    return tensor.numel() == 0 or all(end.isfinite() for end in tensor.aminmax())
