"""What is planted in states is found beside its controls, and what cannot be probed is told apart from the rest."""

import json
from collections import Counter

import numpy as np
import pytest

from georecall.errors import ProbingError
from georecall.language_models.table_states import HiddenStates
from georecall.probing.findings import Findings, analyse
from planted_states import layers_with, random_table, superposed, table_of, vectors_of

LAYERS = (0, 4, 9)


def states_of(table, *, at=(1, 2), noise=0.05, **fields) -> HiddenStates:
    vectors = vectors_of(table)
    states = layers_with(superposed(table, vectors, 16), 3, noise, at=at)
    random = layers_with(np.zeros(states.shape[1:]), 3, 1.0, seed=8)
    return HiddenStates(
        **{"layers": LAYERS, "states": states, "random_states": random, "vectors": vectors} | fields
    )


@pytest.fixture(scope="module")
def table():
    return random_table([3, 4], 60)


@pytest.fixture(scope="module")
def found(table) -> Findings:
    return analyse(states_of(table), table, shuffles=3)


def test_relations_that_the_states_hold_are_found(found):
    assert found.relations == ("r0", "r1")
    assert [evidence.found for evidence in found.evidence] == [True, True]
    assert found.joint.joint.chosen.value > 0.95
    assert found.joint_skipped is None


def test_noise_holds_nothing(table):
    found = analyse(states_of(table, at=()), table, shuffles=3)
    assert not any(evidence.found for evidence in found.evidence)
    assert found.joint.joint.chosen.low < 0.1


def test_layers_are_called_by_their_numbers_everywhere(found):
    said = found.to_dict()
    assert said["layers"] == said["joint"]["layers"] == list(LAYERS)
    chosen = [layer for evidence in said["evidence"] for layer in evidence["chosen_layers"]]
    assert {*chosen, *said["joint"]["chosen_layers"]} <= {4, 9}
    assert {point["layer"] for point in said["curves"]} == {*LAYERS, None}


def test_every_relation_has_a_curve_of_each_source_and_a_value_of_what_has_no_layer(found):
    counts = Counter((point["relation"], point["source"]) for point in found.to_dict()["curves"])
    sources = {"hidden states": 3, "shuffled labels": 3, "random weights": 3}
    sources |= dict.fromkeys(["majority", "character n-grams", "layer 0", "other relation"], 1)
    assert counts == {(name, source): n for name in found.relations for source, n in sources.items()}


def test_many_other_relations_are_one_value_even_if_they_are_as_many_as_the_states():
    table = random_table([3, 3, 3, 3], 40)
    points = analyse(states_of(table), table, shuffles=1).to_dict()["curves"]
    assert [p["layer"] for p in points if p["source"] == "other relation"] == [None] * 4


def test_there_is_a_record_for_each_relation_kind_source_repeat_input_and_fold(found):
    records = list(found.records())
    keys = [
        tuple(record.get(name) for name in ("relation", "kind", "source", "repeat", "input", "fold"))
        for record in records
    ]
    assert len(set(keys)) == len(keys)
    targets = 2 * 2  # two relations, each by classes and by vectors
    inputs = 3 + 3 * 3 + 3 + 1 + 1 + 1 + 1  # states, shuffles, random weights, and four of one input
    assert len(records) == targets * inputs * 5
    assert {record["layer"] for record in records if record["source"] == "random weights"} == set(LAYERS)


def test_relations_that_cannot_be_probed_have_a_reason_and_the_others_go_on():
    columns = {"good": np.arange(40) % 3, "constant": [0] * 40, "few": [0, 1] * 5 + [-1] * 30}
    table = table_of(columns)
    found = analyse(states_of(table), table, shuffles=1)
    assert found.relations == ("good",)
    assert found.skipped["constant"] == "all subjects have the same attribute"
    assert "10" in found.skipped["few"]
    assert found.to_dict()["skipped"] == found.skipped


def test_too_few_subjects_with_every_answer_leave_out_the_joint_fit_alone():
    first, second = np.arange(60) % 3, np.arange(60) % 4
    table = table_of(
        {"a": np.where(np.arange(60) < 35, first, -1), "b": np.where(np.arange(60) < 25, -1, second)}
    )
    found = analyse(states_of(table), table, shuffles=1)
    assert (found.relations, found.joint) == (("a", "b"), None)
    assert found.joint_skipped == "expected 20 subjects with an answer to each of 2 relations, got 10"
    assert found.to_dict()["joint"] is None


def test_a_table_with_nothing_to_probe_is_refused_by_relation():
    table = table_of({"constant": [0] * 40})
    with pytest.raises(ProbingError, match="got none: 'constant': all subjects have the same attribute"):
        analyse(states_of(table), table)


def test_states_that_are_not_finite_are_refused(table):
    states = states_of(table).states.copy()
    states[1, 0, 0] = np.nan
    with pytest.raises(ProbingError, match="expected finite states, got others at layer 4"):
        analyse(states_of(table, states=states), table)


def test_findings_without_an_untrained_control_say_that_it_is_not_measured(table):
    found = analyse(states_of(table, random_states=None), table, shuffles=1)
    assert all(evidence.not_measured == ("random weights",) for evidence in found.evidence)
    assert found.joint.random is None


def test_a_seed_gives_the_same_bytes_on_any_number_of_threads(table, found):
    again, other = (
        analyse(states_of(table), table, shuffles=3, seed=seed, n_jobs=2).to_dict() for seed in (0, 1)
    )
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert Findings.read(json.loads(text)).to_dict() == found.to_dict()
    assert json.dumps(again) == text
    assert json.dumps(other) != text
