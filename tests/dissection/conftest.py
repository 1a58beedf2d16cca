"""Dissections that several tests look at, made once."""

import pytest

import specimens
from georecall.dissection import Dissection, dissect


@pytest.fixture(scope="session", params=["plain", "rotated"])
def geometric(request) -> Dissection:
    model = specimens.one_hop()
    return dissect(model if request.param == "plain" else specimens.rotated(model), specimens.TABLE)


@pytest.fixture(scope="session")
def shuffled() -> Dissection:
    return dissect(specimens.with_shuffled_subjects(specimens.one_hop()), specimens.TABLE)


@pytest.fixture(scope="session")
def untrained() -> Dissection:
    return dissect(specimens.untrained(), specimens.TABLE)


@pytest.fixture(scope="session")
def key_value() -> Dissection:
    return dissect(specimens.key_value(), specimens.TABLE)
