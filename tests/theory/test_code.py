"""What a construction asks of every code, and what it refuses."""

from dataclasses import dataclass

import numpy as np
import pytest

from cases import WORLDS
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.constructions.one_hop import OneHop
from georecall.errors import CodeError
from georecall.theory.code import Code
from georecall.theory.code_registry import CODES, shortest_code

SIZE = 200


@dataclass(frozen=True)
class ListedCode(Code):
    """Words that are written out, right or wrong."""

    composition: tuple[int, ...]
    words: tuple[tuple[int, ...], ...]

    @property
    def capacity(self):
        return len(self.words)

    def margin(self):
        return 1

    def unrank(self, indices):
        return np.array(self.words, dtype=np.int8)[indices]


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("name", CODES)
def test_a_registered_code_keeps_its_words_apart_by_its_margin(name, levels):
    code = shortest_code(SIZE, levels, name=name)
    words = code.first_words(SIZE).astype(int)
    products = words @ words.T
    assert (products.diagonal() == code.squared_norm).all()
    assert (words.sum(axis=1) == code.level_sum).all()
    assert words.max() == code.highest_level
    assert (code.squared_norm - products[~np.eye(SIZE, dtype=bool)]).min() >= code.margin() >= 1


@pytest.mark.parametrize("name", CODES)
def test_a_registered_code_has_its_flag_beside_a_zero(name):
    code = shortest_code(SIZE, 3, name=name)
    assert code.first_words(1)[0, [code.flag - 1, code.flag]].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            ListedCode((1, 2), ((0, 1, 1), (0, 0, 1), (1, 1, 0))),
            r"hold its levels \(1, 2\) times, got \[0, 0, 1\]",
        ),
        (ListedCode((1, 2), ((1, 0, 1), (0, 1, 1), (1, 1, 0))), r"codeword 0 must ascend, got \[1, 0, 1\]"),
        (
            ListedCode((1, 0, 1), ((0, 2), (2, 0), (2, 0))),
            r"levels 0 and 1 of a code must occur, got \(1, 0, 1\)",
        ),
        (ListedCode((1, 1), ((0, 1),)), "expected a code of [23] words or more, got 1"),
        (ListedCode((2, 2), ((0, 0, 1, 1), (0, 0, 1, 2), (0, 1, 0, 1))), r"got \[0, 0, 1, 2\]"),
    ],
    ids=["another multiset", "first not ascending", "no level 1", "too few", "a level too high"],
)
@pytest.mark.parametrize("construction", [OneHop, lambda table, **how: ChainOfThought(table, 1, **how)])
def test_a_construction_refuses_a_code_that_is_none(code, why, construction, monkeypatch):
    monkeypatch.setitem(CODES, "listed", lambda *_: code)
    built = construction(WORLDS["one fact"].table, code_name="listed")
    with pytest.raises(CodeError, match=why):
        built.weights()


def test_an_unknown_code_is_refused_by_name():
    with pytest.raises(CodeError, match="expected a code among composition, got 'morse'"):
        shortest_code(8, name="morse")
