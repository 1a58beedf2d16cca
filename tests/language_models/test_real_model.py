"""The packaged pretrained model is loaded once: its states are those that its own head reads, and it knows capitals."""

import numpy as np
import pytest
import torch

from georecall.facts.table import FactTable
from georecall.language_models.answers import score_answers
from georecall.language_models.hidden_states import answer_states, subject_states
from georecall.language_models.packaged_model import missing_packaged_model, packaged_model
from georecall.language_models.prompts import Prompt, Template
from georecall.probing import LanguageModel, load_example
from georecall.probing.knowledge import Knowledge, recall_facts

pytestmark = pytest.mark.skipif(missing_packaged_model() is not None, reason=str(missing_packaged_model()))

COUNTRIES = ("France", "Italy", "Japan", "Egypt", "Germany")


@pytest.fixture(scope="module")
def smollm() -> LanguageModel:
    return LanguageModel.load(gguf=packaged_model())


@pytest.fixture(scope="module")
def capitals(smollm) -> Knowledge:
    table, templates = load_example("countries")
    rows = [table.resolve_subject(name) for name in COUNTRIES]
    few = FactTable(COUNTRIES, table.relations, table.attributes, table.answers[rows])
    return recall_facts(smollm, few, {"capital": templates.relations["capital"]})


def test_the_last_state_through_norm_and_head_is_the_logits(smollm):
    text = "The capital of France is"
    ids = torch.tensor([smollm.tokenizer(text)["input_ids"]])
    with torch.inference_mode():
        expected = smollm.model(ids).logits[0, -1]
    found = smollm.decode(
        torch.from_numpy(answer_states(smollm, [Prompt(text=text, subject=(0, 3)).answered("Paris")]))
    )[0]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-3)
    assert found.argmax() == expected.argmax()


def test_known_capitals_are_recalled_in_some_template(capitals):
    known = dict(zip(COUNTRIES, capitals.known[:, 0].tolist(), strict=True))
    assert known["France"]
    assert sum(known.values()) >= 3


def test_the_right_capital_is_more_probable_than_another(smollm):
    pairs = [("France", "Paris"), ("France", "Rome"), ("Italy", "Paris"), ("Italy", "Rome")]

    prompts = [Template("The capital of {subject} is").render(s).answered(a) for s, a in pairs]
    paris, wrong, other, rome = score_answers(smollm, prompts).log_probabilities
    assert paris > wrong
    assert rome > other


def test_states_of_twenty_subjects_are_finite_and_differ(smollm):
    table, templates = load_example("countries")
    states = subject_states(smollm, table.subjects[:20], Template(templates.subject))
    assert states.shape == (smollm.n_layers + 1, 20, smollm.dim)
    assert np.isfinite(states).all()
    assert len(np.unique(states[-1], axis=0)) == 20
