"""A patch changes one state of one token and nothing else, and is gone afterwards."""

import numpy as np
import pytest
import torch

import families
from georecall.errors import ProbingError
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.patching import Patch, added_to_state, answer_log_probabilities
from georecall.language_models.prompts import Template

TEMPLATE = Template("The capital of {subject} is")
QUOTED = Template('The capital of "{subject}" is')
LETTERS = ("B", "K", "Z", "D")
"""Names of one token each in `QUOTED`, so that prompts are of one length and differ in one place."""
EXACT = {"rtol": 0, "atol": 1e-4}


def prompts_of(subjects, *, answer: str = "Paris"):
    return [TEMPLATE.render(subject).answered(answer) for subject in subjects]


@pytest.fixture(scope="module")
def layers() -> range:
    return range(families.LAYERS + 1)


def test_a_patch_of_zeros_changes_nothing(lm, layers):
    prompts = prompts_of(["Italy", "São Tomé", "a"])
    expected = answer_log_probabilities(lm, prompts)
    for layer in layers:
        patch = Patch(layer=layer, deltas=np.zeros((3, lm.dim), dtype=np.float32))
        np.testing.assert_array_equal(answer_log_probabilities(lm, prompts, patch=patch), expected)


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_another_subject_at_state_0_gives_its_answer(lm, batch):
    prompts = [QUOTED.render(subject).answered("Paris") for subject in LETTERS]
    states = subject_states(lm, LETTERS, QUOTED)[0]
    patch = Patch(layer=0, deltas=np.roll(states, 1, axis=0) - states)
    patched = answer_log_probabilities(lm, prompts, patch=patch, batch=batch)
    own = answer_log_probabilities(lm, prompts)
    np.testing.assert_allclose(patched, np.roll(own, 1), **EXACT)
    assert np.abs(patched - own).max() > 1e-2


def test_state_L_of_the_subject_is_read_by_no_other_token(lm):  # noqa: N802 - L is the number of layers
    prompts = prompts_of(["Italy", "São Tomé"])
    patch = Patch(layer=lm.n_layers, deltas=np.ones((2, lm.dim)))
    np.testing.assert_allclose(
        answer_log_probabilities(lm, prompts, patch=patch), answer_log_probabilities(lm, prompts), **EXACT
    )


def test_prompts_of_unequal_length_are_patched_each_in_its_place(lm):
    subjects = ["Italy", "a", "Norway and Italy", "São Tomé"]
    prompts = prompts_of(subjects)
    deltas = np.random.default_rng(0).standard_normal((4, lm.dim)).astype(np.float32)
    together = answer_log_probabilities(lm, prompts, patch=Patch(layer=1, deltas=deltas))
    for row, prompt in enumerate(prompts):
        alone = answer_log_probabilities(lm, [prompt], patch=Patch(layer=1, deltas=deltas[[row]]))
        np.testing.assert_allclose(together[row], alone[0], **EXACT)


def test_only_the_state_at_the_position_is_moved(llama, layers):
    ids = torch.tensor([llama.tokenizer("The capital of Chad is")["input_ids"]] * 2)
    positions, deltas = torch.tensor([1, 3]), torch.ones(2, llama.dim)
    seen = []
    for layer in layers:
        with torch.inference_mode():
            with llama.parts.visiting(layer, lambda state: seen.append(state.clone())):
                llama.model(ids)
            added = added_to_state(llama, layer, positions, deltas)
            with added, llama.parts.visiting(layer, lambda state: seen.append(state.clone())):
                llama.model(ids)
        before, after = seen[-2:]
        moved = torch.zeros_like(before)
        moved[[0, 1], positions] = 1
        torch.testing.assert_close(after - before, moved, rtol=0, atol=1e-5)


@pytest.mark.parametrize("layer", [0, 2])
def test_hooks_are_gone_after_the_block_and_after_an_error(layer, llama):
    before = families.hooks(llama)
    position, delta = torch.tensor([0]), torch.zeros(1, llama.dim)
    with added_to_state(llama, layer, position, delta):
        assert families.hooks(llama) == before + 1
    assert families.hooks(llama) == before
    with pytest.raises(IndexError), added_to_state(llama, layer, torch.tensor([99]), delta):
        llama.model(torch.tensor([[1, 2]]))
    assert families.hooks(llama) == before


@pytest.mark.parametrize("layer", [-1, families.LAYERS + 1])
def test_a_state_that_the_model_does_not_have_is_refused(layer, llama):
    patch = Patch(layer=layer, deltas=np.zeros((1, llama.dim)))
    with pytest.raises(ProbingError, match=f"expected a state from 0 to 3 .*, got {layer}"):
        answer_log_probabilities(llama, prompts_of(["Italy"]), patch=patch)


def test_a_patch_for_other_prompts_is_refused(llama):
    patch = Patch(layer=1, deltas=np.zeros((2, llama.dim)))
    with pytest.raises(ProbingError, match="each of 3 prompts, got 2"):
        answer_log_probabilities(llama, prompts_of(["Italy", "Chad", "Ann"]), patch=patch)


def test_no_prompts_have_no_answers(llama):
    patch = Patch(layer=1, deltas=np.zeros((0, llama.dim)))
    assert answer_log_probabilities(llama, [], patch=patch).shape == (0,)
