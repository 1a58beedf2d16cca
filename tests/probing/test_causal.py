"""A swap is measured against the same prompts without it, and against random directions of the same norms."""

import numpy as np
import pytest

import families
from georecall.language_models.patching import Patch, answer_log_probabilities
from georecall.language_models.prompts import Template
from georecall.probing import causal
from georecall.probing.causal import StateSwap, SwapEffect, measure_swaps
from planted_states import table_of

TEMPLATES = {"home": "The home of {subject} is", "pet": "{subject} has a", "job": "{subject} works as"}
TABLE = table_of(
    {"home": [0, 1, 2, 0], "pet": [0, -1, 1, -1], "job": [-1, -1, -1, 0]},
    subjects=["Italy", "Chad", "São Tomé", "Ann"],
)
ROWS = np.array([0, 1, 2])


def a_swap(*, layer=1, scale=1.0, rows=ROWS) -> StateSwap:
    deltas = scale * np.random.default_rng(0).normal(size=(len(rows), families.DIM))
    return StateSwap(
        relation="home", layer=layer, subjects=rows, wanted=np.roll(np.array([0, 1, 2]), 1), deltas=deltas
    )


def effect_of(lm, swap, **options) -> SwapEffect:
    (effect,) = measure_swaps(lm, TABLE, TEMPLATES, [swap], **options)
    return effect


@pytest.fixture(scope="module")
def effect(llama) -> SwapEffect:
    return effect_of(llama, a_swap())


def test_a_component_of_zeros_changes_nothing(llama):
    effect = effect_of(llama, a_swap(scale=0.0))
    for changes in (
        effect.towards,
        effect.towards_at_random,
        effect.others["pet"],
        effect.others_at_random["pet"],
    ):
        assert not np.nan_to_num(changes).any()
    assert not effect.follows


def test_towards_is_what_the_new_answer_gains_on_the_old(llama, effect):
    swap = a_swap()
    gained = {}
    for name, answers in {"new": swap.wanted, "old": TABLE.answers[ROWS, 0]}.items():
        prompts = [
            Template(TEMPLATES["home"]).render(TABLE.subjects[row]).answered(TABLE.attributes[answer])
            for row, answer in zip(ROWS, answers, strict=True)
        ]
        patch = Patch(layer=swap.layer, deltas=swap.deltas.astype(np.float32))
        with_it = answer_log_probabilities(llama, prompts, patch=patch)
        gained[name] = with_it - answer_log_probabilities(llama, prompts)
    np.testing.assert_allclose(effect.towards, gained["new"] - gained["old"], rtol=0, atol=1e-5)
    assert np.abs(effect.towards).max() > 1e-2


def test_other_relations_are_asked_in_their_own_templates_and_missing_answers_are_nan(effect):
    assert list(effect.others) == list(effect.others_at_random) == ["pet", "job"]
    np.testing.assert_array_equal(np.isnan(effect.others["pet"]), [False, True, False])
    assert np.isnan(effect.others["job"]).all()
    assert np.abs(effect.others["pet"][[0, 2]]).min() > 0


def test_the_mean_over_others_is_of_those_that_a_subject_has():
    def planted(**others):
        return SwapEffect(
            relation="home", layer=1, towards=np.zeros(3), towards_at_random=np.zeros(3),
            others={name: np.array(values) for name, values in others.items()}, others_at_random={},
        )  # fmt: skip

    effect = planted(pet=[1.0, np.nan, np.nan], job=[3.0, 5.0, np.nan])
    np.testing.assert_array_equal(effect.others_mean, [2.0, 5.0, np.nan])
    assert np.isnan(planted().others_mean).all()


def test_what_nobody_was_asked_is_null(effect):
    found = effect.summary.to_dict()
    assert found["others"]["job"] is None
    assert found["others"]["pet"]["value"] == pytest.approx(np.nanmean(effect.others["pet"]))
    assert (found["layer"], found["subjects"]) == (1, 3)


def test_random_directions_have_the_norms_of_the_components(llama, monkeypatch):
    deltas: list[np.ndarray] = []

    def kept(lm, prompts, *, patch=None, **options):
        deltas.extend([] if patch is None else [patch.deltas])
        return answer_log_probabilities(lm, prompts, patch=patch, **options)

    monkeypatch.setattr(causal, "answer_log_probabilities", kept)
    effect_of(llama, a_swap(scale=3.0))
    assert len(deltas) == 6  # old, new and pet, by the swap and at random
    own, random = deltas[0], deltas[3]
    np.testing.assert_allclose(own, a_swap(scale=3.0).deltas, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(random, axis=1), np.linalg.norm(own, axis=1), rtol=1e-5)
    cosines = (own * random).sum(axis=1) / np.linalg.norm(own, axis=1) ** 2
    assert np.abs(cosines).max() < 0.9


def test_one_seed_gives_the_same_effect_and_another_only_other_random_directions(llama, effect):
    again, other = (effect_of(llama, a_swap(), seed=seed) for seed in (0, 1))
    assert again.summary.to_dict() == effect.summary.to_dict()
    np.testing.assert_array_equal(other.towards, effect.towards)
    assert (other.towards_at_random != effect.towards_at_random).all()


@pytest.mark.parametrize(("gain", "follows"), [(1.0, True), (0.0, False), (-1.0, False)])
def test_an_answer_follows_if_it_moves_further_than_at_random(gain, follows):
    at_random = np.random.default_rng(0).normal(size=30)
    spread = np.random.default_rng(1).normal(scale=0.1, size=30)
    towards = at_random + gain + spread - spread.mean()
    effect = SwapEffect(
        relation="r", layer=1, towards=towards, towards_at_random=at_random, others={}, others_at_random={}
    )
    assert effect.follows == effect.summary.follows == follows


def test_no_swaps_have_no_effects(llama):
    assert measure_swaps(llama, TABLE, TEMPLATES, []) == ()


@pytest.mark.parametrize("layer", [0, 1])
def test_hooks_are_gone_after_an_exception_inside_a_forward_pass(llama, layer):
    before = families.hooks(llama)
    narrow = StateSwap(
        relation="home", layer=layer, subjects=ROWS, wanted=np.array([1, 2, 0]), deltas=np.ones((3, 5))
    )
    with pytest.raises(RuntimeError):
        effect_of(llama, narrow)
    assert families.hooks(llama) == before


def test_an_interruption_between_swaps_leaves_no_hook(llama):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = families.hooks(llama)
    with pytest.raises(KeyboardInterrupt):
        measure_swaps(llama, TABLE, TEMPLATES, [a_swap(), a_swap()], progress=interrupt)
    assert families.hooks(llama) == before
