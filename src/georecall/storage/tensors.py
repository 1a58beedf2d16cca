"""Tensors larger than one likes to hold, written to a safetensors file a few rows at a time."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

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

    def cast(self, dtype: torch.dtype) -> Iterable[Tensor]:
        """The chunks as tensors of `dtype`."""
        return (torch.as_tensor(chunk).to(dtype) for chunk in self.chunks())

    def tensor(self, dtype: torch.dtype) -> Tensor:
        """The whole tensor."""
        return torch.cat(list(self.cast(dtype)))


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
    with path.open("wb") as file:
        for part in _parts(text, sources, dtype):
            file.write(part)
            digest.update(part)
        written = file.tell() - 8 - len(text)
    if written != offset:
        raise ValueError(f"{path}: the tensor chunks hold {written} bytes, their shapes say {offset}")
    return digest.hexdigest()


def _parts(text: bytes, sources: Mapping[str, TensorSource], dtype: torch.dtype) -> Iterable[memoryview]:
    yield memoryview(len(text).to_bytes(8, "little"))
    yield memoryview(text)
    for source in sources.values():
        for chunk in source.cast(dtype):
            yield chunk.contiguous().view(torch.uint8).reshape(-1).numpy().data
