"""Tensors written a few rows at a time are the tensors that safetensors reads."""

import hashlib
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file

from georecall.storage.tensors import DTYPE_NAMES, TensorSource, write_safetensors

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
    st.sampled_from([*DTYPE_NAMES]),
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
