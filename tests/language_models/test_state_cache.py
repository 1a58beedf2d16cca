"""States that were found once are read from disk, and what is damaged there is never used."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import families
from georecall.errors import FolderError
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.language_models.state_cache import StateCache

TEMPLATE = Template("Let us talk about {subject}")
SUBJECTS = ("Italy", "Chad", "São Tomé", "a", "France", "Norway", "Rome")
CHUNK = 3


class KilledError(Exception):
    """Stands for an interruption at any moment."""


@pytest.fixture
def cache(tmp_path) -> StateCache:
    return StateCache(tmp_path / "cache", chunk=CHUNK)


@contextmanager
def forwards(lm: LanguageModel) -> Iterator[list[int]]:
    """The number of prompts of every forward pass in the block."""
    sizes: list[int] = []
    hook = lm.model.base_model.register_forward_pre_hook(lambda _, args: sizes.append(len(args[0])))
    try:
        yield sizes
    finally:
        hook.remove()


def extract(lm: LanguageModel, cache: StateCache | None, *, subjects=SUBJECTS, template=TEMPLATE, **options):
    lm.parts  # noqa: B018 - looks at the model once, by a forward pass
    with forwards(lm) as sizes:
        return subject_states(lm, subjects, template, cache=cache, **options), sizes


def entry_of(cache: StateCache):
    (folder,) = cache.folder.iterdir()
    return folder


def test_states_from_the_cache_are_those_that_were_found(llama, cache):
    found, first = extract(llama, cache)
    again, second = extract(llama, cache)
    np.testing.assert_array_equal(again, found)
    np.testing.assert_allclose(found, extract(llama, None)[0], rtol=0, atol=2e-5)
    assert (sum(first), sum(second)) == (len(SUBJECTS), 0)


def test_a_killed_extraction_goes_on_where_it_was(llama, cache):
    def kill(_task: str, done: int, _total: int) -> None:
        if done > CHUNK:
            raise KilledError

    with pytest.raises(KilledError):
        subject_states(llama, SUBJECTS, TEMPLATE, cache=cache, progress=kill)
    found, sizes = extract(llama, cache)
    assert sum(sizes) == len(SUBJECTS) - CHUNK
    np.testing.assert_array_equal(found, extract(llama, StateCache(cache.folder / "other", chunk=CHUNK))[0])


def test_a_killed_write_leaves_no_file(llama, cache, monkeypatch):
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(KilledError))
    with pytest.raises(KilledError):
        extract(llama, cache)
    monkeypatch.undo()
    assert not list(cache.folder.rglob("*.safetensors"))
    assert sum(extract(llama, cache)[1]) == len(SUBJECTS)


@pytest.mark.parametrize(
    "changed",
    [
        {"template": Template("Let us talk about {subject}.")},
        {"subjects": SUBJECTS[::-1]},
        {"subjects": ("Italy Chad", *SUBJECTS[2:])},
        {"lm": families.tiny("llama").untrained_control(0)},
        {"lm": families.tiny("llama", tokenizer=families.bpe_tokenizer(bos=True))},
    ],
    ids=["template", "order", "names", "weights", "tokenizer"],
)
def test_anything_else_is_not_what_the_cache_holds(changed, llama, cache):
    extract(llama, cache)
    asked = {"lm": llama, **changed}
    found, sizes = extract(cache=cache, **asked)
    assert sum(sizes) == found.shape[1]
    np.testing.assert_allclose(found, extract(cache=None, **asked)[0], rtol=0, atol=2e-5)


def test_one_state_is_read_without_the_others(llama, cache, monkeypatch):
    found, _ = extract(llama, cache)
    entry = cache.entry(llama.digest, llama.dtype, SUBJECTS, TEMPLATE, shape=found.shape)
    read = []

    @contextmanager
    def watched(*path, **options):
        with safe_open(*path, **options) as file:
            parts = {"keys": file.keys, "get_slice": file.get_slice}
            yield SimpleNamespace(**parts, get_tensor=lambda name: read.append(name) or file.get_tensor(name))

    monkeypatch.setattr("georecall.storage.tensors.safe_open", watched)
    np.testing.assert_array_equal(entry.state(2), found[2])
    assert read == ["2"] * 3


def test_an_entry_says_what_it_is(llama, cache):
    extract(llama, cache)
    said = json.loads((entry_of(cache) / "states.json").read_text(encoding="utf-8"))
    assert said["template"] == TEMPLATE.text
    assert said["model"] == llama.digest
    assert said["shape"] == [families.LAYERS + 1, len(SUBJECTS), families.DIM]


def truncate(path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def empty(path) -> None:
    path.write_bytes(b"")


def drop_a_state(path) -> None:
    tensors = load_file(path)
    tensors.pop("0")
    save_file(tensors, path)


def drop_a_subject(path) -> None:
    save_file({name: tensor[1:].copy() for name, tensor in load_file(path).items()}, path)


@pytest.mark.parametrize("damage", [truncate, empty, drop_a_state, drop_a_subject])
def test_a_damaged_file_is_named_and_made_anew_only_when_it_is_deleted(damage, llama, cache):
    found, _ = extract(llama, cache)
    path = entry_of(cache) / "subjects-00001.safetensors"
    damage(path)
    with pytest.raises(
        FolderError, match=f"{path.name}: damaged .*delete it, and the next run makes it anew"
    ):
        extract(llama, cache)
    path.unlink()
    again, sizes = extract(llama, cache)
    np.testing.assert_array_equal(again, found)
    assert sum(sizes) == CHUNK


def test_an_altered_description_is_named(llama, cache):
    extract(llama, cache)
    path = entry_of(cache) / "states.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(FolderError, match=r"states\.json: damaged"):
        extract(llama, cache)


def test_a_cache_that_cannot_be_written_is_named(llama, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FolderError, match="cannot be written"):
        extract(llama, StateCache(tmp_path / "file"))


DESCRIPTION = {"asked": "facts", "model": "a digest", "templates": {"capital": ["São Tomé {subject}"]}}
ARRAYS = {"values": np.array([[1.5, np.nan], [-0.0, 2.0]]).T, "known": np.array([True, False])}


def remembered(cache: StateCache, *, description=DESCRIPTION, arrays=ARRAYS):
    """What is remembered, and how often it was made."""
    made: list[int] = []

    def make():
        made.append(1)
        return arrays

    return cache.remembered(description, make), len(made)


def test_what_was_asked_once_is_not_asked_again(cache):
    first, second = remembered(cache), remembered(cache, arrays={"values": np.zeros(1)})
    assert (first[1], second[1]) == (1, 0)
    for found, _ in (first, second):
        assert found.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].dtype == array.dtype


@pytest.mark.parametrize(
    "changed",
    [{"model": "another"}, {"templates": {"capital": ["{subject}"]}}, {"shots": 2}],
    ids=["model", "templates", "more"],
)
def test_another_description_is_asked_for_itself(changed, cache):
    remembered(cache)
    found, made = remembered(cache, description=DESCRIPTION | changed, arrays={"other": np.ones(2)})
    assert made == 1
    np.testing.assert_array_equal(found["other"], 1)


def test_what_is_remembered_says_what_it_is(cache):
    remembered(cache)
    said = json.loads((entry_of(cache) / "states.json").read_text(encoding="utf-8"))
    assert {name: said[name] for name in DESCRIPTION} == DESCRIPTION


def test_a_killed_question_is_asked_again(cache):
    def kill():
        raise KilledError

    with pytest.raises(KilledError):
        cache.remembered(DESCRIPTION, kill)
    assert not list(cache.folder.rglob("*.safetensors"))
    assert remembered(cache)[1] == 1


@pytest.mark.parametrize("damage", [truncate, empty])
def test_damaged_arrays_are_named_and_made_anew_only_when_they_are_deleted(damage, cache):
    remembered(cache)
    path = entry_of(cache) / "arrays.safetensors"
    damage(path)
    with pytest.raises(FolderError, match=f"{path.name}: damaged .*the next run makes it anew"):
        remembered(cache)
    path.unlink()
    assert remembered(cache)[1] == 1


def test_a_state_with_one_number_altered_is_refused(llama, cache):
    extract(llama, cache)
    (chunk,) = sorted(entry_of(cache).glob("subjects-00000.safetensors"))
    content = bytearray(chunk.read_bytes())
    content[-1] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(
        FolderError, match=r"subjects-00000\.safetensors: damaged .its content is not what was"
    ):
        extract(llama, cache)
