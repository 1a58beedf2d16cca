"""A memory that is opened answers from its file, of which only the rows that are needed are read."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from cases import WORLDS
from georecall.errors import FolderError
from georecall.facts.queries import all_queries
from georecall.memory import FactMemory
from georecall.memory import folder as memory_folder
from georecall.models.architectures import ARCHITECTURES
from georecall.models.dtypes import DTYPES

TABLE = WORLDS["family"].table


def saved(folder: Path, **options: object) -> Path:
    FactMemory.compile(TABLE, **options).save(folder)
    return folder


def alter(folder: Path, tensor: str, row: int) -> None:
    """Write the numbers of the row before into a row of a stored matrix."""
    arrays = FactMemory.open(folder).file._arrays[tensor]
    writable = np.memmap(
        folder / memory_folder.TENSORS,
        dtype=arrays.dtype,
        mode="r+",
        offset=arrays.offset,
        shape=arrays.shape,
    )
    writable[row] = writable[row - 1]
    writable.flush()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("rotate", [None, 3], ids=["plain", "rotated"])
def test_every_question_has_the_answers_and_margins_of_the_loaded_memory(tmp_path, arch, dtype, rotate):
    folder = saved(tmp_path / "memory", arch=arch, dtype=dtype, rotate=rotate)
    queries = all_queries(TABLE, 2)
    opened, loaded = (
        memory.recall(queries.subjects, queries.relations)
        for memory in (FactMemory.open(folder), FactMemory.load(folder))
    )
    np.testing.assert_array_equal(opened[0], loaded[0])
    np.testing.assert_array_equal(opened[1], loaded[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_tensors_of_an_opened_memory_are_those_of_the_loaded_one(tmp_path, dtype):
    folder = saved(tmp_path / "memory", dtype=dtype)
    opened, loaded = FactMemory.open(folder).tensors, FactMemory.load(folder).tensors
    assert opened.keys() == loaded.keys()
    assert all(opened[name].equal(loaded[name]) for name in loaded)


def test_a_small_file_that_was_altered_is_refused(tmp_path):
    folder = saved(tmp_path / "memory")
    alter(folder, "lm_head.weight", 9)
    with pytest.raises(FolderError, match=r"model\.safetensors: altered or truncated"):
        FactMemory.open(folder)


@pytest.mark.parametrize("tensor", ["lm_head.weight", "model.decoder.embed_tokens.weight"])
def test_an_answer_of_a_large_file_that_was_altered_is_right_or_refused(tmp_path, monkeypatch, tensor):
    monkeypatch.setattr(memory_folder, "SMALL", 0)
    folder, refused = saved(tmp_path / "memory"), 0
    rows = TABLE.subjects.index("Sarah") + FactMemory.open(folder).chain.vocabulary.entities.start
    alter(folder, tensor, rows)
    opened = FactMemory.open(folder)
    for subject in TABLE.subjects:
        try:
            answer = opened.ask(subject, "wife", "mother").path
        except FolderError as error:
            refused += 1
            assert "model.safetensors: damaged" in str(error)  # noqa: PT017 - others are answered
        else:
            gold = TABLE.followed(
                np.array([TABLE.subjects.index(subject)]),
                np.array([[TABLE.relations.index("wife"), TABLE.relations.index("mother")]]),
            )[0]
            assert answer == tuple(None if at < 0 else TABLE.entities[at] for at in gold)
    assert 0 < refused < len(TABLE.subjects)


def test_a_table_that_was_altered_is_refused_however_large(tmp_path, monkeypatch):
    monkeypatch.setattr(memory_folder, "SMALL", 0)
    folder, other = saved(tmp_path / "memory"), saved(tmp_path / "other")
    FactMemory.load(other).edit("Alice", "wife", "Mary").save(other, replace=True)
    shutil.copy(other / memory_folder.TABLE, folder / memory_folder.TABLE)
    with pytest.raises(FolderError, match=r"certificate\.json: table\.digest: expected"):
        FactMemory.open(folder)
