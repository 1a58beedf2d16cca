"""Random draws, each named by what it is for: a new one never changes another's."""

import numpy as np


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator of its own for each purpose, such as `"new world", 3`: one seed never draws two things alike."""
    return np.random.default_rng([seed, *" ".join(map(str, purpose)).encode()])
