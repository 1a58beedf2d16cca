"""One split, one seed, results as JSON; what cannot be dissected is refused by name."""

import copy
import json

import numpy as np
import pytest
import torch
from scipy import stats

import known_models
from georecall.constructions.associative import Associative
from georecall.constructions.direct import Direct
from georecall.constructions.one_hop import OneHop
from georecall.dissection import ANALYSES, Dissection, HeldOutSplit, dissect
from georecall.errors import AnalysisError
from georecall.facts.worlds import random_bijections, random_functions
from georecall.models.recall import RecallTransformer
from georecall.statistics.estimates import Estimate

SMALL = random_bijections(16, 2, rng=np.random.default_rng(1))


@pytest.mark.parametrize("kind", ["shuffled", "untrained", "key_value"])
def test_every_result_is_strict_json_and_read_back(kind, request):
    found = json.loads(json.dumps(request.getfixturevalue(kind).to_dict(), allow_nan=False))
    assert all(found[name] is not None for name in ANALYSES)
    assert Dissection.read(found).to_dict() == found


def test_the_same_seed_gives_the_same_and_another_seed_another_split():
    model = known_models.untrained(table=SMALL)
    first, again, other = (dissect(model, SMALL, seed=seed).to_dict() for seed in (0, 0, 1))
    assert first == again
    assert first["readout"] != other["readout"]
    assert first["swap"] != other["swap"]


@pytest.mark.parametrize("name", ANALYSES)
def test_an_analysis_gives_alone_what_it_gives_among_all(name, untrained):
    alone = dissect(known_models.untrained(), known_models.TABLE, only=[name])
    assert alone.to_dict()[name] == untrained.to_dict()[name]


def test_only_what_was_asked_for_and_what_it_needs_is_run():
    found = dissect(known_models.untrained(table=SMALL), SMALL, only=["swap", "gates"])
    assert {name for name in ANALYSES if getattr(found, name)} == {"superposition", "swap", "gates"}


def test_parts_of_the_split_are_disjoint_and_whole():
    split = HeldOutSplit.of(known_models.untrained(), known_models.TABLE, seed=3)
    assert sorted([*split.training, *split.held_out]) == list(range(known_models.SUBJECTS))
    assert len(split.held_out) == known_models.SUBJECTS // 4


def test_a_member_gives_in_an_ensemble_what_it_gives_alone():
    constructed, shuffled = (
        known_models.one_hop(),
        known_models.with_shuffled_subjects(known_models.one_hop()),
    )
    together = dissect(known_models.stacked(constructed, shuffled), known_models.TABLE)
    for member, model in enumerate((constructed, shuffled)):
        alone = dissect(model, known_models.TABLE)
        for values in (
            lambda found: found.superposition.held_out_r2,
            lambda found: found.readout.rates,
            lambda found: found.swap.swap.kept,
            lambda found: found.ablation.ablated,
            lambda found: found.gates.agreement,
        ):
            np.testing.assert_allclose(values(together).values[member], values(alone).values[0], atol=1e-9)


def test_progress_counts_the_members_of_every_analysis():
    seen = {}
    dissect(
        known_models.untrained(table=SMALL),
        SMALL,
        progress=lambda task, done, total: seen.setdefault(task, []).append((done, total)),
    )
    assert len(seen) == len(ANALYSES)
    assert all(counts == [(done, 3) for done in range(4)] for counts in seen.values())


def test_intervals_are_those_of_the_t_distribution_and_need_three_seeds():
    values = np.random.default_rng(0).normal(size=(5, 2))
    low, high = Estimate(values).interval
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose([low, high], [expected.low, expected.high])
    assert Estimate(values[:2]).interval is None
    assert Estimate(np.array([0.5, np.nan, 1.0])).to_dict() == {
        "members": [0.5, None, 1.0],
        "mean": None,
        "interval": [None, None],
    }


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_model_that_is_not_finite_is_refused_by_member_and_parameter(value):
    model = known_models.untrained(table=SMALL)
    model.layers[0].w1.data[1, 2, 3] = value
    with pytest.raises(AnalysisError, match=r"NaN or infinity in layers\.0\.w1 of member 1"):
        dissect(model, SMALL)


def test_activations_that_overflow_are_refused():
    model = known_models.untrained(table=SMALL)
    for parameter in (model.layers[0].w1, model.embedding[0]):
        parameter.data.fill_(1e30)
    with pytest.raises(AnalysisError, match="overflows"):
        dissect(model, SMALL, only=["selectivity"])


def test_one_embedding_for_all_subjects_is_refused():
    model = known_models.untrained(table=SMALL)
    model.embedding[0].data[2] = 0.1
    with pytest.raises(AnalysisError, match="got one for all in member 2"):
        dissect(model, SMALL, only=["superposition"])


@pytest.mark.parametrize("subjects", [1, 7])
def test_too_few_subjects_are_refused(subjects):
    table = random_functions(subjects, 2, 9, rng=np.random.default_rng(0))
    with pytest.raises(AnalysisError, match=f"at least 8 subjects that have all their facts, got {subjects}"):
        dissect(known_models.untrained(table=table), table)


def test_a_table_of_one_attribute_is_refused():
    table = random_functions(12, 2, 1, rng=np.random.default_rng(0))
    with pytest.raises(AnalysisError, match="at least 2 attributes"):
        dissect(known_models.untrained(table=table), table)


def test_an_analysis_that_does_not_exist_is_refused():
    with pytest.raises(AnalysisError, match="got probing"):
        dissect(known_models.untrained(table=SMALL), SMALL, only=["probing", "swap"])


@pytest.mark.parametrize("construction", [Direct, Associative])
def test_a_model_of_two_hops_is_refused(construction):
    with pytest.raises(AnalysisError, match=r"a model of one hop.*prompts of 3"):
        dissect(known_models.constructed(construction(SMALL, hops=2)), SMALL)


def test_a_model_of_another_table_is_refused():
    other = random_bijections(16, 3, rng=np.random.default_rng(1))
    with pytest.raises(AnalysisError, match=r"16 subjects and of 3 relations.*\[16, 2\]"):
        dissect(known_models.untrained(table=SMALL), other)
    with pytest.raises(AnalysisError, match=r"two parts, got parts of \[18\]"):
        dissect(RecallTransformer.from_weights(OneHop(SMALL).weights()), SMALL)
    few = copy.deepcopy(known_models.untrained(table=SMALL))
    few.unembedding.data = few.unembedding.data[:, :9]
    with pytest.raises(AnalysisError, match="each of 16 attributes, got 9 outputs"):
        dissect(few, SMALL)


def test_half_precision_models_are_dissected():
    model = known_models.one_hop().to(torch.bfloat16)
    found = dissect(model, known_models.TABLE)
    assert found.swap.swap.follow.values.min() == found.readout.rates.values.min() == 1
