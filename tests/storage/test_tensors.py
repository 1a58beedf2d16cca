"""Tensors written a few rows at a time are those that safetensors reads; what is damaged is refused."""

import hashlib
import json
import os
import struct
import sys
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save, save_file

from georecall.errors import FolderError
from georecall.models.dtypes import DTYPES
from georecall.storage.tensors import (
    TensorForm,
    TensorSource,
    open_tensors,
    write_safetensors,
)

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def tensors_in_chunks(draw: st.DrawFn) -> tuple[torch.Tensor, TensorSource]:
    """A tensor, and a source that gives its rows in chunks, as NumPy or torch, contiguous or not."""
    shape = draw(shapes)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    array = rng.normal(size=shape[::-1]).T if draw(st.booleans()) else rng.normal(size=shape)
    # A view of a single number is all torch does not copy; rows of one number are not cut.
    cuts = (
        sorted(draw(st.sets(st.integers(1, shape[0]), max_size=3)) - {shape[0]})
        if prod(shape[1:]) > 1
        else []
    )
    chunks = np.split(array, cuts)
    made = [torch.from_numpy(chunk) if draw(st.booleans()) else chunk for chunk in chunks]
    return torch.from_numpy(array), TensorSource(shape, lambda: made)


@settings(max_examples=60)
@given(
    st.dictionaries(st.text(min_size=1, max_size=5), tensors_in_chunks(), max_size=3),
    st.sampled_from([*DTYPES.values()]),
)
def test_a_written_file_loads_as_the_tensors_cast(tmp_path_factory, named, dtype):
    path = tmp_path_factory.mktemp("tensors") / "model.safetensors"
    named = {name: pair for name, pair in named.items() if name != "__metadata__"}
    digest = write_safetensors(path, {name: source for name, (_, source) in named.items()}, dtype)
    loaded = load_file(path)
    assert loaded.keys() == named.keys()
    for name, (tensor, source) in named.items():
        assert loaded[name].dtype == dtype
        assert torch.equal(loaded[name], tensor.to(dtype))
        assert torch.equal(source.tensor(dtype), tensor.to(dtype))
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_file_says_that_its_tensors_are_of_torch(tmp_path):
    write_safetensors(tmp_path / "a", {"x": TensorSource.of(np.ones(3))}, torch.float32)
    with safe_open(tmp_path / "a", framework="pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_the_same_tensors_give_the_same_bytes_however_they_are_cut(tmp_path):
    rows = np.random.default_rng(0).normal(size=(6, 2))
    sources = {
        "a": TensorSource.of(rows),
        "b": TensorSource(rows.shape, lambda: [rows[:1], rows[1:5], rows[5:]]),
    }
    for name, source in sources.items():
        write_safetensors(tmp_path / name, {"x": source}, torch.bfloat16)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("given_rows", [1, 3])
def test_chunks_of_another_size_than_the_shape_says_are_refused(tmp_path, given_rows):
    source = TensorSource((2, 4), lambda: [np.ones((given_rows, 4))])
    with pytest.raises(ValueError, match=f"chunks of x hold {given_rows * 16} bytes, its shape says 32"):
        write_safetensors(tmp_path / "a", {"x": source}, torch.float32)


def test_a_tensor_too_short_is_not_made_good_by_one_too_long(tmp_path):
    sources = {
        "short": TensorSource((2,), lambda: [np.ones(1)]),
        "long": TensorSource((2,), lambda: [np.ones(3)]),
    }
    with pytest.raises(ValueError, match="short"):
        write_safetensors(tmp_path / "a", sources, torch.float32)


FORMS = {"a": TensorForm("F32", (2, 3)), "b": TensorForm("BF16", (0,))}
HELD = {"a": torch.ones(2, 3), "b": torch.zeros(0, dtype=torch.bfloat16)}


def with_header(fields: object, data: bytes = b"\0" * 24) -> bytes:
    text = fields if isinstance(fields, bytes) else json.dumps(fields).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(**fields: object) -> dict[str, object]:
    return {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]} | fields}


UNREADABLE = {
    "nothing": b"",
    "half a length": b"\1\0\0",
    "cut short": save(HELD)[:-1],
    "longer": save(HELD) + b"\0",
    "a header beyond the file": struct.pack("<Q", 10**6) + b"{}",
    "a header of 8 EiB": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": with_header(b"hello"),
    "a list": with_header([1]),
    "100,000 deep": with_header(b"[" * 100_000),
    "offsets that overlap": with_header({**one(), "b": one()["a"]}),
    "offsets backwards": with_header(one(data_offsets=[24, 0])),
    "a shape that does not fit": with_header(one(shape=[5])),
    "a shape that overflows": with_header(one(shape=[2**62, 2**62])),
    "a negative shape": with_header(one(shape=[-2, 3])),
    "a shape beyond torch": with_header(one(shape=[2**63, 0], data_offsets=[0, 0]), b""),
    "an unknown number format": with_header(one(dtype="F33")),
    "a number format that torch lacks": with_header(one(dtype="F6_E2M3", shape=[32])),
    "metadata that is no text": with_header({"__metadata__": {"a": 1}}, b""),
}


def read(path, forms=None, **options):
    with open_tensors(path, remedy="make it again") as file:
        return file.tensors() if forms is None else file.expected(forms, **options)


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(content, tmp_path):
    path = tmp_path / "held.safetensors"
    path.write_bytes(content)
    with pytest.raises(FolderError, match=r"held\.safetensors: damaged \(.+\); make it again$") as found:
        read(path)
    assert "\n" not in str(found.value)


def test_tensors_of_the_forms_expected_are_read(tmp_path):
    save_file(HELD, tmp_path / "held.safetensors")
    found = read(tmp_path / "held.safetensors", FORMS, finite=True)
    assert found.keys() == HELD.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in HELD.items())
    assert {name: TensorForm.of(tensor) for name, tensor in HELD.items()} == FORMS


@pytest.mark.parametrize(
    ("forms", "says"),
    [
        (FORMS | {"c": TensorForm("F32", ())}, "tensor 'c': expected F32 of shape [], got none"),
        ({"a": FORMS["a"]}, "tensor 'b': expected none, got BF16 of shape [0]"),
        (FORMS | {"a": TensorForm("F32", (3, 2))}, "tensor 'a': expected F32 of shape [3, 2], got F32 of shape [2, 3]"),
        (FORMS | {"a": TensorForm("F16", (2, 3))}, "tensor 'a': expected F16 of shape [2, 3], got F32"),
    ],
    ids=["missing", "one more", "shape", "number format"],
)  # fmt: skip
def test_tensors_of_other_forms_are_refused_by_name(forms, says, tmp_path):
    save_file(HELD, tmp_path / "held.safetensors")
    with pytest.raises(FolderError) as found:
        read(tmp_path / "held.safetensors", forms)
    assert says in str(found.value)


@pytest.mark.parametrize("dtype", DTYPES.values())
@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite_are_refused_where_they_must_be(dtype, number, tmp_path):
    held = {"a": torch.tensor([[1.0, number, -1.0]], dtype=dtype)}
    forms = {"a": TensorForm.of(held["a"])}
    save_file(held, tmp_path / "held.safetensors")
    assert torch.equal(read(tmp_path / "held.safetensors", forms)["a"].isnan(), held["a"].isnan())
    with pytest.raises(FolderError, match="tensor 'a': expected finite numbers"):
        read(tmp_path / "held.safetensors", forms, finite=True)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    for path, says in {tmp_path / "none": "none: missing", tmp_path: "is no file"}.items():
        with pytest.raises(FolderError, match=says):
            read(path)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_file_whose_path_is_not_utf8_is_not_called_damaged(tmp_path):
    path = tmp_path / os.fsdecode(b"d\xff") / "x.safetensors"
    path.parent.mkdir()
    path.write_bytes(b"")
    with (
        pytest.raises(FolderError, match="expected a path in UTF-8"),
        open_tensors(path, remedy="make it anew"),
    ):
        pass
