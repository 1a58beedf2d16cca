"""Tensors larger than one likes to hold, written to a safetensors file a few rows at a time."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

NUMBERS_AT_ONCE = 1 << 19
"""Numbers of a matrix that are made at a time: 4 MB in float64, which stay in the cache until they are written."""

DTYPE_NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}


@dataclass(frozen=True)
class TensorSource:
    """A tensor given by its shape and by a function that makes its rows again, chunk by chunk."""

    shape: tuple[int, ...]
    chunks: Callable[[], Iterable[Shaped[np.ndarray | Tensor, "..."]]]

    @classmethod
    def of(cls, array: Shaped[np.ndarray | Tensor, "..."]) -> "TensorSource":
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

    def cast(self, dtype: torch.dtype) -> Iterable[Tensor]:
        """The chunks as tensors of `dtype`."""
        return (torch.as_tensor(chunk).to(dtype) for chunk in self.chunks())

    def tensor(self, dtype: torch.dtype) -> Tensor:
        """The whole tensor; no second copy of it is made."""
        whole, start = torch.empty(self.shape, dtype=dtype), 0
        for chunk in self.cast(dtype):
            whole[start : start + len(chunk)] = chunk
            start += len(chunk)
        return whole


def write_safetensors(path: Path, sources: Mapping[str, TensorSource], dtype: torch.dtype) -> str:
    """Write `sources` cast to `dtype` as a safetensors file; returns its SHA-256 in hexadecimal.

    Raises:
        ValueError: a source yields more or fewer bytes than its shape says.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, source in sources.items():
        end = offset + prod(source.shape) * dtype.itemsize
        header[name] = {
            "dtype": DTYPE_NAMES[dtype],
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


def _parts(text: bytes, sources: Mapping[str, TensorSource], dtype: torch.dtype) -> Iterable[memoryview]:
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
