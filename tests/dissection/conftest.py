"""Dissections that several tests look at, made once."""

import pytest

import known_models
from georecall.dissection import Dissection, dissect


@pytest.fixture(scope="session", params=["plain", "rotated"])
def geometric(request) -> Dissection:
    model = known_models.one_hop()
    return dissect(model if request.param == "plain" else known_models.rotated(model), known_models.TABLE)


@pytest.fixture(scope="session")
def shuffled() -> Dissection:
    return dissect(known_models.with_shuffled_subjects(known_models.one_hop()), known_models.TABLE)


@pytest.fixture(scope="session")
def untrained() -> Dissection:
    return dissect(known_models.untrained(), known_models.TABLE)


@pytest.fixture(scope="session")
def key_value() -> Dissection:
    return dissect(known_models.key_value(), known_models.TABLE)
