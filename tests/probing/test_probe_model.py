"""One probe of a model: what was asked is asked once, what is skipped is named, held-out subjects have no say.

A compiled memory is a language model too. In `␟{subject}` the state before the first block is the subject's embedding,
which was written as the sum Σ_r B_r C(f_r(s)); the head's rows of the attributes after `␟` are their codes C(a). So
with `answer_prefix` `␟` the joint fit must find it all at layer 0.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

import families
from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_functions
from georecall.memory import FactMemory
from georecall.probing import (
    HiddenStates,
    LanguageModel,
    StateCache,
    Templates,
    checked_settings,
    probe,
    probe_model,
)
from georecall.probing.causal import measure_swaps
from georecall.probing.knowledge import recall_facts
from georecall.probing.relations import fold_numbers
from planted_states import layers_with, random_table, superposed, table_of, vectors_of

TABLE = random_table([3, 4], 30)


@pytest.fixture
def cache(tmp_path) -> StateCache:
    return StateCache(tmp_path / "cache")


def probed(lm, cache, *, table: FactTable = TABLE, templates=None, progress=None, n_jobs=1, **settings):
    options = {"shuffles": 1, "swaps": 2} | settings
    more = {} if progress is None else {"progress": progress}
    asked = templates or Templates()
    return probe_model(lm, table, asked, checked_settings(**options), cache=cache, n_jobs=n_jobs, **more)


@pytest.fixture(scope="module")
def report(llama, tmp_path_factory):
    return probed(llama, StateCache(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def runs(monkeypatch) -> list[str]:
    """Who ran a model on a batch, in order."""
    seen: list[str] = []

    def watch(module: str) -> None:
        name = f"georecall.language_models.{module}.run"
        original = __import__(f"georecall.language_models.{module}", fromlist=["run"]).run
        monkeypatch.setattr(name, lambda *given: seen.append(module) or original(*given))

    watch("answers")
    watch("hidden_states")
    return seen


@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_the_superposition_of_a_compiled_memory_is_found_where_it_was_written(arch, tmp_path, cache):
    table = random_functions(40, 3, 8, rng=np.random.default_rng(0))
    FactMemory.compile(table, hops=1, arch=arch).save(tmp_path / "memory")
    lm = LanguageModel.load(tmp_path / "memory")
    templates = Templates(
        subject="␟{subject}", relations={name: (f"␞{name}␃␟{{subject}}",) for name in table.relations}
    )
    found = probe_model(lm, table, templates, checked_settings(shuffles=1), cache=cache, answer_prefix="␟")
    joint = found.findings.joint
    assert joint.layers[0] == 0
    assert joint.joint.by_layer[0].value > 0.99
    assert joint.shuffled.by_layer[0].high < 0.5
    assert found.knowledge.known.all()
    assert all(relation.faithfulness.value > 0.9 for relation in found.linear_relations.values())


def test_two_runs_give_the_same_bytes_on_any_number_of_threads(llama, report, cache):
    again = probed(llama, cache, n_jobs=2)
    assert json.dumps(again.summary.to_dict(), allow_nan=False) == json.dumps(
        report.summary.to_dict(), allow_nan=False
    )


def test_a_second_run_reads_everything_from_the_cache(llama, cache, runs):
    first = probed(llama, cache, swaps=0)
    assert {"answers", "hidden_states"} <= set(runs)
    runs.clear()
    second = probed(llama, cache, swaps=0)
    assert runs == []
    assert second.summary.to_dict() == first.summary.to_dict()


def test_facts_are_asked_anew_with_examples_and_states_are_not(llama, cache, runs):
    probed(llama, cache, swaps=0)
    runs.clear()
    probed(llama, cache, swaps=0, shots=1)
    assert set(runs) == {"answers"}


def test_an_interrupted_probe_goes_on_where_it_was(llama, cache, runs, report):
    def interrupt(task: str, *_: object) -> None:
        if task.startswith("probing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probed(llama, cache, progress=interrupt)
    runs.clear()
    found = probed(llama, cache)
    assert found.summary.to_dict() == report.summary.to_dict()
    places = [place for place, who in enumerate(runs) if who == "hidden_states"]
    assert len(places) == len(TABLE.relations)  # the prompts' final states, one batch a relation


def test_only_facts_that_the_model_recalls_are_probed_if_that_is_asked(llama, cache, monkeypatch):
    known = np.ones((30, 2), dtype=np.bool_)
    known[:7, 0] = False

    def some(*given, **options):
        return replace(recall_facts(*given, **options), recalled=known[:, :, None])

    monkeypatch.setattr(probe, "recall_facts", some)
    found = probed(llama, cache, known_only=True)
    np.testing.assert_array_equal(found.table.answers, np.where(known, TABLE.answers, -1))
    assert [evidence.subjects for evidence in found.findings.evidence] == [23, 30]
    assert found.findings.joint.subjects == 23
    assert found.linear_relations["r0"].subjects == 23
    said = found.summary.to_dict()
    assert said["facts"] == 53
    assert (said["knowledge"]["r0"]["known"], said["knowledge"]["r0"]["facts"]) == (23, 30)


def test_a_model_that_recalls_too_little_is_refused_by_relation(llama, cache):
    with pytest.raises(
        ProbingError, match=r"expected a relation that can be probed, got none: 'r0': .*'r1': "
    ):
        probed(llama, cache, known_only=True)


def test_relations_that_cannot_be_probed_are_skipped_with_a_reason_and_the_others_go_on(llama, cache):
    few = np.where(np.arange(30) < 6, np.arange(30) % 2, -1)
    table = table_of({"good": np.arange(30) % 3, "constant": [0] * 30, "few": few})
    found = probed(llama, cache, table=table, layers=(1, 2))
    assert list(found.findings.skipped) == ["constant", "few"]
    assert all(found.findings.skipped.values())
    assert found.findings.relations == tuple(found.linear_relations) == ("good",)
    assert [effect.relation for effect in found.swaps] == ["good"]
    assert found.summary.to_dict()["knowledge"].keys() == {"good", "constant", "few"}


@pytest.mark.parametrize("layers", [(3, 1), (2,)])
def test_chosen_layers_are_called_by_their_numbers_everywhere(layers, llama, cache):
    found = probed(llama, cache, layers=layers).summary.to_dict()
    expected = [0, *sorted(layers)]
    findings = found["findings"]
    assert findings["layers"] == findings["joint"]["layers"] == expected
    assert {point["layer"] for point in findings["curves"]} == {*expected, None}
    chosen = [*findings["joint"]["chosen_layers"]]
    for part in (*findings["evidence"], *found["linear_relations"].values()):
        chosen += part["chosen_layers"]
    assert set(chosen) <= set(layers)
    assert all(found["linear_relations"][name]["layers"] == expected for name in ("r0", "r1"))
    assert {swap["layer"] for swap in found["swaps"].values()} <= set(layers) - {3}


def test_states_of_chosen_layers_are_those_of_a_probe_of_all(llama, report, cache):
    whole, part = report.findings.joint, probed(llama, cache, layers=(1, 3)).findings.joint
    assert [part.joint.by_layer[place] for place in range(3)] == [
        whole.joint.by_layer[place] for place in (0, 1, 3)
    ]


def test_layers_that_the_model_does_not_have_are_refused_before_it_is_run(llama, cache, runs):
    with pytest.raises(ProbingError, match="expected layers from 1 to 3, got 2, 4"):
        probed(llama, cache, layers=(2, 4))
    assert runs == []


def test_a_table_that_cannot_be_probed_is_refused_before_the_model_is_run(llama, cache, runs):
    with pytest.raises(ProbingError, match="got none: 'r0': "):
        probed(llama, cache, table=random_table([3], 19))
    assert (runs, cache.folder.exists()) == ([], False)


@pytest.fixture
def swaps_made(llama, cache, monkeypatch):
    """The swaps that a probe makes if the states are these."""

    def made(states, table, **settings):
        kept = []

        def keep(lm, of, templates, swaps, **options):
            kept.extend(swaps)
            return measure_swaps(lm, of, templates, swaps, **options)

        hidden = HiddenStates(
            layers=(0, 1, 2, 3), states=states, random_states=None, vectors=vectors_of(table, 16)
        )
        monkeypatch.setattr(probe, "read_hidden_states", lambda *_, **__: hidden)
        monkeypatch.setattr(probe, "measure_swaps", keep)
        probed(llama, cache, table=table, **settings)
        return kept

    return made


def planted(table, *, at=(2,)):
    signal = superposed(table, vectors_of(table, 16), families.DIM)
    return layers_with(signal, families.LAYERS + 1, 0.05, at=at)


def test_swaps_are_made_at_the_layer_that_holds_the_superposition(swaps_made):
    swaps = swaps_made(planted(TABLE), TABLE, swaps=24)
    assert [(swap.relation, swap.layer, len(swap.subjects)) for swap in swaps] == [("r0", 2, 6), ("r1", 2, 6)]
    for column, swap in enumerate(swaps):
        old = TABLE.answers[swap.subjects, column]
        assert (swap.wanted != old).all()
        assert set(swap.wanted) <= set(TABLE.answers[:, column])


def test_subjects_of_a_swap_are_held_out_and_have_no_say_in_layer_and_components(swaps_made):
    held_out = np.flatnonzero(fold_numbers(30, 5, 0) == 0)
    states = planted(TABLE)
    other = states.copy()
    other[:, held_out] = 9 * np.random.default_rng(0).normal(size=other[:, held_out].shape)
    first, second = swaps_made(states, TABLE, swaps=24), swaps_made(other, TABLE, swaps=24)
    for swap, again in zip(first, second, strict=True):
        np.testing.assert_array_equal(swap.subjects, held_out)
        assert again.layer == swap.layer
        np.testing.assert_allclose(again.deltas, swap.deltas, rtol=1e-6, atol=1e-9)


def test_a_component_is_the_difference_of_what_was_planted(swaps_made):
    table = random_table([3, 4], 200)
    vectors, noiseless = vectors_of(table, 16), layers_with(np.zeros((200, families.DIM)), 4, 1.0)
    noiseless[2] = superposed(table, vectors, families.DIM)
    (swap, _) = swaps_made(noiseless, table)
    changed = table.answers.copy()
    changed[swap.subjects, 0] = swap.wanted
    expected = superposed(replace(table, answers=changed), vectors, families.DIM) - noiseless[2]
    np.testing.assert_allclose(swap.deltas, expected[swap.subjects], rtol=0, atol=1e-2)


def test_nothing_is_swapped_in_the_last_layer_as_nothing_reads_it_there(swaps_made):
    assert swaps_made(planted(TABLE, at=(3,)), TABLE) == []


def test_a_relation_with_one_attribute_among_the_subjects_of_the_fit_is_not_swapped(swaps_made):
    complete = np.arange(40) < 25
    first = np.where(complete, 0, np.arange(40) % 3)
    table = table_of({"a": first, "b": np.where(complete, np.arange(40) % 4, -1)})
    assert [swap.relation for swap in swaps_made(planted(table), table)] == ["b"]


def test_no_swaps_are_made_if_none_are_asked(llama, cache):
    assert probed(llama, cache, swaps=0).summary.to_dict()["swaps"] == {}


def test_a_report_says_what_was_asked(report, llama):
    said = report.summary.to_dict()
    assert (said["model"], said["digest"]) == (llama.name, llama.digest)
    assert (said["subjects"], said["facts"]) == (30, 60)
    assert said["templates"]["relations"]["r0"] == ["The r0 of {subject} is"]
    assert said["settings"]["shuffles"] == 1
    assert said["knowledge"]["r1"]["templates"].keys() == {"The r1 of {subject} is"}


def test_a_template_for_a_relation_that_the_table_lacks_is_refused(llama, cache):
    with pytest.raises(ProbingError, match="'r0', 'r1'; got 'capital'"):
        probed(llama, cache, templates=Templates(relations={"capital": ("{subject}",)}))
