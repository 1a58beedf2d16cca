"""A record is written as JSON and read back as what it was; anything else is refused by name."""

import json
import math
from typing import Annotated

import numpy as np
import pytest
from jaxtyping import Float64, Int64
from pydantic import ValidationError

from georecall.records import AsLists, Number, Record, derived
from georecall.statistics.estimates import Estimate
from georecall.statistics.quantities import Quantity


class Sizes(Record):
    """One of every kind of field."""

    rates: Estimate
    counts: Annotated[Int64[np.ndarray, "members units"], AsLists()]
    weights: Annotated[Float64[np.ndarray, "units dim"], AsLists()]
    dims: tuple[int, ...]
    by_dim: dict[int, Number]

    @derived
    def largest(self) -> int:
        """The largest of the dims."""
        return max(self.dims)


SIZES = Sizes(
    rates=Estimate(np.array([0.5, np.nan, 1.0])),
    counts=np.array([[1, 2]]),
    weights=np.array([[0.5, np.nan]]),
    dims=(3, 4),
    by_dim={3: math.nan},
)
WRITTEN = {
    "rates": {"members": [0.5, None, 1.0], "mean": None, "interval": [None, None]},
    "counts": [[1, 2]],
    "weights": [[0.5, None]],
    "dims": [3, 4],
    "by_dim": {"3": None},
    "largest": 4,
}


def test_what_is_derived_is_written_and_nan_is_null():
    assert json.loads(json.dumps(SIZES.to_dict(), allow_nan=False)) == WRITTEN


def test_it_is_read_back_with_its_types():
    read = Sizes.read(json.loads(json.dumps(WRITTEN)))
    assert read.to_dict() == WRITTEN
    assert (read.dims, list(read.by_dim), read.largest) == ((3, 4), [3], 4)
    assert (read.counts.dtype, read.weights.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(read.rates.values, [0.5, np.nan, 1.0])


def test_what_is_derived_may_be_missing_and_is_worked_out_anew():
    given = WRITTEN | {"rates": {"members": [0.5, 1.0]}, "largest": 99}
    read = Sizes.read(given)
    assert (float(read.rates.mean), read.rates.interval, read.largest) == (0.75, None, 4)


REFUSED = {
    "a number as text": ({"dims": ["3"]}, "dims"),
    "a broken number": ({"dims": [3.5]}, "dims"),
    "a field too few": ({"dims": None}, "dims"),
    "a field too many": ({"width": 3}, "unknown field 'width'"),
    "a ragged array": ({"weights": [[1.0], [1.0, 2.0]]}, "weights"),
    "an array with an axis too few": ({"weights": [1.0]}, "axes 'units dim'"),
    "text in an array": ({"weights": [["x"]]}, "nested lists of numbers"),
    "a broken number in whole ones": ({"counts": [[1.5]]}, "whole numbers"),
    "nothing in whole numbers": ({"counts": [[None]]}, "whole numbers"),
    "a key that is no number": ({"by_dim": {"x": 1.0}}, "by_dim"),
    "an estimate without members": ({"rates": {"mean": 1.0}}, "members"),
}


@pytest.mark.parametrize(("change", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_something_else_is_refused_by_name(change, says):
    with pytest.raises(ValidationError, match=says):
        Sizes.read(WRITTEN | change)


def test_a_record_cannot_be_changed():
    with pytest.raises(ValidationError):
        SIZES.dims = (5,)


STATED = {
    "an interval": ({"value": 0.5, "interval": (-0.25, 0.75)}, "x 0.500 (−0.250 … 0.750)"),
    "no interval": ({"value": 0.5, "form": ".1f"}, "x 0.5"),
    "a whole number": ({"value": 1234}, "x 1,234"),
    "a unit": ({"value": 3, "unit": "of 5"}, "x 3 of 5"),
    "a share": ({"value": 0.07, "form": ".0%"}, "x 7%"),
    "one for each seed": ({"value": (5, None, 7)}, "x 5, none, 7"),
    "nothing": ({"value": None, "interval": (0.0, 1.0)}, "x none"),
    "not defined": ({"value": math.nan}, "x –"),
    "no negative zero": ({"value": -0.0001}, "x 0.000"),
    "controls and chance": (
        {"value": 0.5, "controls": (Quantity(name="shuffled", value=0.125),), "chance": 1 / 256},
        "x 0.500, shuffled 0.125, chance 0.0039",
    ),
}


@pytest.mark.parametrize(("fields", "words"), STATED.values(), ids=STATED)
def test_a_quantity_is_put_into_words(fields, words):
    quantity = Quantity(name="x", **fields)
    assert quantity.words == words
    if not (isinstance(quantity.value, float) and math.isnan(quantity.value)):
        assert Quantity.read(quantity.to_dict()) == quantity
