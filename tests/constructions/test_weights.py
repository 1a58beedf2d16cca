"""The reference forward pass does what its formula says, one token and one head at a time."""

import numpy as np
import pytest

from cases import random_weights
from georecall.constructions.weights import Head, TransformerWeights


def attended(past: list[np.ndarray], heads: tuple[Head, ...]) -> np.ndarray:
    """What attention brings to the last of some tokens."""
    if not heads:
        return sum(past) / len(past)
    brought = np.zeros_like(past[-1])
    for head in heads:
        scores = [np.exp((head.query @ past[-1]) @ (head.key @ state)) for state in past]
        for score, state in zip(scores, past, strict=True):
            brought += score / sum(scores) * (head.output @ (head.value @ state))
    return brought


def scores_token_by_token(weights: TransformerWeights, tokens: np.ndarray) -> np.ndarray:
    states = [
        weights.embedding[token] + place for token, place in zip(tokens, weights.positions, strict=False)
    ]
    for layer in weights.layers:
        following = []
        for time, state in enumerate(states):
            z = attended(states[: time + 1], layer.heads) + (state if weights.residual else 0)
            written = layer.mlp.w2 @ np.maximum(layer.mlp.w1 @ z + layer.mlp.b1, 0) + layer.mlp.b2
            following.append(written + (z if weights.residual else 0))
        states = following
    return weights.unembedding @ states[-1]


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("heads", [0, 1, 2])
def test_scores_are_those_of_the_formula(heads, layers, residual):
    rng = np.random.default_rng(0)
    weights = random_weights(rng, heads=heads, layers=layers, residual=residual)
    tokens = rng.integers(6, size=(4, 6))
    expected = [scores_token_by_token(weights, row) for row in tokens]
    np.testing.assert_allclose(weights.scores(tokens), expected, rtol=1e-10)
