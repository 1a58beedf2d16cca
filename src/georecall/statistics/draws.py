"""The random draws of probing, by what they are for."""

import numpy as np


def draws(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose: one seed never draws two things alike."""
    return np.random.default_rng([seed, *purpose.encode()])
