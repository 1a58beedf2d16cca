"""Units of a construction belong to one relation: they say so, and without them that relation is forgotten."""

import numpy as np
import pytest
import torch

import known_models
from georecall.constructions.one_hop import OneHop
from georecall.dissection import ablate_units, dissect
from georecall.dissection.ablation import RANDOM_DRAWS, _random_units
from georecall.dissection.gates import measure_gates
from georecall.dissection.held_out_split import HeldOutSplit
from georecall.dissection.selectivity import Selectivity
from georecall.progress import no_progress


def test_every_unit_of_the_construction_is_active_for_one_relation(geometric):
    found = geometric.selectivity
    symbols = OneHop(known_models.TABLE).code.length
    assert found.index.min() >= 1 - 1e-9
    assert found.relation_of_unit.tolist() == [np.repeat(np.arange(3), symbols).tolist()]
    assert found.units.tolist() == [[symbols] * 3]


def test_an_untrained_model_is_not_selective(untrained):
    assert untrained.selectivity.mean_index.values.max() < 0.7


def test_the_index_is_its_formula_and_silent_units_have_none():
    #                                 one only, all alike, two alike, 6:3:3, silent
    activations = np.array(
        [[[4.0, 2.0, 1.0, 6.0, 0.0], [0.0, 2.0, 1.0, 3.0, 0.0], [0.0, 2.0, 0.0, 3.0, 0.0]]]
    )
    found = Selectivity.of(activations)
    np.testing.assert_allclose(found.index, [[1, 0, 1 / 3, 1 / 3, np.nan]])
    assert found.is_silent.tolist() == [[False] * 4 + [True]]
    assert found.relation_of_unit[0, [0, 3, 4]].tolist() == [0, 0, -1]
    assert found.mean_index.values[0] == pytest.approx((1 + 0 + 2 / 3) / 4)
    assert found.to_dict()["index"][0][4] is None
    assert found.to_dict()["silent"] == [1]


def test_with_one_relation_or_only_silent_units_there_is_no_index():
    for activations in (np.ones((1, 1, 2)), np.zeros((1, 3, 2))):
        assert Selectivity.of(activations).to_dict()["mean_index"]["mean"] is None


def test_without_its_units_a_relation_is_forgotten_and_no_other(geometric):
    found = geometric.ablation
    others = ~np.eye(3, dtype=bool)
    assert found.intact.values.tolist() == [[1.0] * 3]
    assert np.diag(found.ablated.values[0]).max() < 0.1
    assert found.ablated.values[0][others].min() == 1
    assert found.random.values[0][others].max() < 0.6  # as many random units hurt every relation


def test_without_the_units_of_the_exact_construction_every_score_ties_and_a_tie_is_wrong():
    found = dissect(known_models.one_hop(), known_models.TABLE, only=["ablation"]).ablation
    assert np.diag(found.ablated.values[0]).tolist() == [0.0] * 3


def test_units_of_a_key_value_memory_hold_single_facts_so_none_found_in_training_serve_held_out_facts(
    key_value,
):
    # Each unit serves one fact, so it is selective by design; as a circuit of a relation it does not generalise.
    assert key_value.selectivity.mean_index.values[0] == 1
    assert key_value.selectivity.is_silent.sum() == 3 * key_value.held_out_subjects
    assert key_value.ablation.ablated.values.min() == 1


def test_random_units_are_as_many_as_asked_for_and_none_is_silent():
    active = np.arange(20) % 2 == 0
    draws = list(_random_units(active, 4, np.random.default_rng(0)))
    assert [units.sum() for units in draws] == [4] * RANDOM_DRAWS
    assert not any((units & ~active).any() for units in draws)
    assert len({tuple(units) for units in draws}) > 1


def test_ablation_is_the_intervention_on_the_model():
    model = known_models.one_hop()
    found = dissect(model, known_models.TABLE, only=["ablation"])
    units = torch.from_numpy(found.selectivity.relation_of_unit == 1)
    split = HeldOutSplit.of(model, known_models.TABLE, seed=0)
    (member,) = split.members("", no_progress)
    state = model.trace(split.prompts(split.held_out), edits=ablate_units(units)).state[0]
    gold = known_models.TABLE.answers[split.held_out]
    recall = (member.answers(state).reshape(gold.shape) == gold).mean(axis=0)
    np.testing.assert_array_equal(recall, found.ablation.ablated.values[0, 1])


def test_the_answer_turns_with_what_the_relation_brings(geometric, key_value):
    for found, same in ((geometric.patching, True), (key_value.patching, False)):
        assert found.became.values.min() == 1
        assert found.kept.values[0][~np.eye(3, dtype=bool)].max() < 0.1
        assert found.same_as_asking is same


def test_patching_a_model_that_knows_nothing_turns_nothing(untrained, shuffled):
    assert max(untrained.patching.became.values.max(), shuffled.patching.became.values.max()) < 0.15


def test_under_uniform_attention_patching_is_asking_the_other_relation():
    became = dissect(known_models.one_hop(), known_models.TABLE, only=["patching"]).patching.became.values
    assert (became == became[:, :1]).all()


def test_gates_agree_as_the_jacobians_written_out():
    model = known_models.untrained(members=1)
    split = HeldOutSplit.of(model, known_models.TABLE, seed=0)
    found = measure_gates(split)
    (member,), (layer,) = split.members("", no_progress), model.layers
    active = member.activations(split.prompts(split.held_out)).pre_activation[0] > 0
    jacobians = torch.einsum("ow,bw,wd->bod", layer.w2[0], active.float(), layer.w1[0]).detach().flatten(1)
    cosines = torch.nn.functional.normalize(jacobians) @ torch.nn.functional.normalize(jacobians).T
    cosines = cosines.unflatten(1, (-1, 3)).unflatten(0, (-1, 3))
    same = ~torch.eye(len(split.held_out), dtype=torch.bool)
    expected = [
        [(cosines[:, r, :, q][same] if r == q else cosines[:, r, :, q]).mean().item() for q in range(3)]
        for r in range(3)
    ]
    np.testing.assert_allclose(found.agreement.values[0], expected, atol=1e-5)
    mean = jacobians.unflatten(0, (-1, 3)).mean(dim=0).unflatten(1, (6, 20))
    energy = torch.linalg.svdvals(mean) ** 2
    expected = energy.sum(dim=1) ** 2 / (energy**2).sum(dim=1)
    np.testing.assert_allclose(found.effective_ranks.values[0], expected, rtol=1e-4)


def test_the_map_of_a_relation_has_the_rank_of_its_code_and_nothing_in_common_with_another():
    found = dissect(known_models.one_hop(), known_models.TABLE, only=["gates"]).gates
    symbols = OneHop(known_models.TABLE).code.length
    assert found.energy_ranks.values.max() <= symbols
    assert found.agreement.values[0][~np.eye(3, dtype=bool)].tolist() == [0.0] * 6


def test_closed_gates_have_no_rank_and_no_agreement():
    model = known_models.untrained()
    model.layers[0].b1.data.fill_(-1e4)
    found = dissect(model, known_models.TABLE, only=["gates", "ablation"])
    assert found.gates.to_dict()["energy_ranks"]["mean"] == [None] * 3
    assert found.gates.to_dict()["agreement"]["mean"] == [[None] * 3] * 3
    assert found.ablation.units.tolist() == [[0] * 3] * 3
    assert found.selectivity.is_silent.all()
