"""Grids of worlds from lists: every combination once, the smallest worlds first; all problems are said at once."""

import pytest

from georecall.errors import TrainingError
from georecall.training.grids import capacity_grid

LISTS = {"subjects": "8", "relations": "2", "freeze": "none", "learning_rates": "0.1"}


def grid(**fields):
    return capacity_grid(**(LISTS | fields))


def problems(**fields):
    with pytest.raises(TrainingError) as caught:
        grid(**fields)
    first, *lines = str(caught.value).split("\n  ")
    assert first == "wrong settings"
    return lines


def test_there_is_a_cell_for_every_combination_the_smallest_worlds_first():
    cells = grid(subjects="64,8", relations="4, 2", freeze="none,subjects")
    assert [(cell.n_subjects, cell.n_relations, cell.freeze) for cell in cells] == [
        (n, r, what) for n, r in ((8, 2), (8, 4), (64, 2), (64, 4)) for what in ("none", "subjects")
    ]


def test_what_is_given_twice_counts_once():
    cells = grid(subjects="8,16,8", relations="2, 2", freeze="none,none", learning_rates="0.1,0.10,0.03")
    assert [cell.n_subjects for cell in cells] == [8, 16]
    assert cells[0].learning_rates == (0.1, 0.03)


def test_other_settings_go_to_every_cell():
    cells = grid(subjects="8,16", width="N", most_dim=32, world_seed=3, target=0.9, device="cpu")
    assert {(cell.width, cell.most_dim, cell.world_seed, cell.target) for cell in cells} == {
        ("N", 32, 3, 0.9)
    }


ONE_PROBLEM = {
    "no subjects": ({"subjects": ""}, "subjects: expected a list such as 64,128, got ''"),
    "a gap in a list": ({"relations": "2,,4"}, "relations: expected a list such as 2,4, got '2,,4'"),
    "a fraction of a relation": ({"relations": "2.5"}, "relations: expected a list such as 2,4, got '2.5'"),
    "no learning rate": ({"learning_rates": " "}, "learning_rates: expected a list such as 0.03,0.1, got ' '"),
    "0 subjects": ({"subjects": "0,8"}, "n_subjects: ", "got 0"),
    "learning rate NaN": ({"learning_rates": "nan"}, "learning_rates.0: ", "got nan"),
    "an infinite learning rate": ({"learning_rates": "0.1,1e999"}, "learning_rates.1: ", "got inf"),
    "an unknown part to freeze": ({"freeze": "none,all"}, "freeze: ", "'all'"),
    "nothing named to freeze": ({"freeze": ""}, "freeze: ", "''"),
    "a target above all facts": ({"target": 1.01, "subjects": "8,16"}, "target: ", "got 1.01"),
    "target NaN": ({"target": float("nan")}, "target: ", "got nan"),
    "no dimension": ({"most_dim": 0}, "most_dim: ", "got 0"),
    "an unknown width": ({"width": "d"}, "width: expected a multiple of d", "'d'"),
    "an unknown attention": ({"attention": "flash"}, "attention: ", "'flash'"),
    "a setting that is none": ({"depth": 3}, "depth: ", "got 3"),
    "hops with uniform attention": ({"hops": 2}, "attention must be learned for 2 hops"),
    "a chain of one hop": ({"mode": "cot"}, "mode cot needs hops of 2 or more"),
    "a device that is not there": ({"device": "abacus"}, "this machine has, got 'abacus'"),
    "too many questions": ({"subjects": "1000000", "relations": "1000"}, "got 1,000,000 · 1,000^1"),
    "too many hops": ({"hops": 10**9, "attention": "learned"}, "at most 100,000,000", "8 · 2^1,000,000,000"),
    "too large a model": ({"most_dim": 10**9}, "fits in memory"),
    "too many hops of one relation": ({"relations": "1", "hops": 10**12, "attention": "learned"}, "in memory"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "says"), [(fields, says) for fields, *says in ONE_PROBLEM.values()], ids=ONE_PROBLEM
)
def test_what_cannot_be_measured_is_one_line(fields, says):
    (line,) = problems(**fields)
    assert "\n" not in line
    assert all(part in line for part in says)


def test_all_problems_are_said_at_once_and_each_once():
    lines = problems(
        subjects="8,x",
        relations="",
        learning_rates="0.1,-1",
        freeze="all,every",
        target=2.0,
        most_dim=0,
        width="d",
        device="abacus",
    )
    starts = ("subjects: ", "relations: ", "expected a device", "freeze: ", "width: ", "target: ",
              "learning_rates.1: ", "most_dim: ", "freeze: ")  # fmt: skip
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == list(starts)


def test_only_the_worlds_that_are_too_large_are_named():
    lines = problems(subjects="8,1000000", relations="2,200,300", most_dim=8)
    assert [line.rpartition("got ")[2] for line in lines] == ["1,000,000 · 200^1", "1,000,000 · 300^1"]
