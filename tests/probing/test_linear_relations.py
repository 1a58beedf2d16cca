"""An affine map from state to output is found where there is one."""

import json

import numpy as np
import pytest

from georecall.errors import ProbingError
from georecall.probing.linear_relations import linear_relation

N, DIM, TOKENS = 120, 12, 30


def decode(states):
    assert states.dtype == np.float32
    return (states @ HEAD).argmax(axis=1)


RNG = np.random.default_rng(0)
HEAD = RNG.normal(size=(DIM, TOKENS)).astype(np.float32)


def planted(noise, layer=2, layers=4):
    """Outputs are an affine image of the state of one layer; the others are noise."""
    rng = np.random.default_rng(1)
    states = rng.normal(size=(layers, N, DIM)).astype(np.float32)
    outputs = states[layer] @ rng.normal(size=(DIM, DIM)) + 0.5 + noise * rng.normal(size=(N, DIM))
    return states, outputs.astype(np.float32), decode(outputs.astype(np.float32))


def test_an_affine_output_is_given_back_from_its_layer_and_from_no_other():
    states, outputs, predicted = planted(0.0)
    found = linear_relation(states, outputs, decode, predicted)
    assert found.chosen_layers == (2,) * 5
    assert found.faithfulness.value > 0.95
    assert found.faithfulness == found.by_layer[2]
    assert max(found.by_layer[layer].value for layer in (0, 1, 3)) < 0.3
    assert all(comparison.beaten for comparison in found.comparisons)


def test_outputs_that_have_nothing_to_do_with_the_states_beat_nothing():
    states, *_ = planted(0.0)
    _, outputs, predicted = planted(1e3)
    found = linear_relation(states, outputs, decode, predicted)
    assert not any(comparison.beaten for comparison in found.comparisons)


def test_layer_0_is_never_chosen():
    states, outputs, predicted = planted(0.0, layer=0)
    found = linear_relation(states, outputs, decode, predicted, layers=(0, 3, 6, 9))
    assert found.by_layer[0].value > 0.95
    assert 0 not in found.chosen_layers
    assert set(found.chosen_layers) <= {3, 6, 9}


def test_the_commonest_token_is_that_of_the_training_part():
    states, outputs, _ = planted(0.0)
    predicted = np.where(np.arange(N) % 3 == 0, 5, 9)
    found = linear_relation(states, outputs, decode, predicted)
    assert found.comparisons[0].control == "commonest token"
    assert found.comparisons[0].score == pytest.approx(2 / 3)
    every_other = linear_relation(states, outputs, decode, np.arange(N))
    assert every_other.comparisons[0].score == 0  # the commonest of the others is never one's own


def test_held_out_outputs_do_not_reach_their_own_estimates():
    states, outputs, predicted = planted(0.0)

    def estimates():
        """What is decoded of every layer."""
        seen = []

        def spy(states):
            seen.append(states.copy())
            return decode(states)

        linear_relation(states, outputs, spy, predicted)
        return np.stack(seen[: len(states)])

    before = estimates()
    outputs[7] += 50
    after = estimates()
    np.testing.assert_array_equal(before[:, 7], after[:, 7])
    assert not np.array_equal(before, after)


def test_wide_outputs_are_fitted_as_narrow_ones_are():
    states, outputs, predicted = planted(0.5)
    wide = np.hstack([outputs, np.zeros((N, 200), dtype=np.float32)])
    narrow = linear_relation(states, outputs, decode, predicted)
    assert linear_relation(states, wide, lambda z: decode(z[:, :DIM].copy()), predicted) == narrow


def test_one_seed_gives_one_result_and_results_are_json():
    states, outputs, predicted = planted(0.5)
    runs = [linear_relation(states, outputs, decode, predicted, seed=seed).to_dict() for seed in (0, 0, 1)]
    assert json.dumps(runs[0], allow_nan=False) == json.dumps(runs[1]) != json.dumps(runs[2])


def test_too_few_subjects_and_layers_that_do_not_fit_are_refused():
    states, outputs, predicted = planted(0.0)
    with pytest.raises(ProbingError, match="expected 20 subjects or more, got 19"):
        linear_relation(states[:, :19], outputs[:19], decode, predicted[:19])
    with pytest.raises(ProbingError, match="for 4 states, got"):
        linear_relation(states, outputs, decode, predicted, layers=(0, 1))
