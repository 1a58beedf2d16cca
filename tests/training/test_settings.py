"""A wrong request is refused before any work, with a line for each of its problems."""

import math
from types import SimpleNamespace

import psutil
import pytest
import torch
from recipes import recipe

from georecall.errors import FolderError, TrainingError
from georecall.training.config import TrainConfig
from georecall.training.settings import check_all, check_room, check_world, checked_config, checked_device

NAN, INF = math.nan, math.inf


def problems(call, *arguments, **options):
    with pytest.raises(TrainingError) as found:
        call(*arguments, **options)
    first, *lines = str(found.value).split("\n  ")
    assert first == "wrong settings"
    return lines


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dim", 0),
        ("width", -1),
        ("hops", 0),
        ("mode", "both"),
        ("attention", "none"),
        ("freeze", "all"),
        ("attribute_dim", 0),
        ("seeds", 0),
        ("first_seed", -1),
        ("first_seed", 1 << 63),
        ("steps", 0),
        ("batch", 0),
        ("check_every", 0),
        ("embedding_noise", -0.1),
        ("embedding_noise", INF),
        ("label_smoothing", 1),
        ("label_smoothing", NAN),
        ("weight_decay", NAN),
        ("weight_decay", -1),
        ("held_out", 1),
        ("held_out", NAN),
        ("margin", -1),
        ("margin", NAN),
        ("learning_rates", []),
        ("dimension", 4),
    ],
)
def test_a_wrong_field_is_named_with_its_value(field, value):
    (line,) = problems(checked_config, {"dim": 2, "width": 2} | {field: value})
    assert line.startswith(f"{field}: ")
    assert line.endswith(f", got {value!r}")


@pytest.mark.parametrize("rate", [0, -1, NAN, INF, "", "fast"])
def test_a_wrong_learning_rate_is_named_by_its_place(rate):
    (line,) = problems(checked_config, {"dim": 2, "width": 2, "learning_rates": [0.1, rate]})
    assert line.startswith("learning_rates.1: ")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"hops": 2}, "attention must be learned for 2 hops"),
        (
            {"residual": True, "attribute_dim": 1},
            "attribute_dim must be dim = 4 with a residual stream, got 1",
        ),
        ({"attribute_dim": 5}, "attribute_dim must be at most dim = 4, got 5"),
        ({"held_out": 0.1}, "held_out needs hops of 2 or more"),
        ({"mode": "cot"}, "mode cot needs hops of 2 or more"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields, says):
    (line,) = problems(checked_config, {"dim": 4, "width": 2} | fields)
    assert line.startswith(says)


def test_a_config_that_is_right_is_given_back_with_its_members():
    config = checked_config({"dim": 4, "width": 8, "learning_rates": ["0.1", "0.2"], "seeds": 2})
    assert isinstance(config, TrainConfig)
    assert config.members == ((0.1, 0), (0.1, 1), (0.2, 0), (0.2, 1))
    assert (config.out, config.context) == (4, 2)


def test_a_chain_of_thought_has_places_for_the_entities_on_the_way():
    assert recipe(hops=3, attention="learned", mode="cot").context == 6
    assert recipe(hops=3, attention="learned").context == 4


def test_all_problems_come_at_once_a_line_each():
    def occupied():
        raise FolderError("run: already exists")

    lines = problems(
        check_all,
        lambda: checked_config({"dim": 0, "width": 2, "seeds": 0}),
        lambda: check_world(0, -2),
        lambda: checked_device("abacus"),
        occupied,
    )
    assert [line.partition(":")[0].partition(" must")[0] for line in lines] == [
        "dim",
        "seeds",
        "subjects",
        "relations",
        "expected a device that this machine has, got 'abacus'",
        "run",
    ]


def test_nothing_is_raised_where_nothing_is_wrong():
    check_all(lambda: check_world(10**8, 1), lambda: checked_device("cpu"))


def test_a_world_of_more_facts_than_can_be_asked_is_refused():
    (line,) = problems(check_world, 10**9, 4)
    assert line == "subjects · relations must be at most 100,000,000, got 1,000,000,000 · 4"


@pytest.mark.parametrize("name", ["", "gpu", "meta", "privateuseone", "cuda:99"])
def test_a_device_that_the_machine_has_not_is_refused(name):
    with pytest.raises(TrainingError, match=f"device that this machine has, got '{name}'"):
        checked_device(name)


def test_a_device_that_the_machine_has_is_given_back():
    assert checked_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize(
    "fields", [{"dim": 10**9}, {"width": 10**12}, {"seeds": 10**12}, {"dim": 10**6, "attention": "learned"}]
)
def test_an_ensemble_that_does_not_fit_in_memory_is_refused(fields, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**33))
    with pytest.raises(TrainingError, match=r"expected an ensemble that fits in memory, got .* members"):
        check_room(recipe(**fields), subjects=4, relations=2, attributes=4)


def test_the_weights_that_memory_is_counted_for_are_those_of_the_ensemble(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=0))
    config = recipe(attention="learned", dim=4, width=7, seeds=3)
    weights = 3 * ((5 + 2 + 2) * 4 + 5 * 4 + 4 * 16 + 7 * 8)
    says = f"3 members with {weights:,} weights: training needs {16 * weights:,} bytes"
    with pytest.raises(TrainingError, match=says):
        check_room(config, subjects=5, relations=2, attributes=5)
