"""Layers are read as they are written, and what is out of range is named with its value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.errors import ProbingError
from georecall.probing.settings import MOST_LAYERS, ProbeSettings, checked_settings, read_layers


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("all", None),
        (" all ", None),
        ("8", (8,)),
        ("8,12", (8, 12)),
        ("8, 12", (8, 12)),
        ("20-24", (20, 21, 22, 23, 24)),
        ("3-30:9", (3, 12, 21, 30)),
        ("5-5", (5,)),
        ("2,4-6,3", (2, 4, 5, 6, 3)),
    ],
)
def test_layers_are_numbers_and_ranges(text, layers):
    assert read_layers(text) == layers


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=4))
def test_a_range_has_its_ends_and_every_step_between_them(ranges):
    text = ",".join(f"{first}-{first + length * step}:{step}" for first, length, step in ranges)
    expected = [first + i * step for first, length, step in ranges for i in range(length + 1)]
    assert read_layers(text) == tuple(expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",",
        "8,",
        "8,,9",
        "last",
        "ALL",
        "-3",
        "3-",
        "1.5",
        "5-2",
        "2,5-2",
        "2-5:0",
        "5-2:-1",
        "3:2",
        "2-5:",
        "1-2-3",
        "1--2",
        "٣",
        f"1-{MOST_LAYERS + 1}",
        "1-99999999999999",
    ],
)
def test_what_names_no_layers_is_refused_with_what_came(text):
    with pytest.raises(ProbingError) as caught:
        read_layers(text)
    assert str(caught.value) == (
        f"expected 'all', or layers such as '8,12' or '20-24' or '3-30:3', got {text!r}"
    )


def test_all_layers_are_those_after_every_block():
    assert ProbeSettings().layers_of(3) == (1, 2, 3)


def test_layers_are_in_order_and_once():
    assert ProbeSettings(layers=(3, 1, 3)).layers_of(3) == (1, 3)


@pytest.mark.parametrize("layers", [(4,), (1, 4), ()])
def test_layers_that_the_model_does_not_have_are_refused(layers):
    with pytest.raises(ProbingError, match="expected layers from 1 to 3, got"):
        ProbeSettings(layers=layers).layers_of(3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("folds", 1), ("folds", 21), ("shots", -1), ("shuffles", 0), ("swaps", -1), ("seed", -1), ("known_only", "so")],
)  # fmt: skip
def test_a_setting_out_of_range_is_named_with_its_value(name, value):
    with pytest.raises(ProbingError, match=f"^{name}: .*, got {value!r}$"):
        checked_settings(**{name: value})


def test_layer_0_is_never_chosen_as_it_is_a_control():
    with pytest.raises(ProbingError, match=r"^layers: .*, got 0$"):
        checked_settings(layers=(0, 1))


def test_a_setting_that_does_not_exist_is_refused():
    with pytest.raises(ProbingError, match=r"^fold: "):
        checked_settings(fold=3)


def test_settings_are_kept_as_json_and_read_back():
    settings = checked_settings(layers=(2, 1), folds=2, swaps=0, random_weights=False)
    assert ProbeSettings.model_validate_json(json.dumps(settings.model_dump(mode="json"))) == settings
