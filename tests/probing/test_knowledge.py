"""An answer's log-probability is that of plain transformers, token by token, and known is what greedy decoding says."""

import json

import numpy as np
import pytest
import torch

import families
from georecall.errors import ProbingError, UnknownNameError
from georecall.facts.table import FactTable
from georecall.language_models.answers import score_answers
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.memory import FactMemory
from georecall.probing.knowledge import Knowledge, Recalled, recall_facts

TABLE = FactTable.from_facts(
    [
        ("France", "capital", "Paris"),
        ("Italy", "capital", "Rome"),
        ("São Tomé", "capital", "São Tomé"),
        ("Norway", "capital", "Oslo and Åland"),
        ("Chad", "continent", "Africa"),
        ("Italy", "continent", "Europe"),
    ]
)
CAPITAL = "The capital of {subject} is"
TEMPLATES = {"capital": [CAPITAL, "{subject}:"], "continent": ["{subject} is in "]}


def by_hand(lm: LanguageModel, before: str, answer: str) -> float:
    """The sum of log-probabilities of an answer's tokens, of one forward pass of plain transformers.

    A space that is a token of its own is no part of the answer.
    """
    ids, given = lm.tokenizer(f"{before} {answer}")["input_ids"], lm.tokenizer(before)["input_ids"]
    assert ids[: len(given)] == given
    space = lm.tokenizer.decode(ids[len(given)]) == " "
    scores = families.logits(lm, f"{before} {answer}").double().log_softmax(dim=1)
    return sum(scores[place - 1, ids[place]].item() for place in range(len(given) + space, len(ids)))


def greedy(lm: LanguageModel, text: str, steps: int) -> list[int]:
    ids = torch.tensor([lm.tokenizer(text)["input_ids"]])
    asked = {"max_new_tokens": steps, "do_sample": False, "pad_token_id": 0}
    return lm.model.generate(ids, attention_mask=torch.ones_like(ids), **asked)[0, ids.shape[1] :].tolist()


def test_an_answer_scores_what_transformers_gives_its_tokens(lm):
    found = recall_facts(lm, TABLE, TEMPLATES)
    for subject, relation, answer in TABLE.facts():
        row, column = TABLE.resolve_subject(subject), TABLE.resolve_relation(relation)
        for number, template in enumerate(TEMPLATES[relation]):
            expected = by_hand(lm, template.replace("{subject}", subject).rstrip(), answer)
            np.testing.assert_allclose(
                found.log_probabilities[row, column, number], expected, rtol=0, atol=2e-4
            )


def test_a_fact_is_recalled_exactly_when_greedy_decoding_gives_it():
    lm = families.tiny("llama")
    prompt = Template(CAPITAL).render("Chad")
    emitted = greedy(lm, prompt.text, 3)
    prompts = {
        answer: prompt.answered(answer, answer_prefix="") for answer in _texts(lm, prompt.text, emitted)
    }
    scores = score_answers(lm, list(prompts.values()))
    for recalled, (answer, asked) in zip(scores.recalled, prompts.items(), strict=True):
        ids = lm.tokenizer(asked.text)["input_ids"][len(lm.tokenizer(prompt.text)["input_ids"]) :]
        assert recalled == (greedy(lm, prompt.text, len(ids)) == ids), answer
    assert scores.recalled.any()
    assert not scores.recalled.all()


def _texts(lm: LanguageModel, before: str, emitted: list[int]) -> list[str]:
    """What was emitted, and the same with another last token."""
    answers = [lm.tokenizer.decode(emitted[:2]), lm.tokenizer.decode([emitted[0], emitted[1] + 1]), " Paris"]
    assert all("\ufffd" not in answer for answer in answers)
    assert lm.tokenizer(before + answers[0])["input_ids"][-2:] == emitted[:2]
    return answers


@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_a_compiled_memory_is_asked_like_any_model_and_knows_every_fact(arch, tmp_path):
    FactMemory.compile(TABLE, hops=1, arch=arch).save(tmp_path / "memory")
    lm = LanguageModel.load(tmp_path / "memory")
    templates = {relation: [f"␞{relation}␃␟{{subject}}"] for relation in TABLE.relations}
    found = recall_facts(lm, TABLE, templates, answer_prefix="␟")
    np.testing.assert_array_equal(found.known, TABLE.answers >= 0)
    assert found.rates.tolist() == [1, 1]


def test_facts_and_templates_that_are_missing_are_not_asked():
    found = recall_facts(families.tiny("llama"), TABLE, TEMPLATES)
    expected = np.stack([TABLE.answers >= 0, (TABLE.answers >= 0) & [True, False]], axis=2)
    np.testing.assert_array_equal(found.asked, expected)
    assert not (found.recalled & ~expected).any()
    assert np.isnan(found.template_rates).tolist() == [[False, False], [False, True]]


def test_known_is_recalled_in_at_least_one_template():
    found = Knowledge(
        relations=("capital", "continent"),
        templates=(("a {subject}", "{subject}"), ()),
        log_probabilities=np.array([[[-1.0, -2.0], [np.nan] * 2], [[-1.0, -2.0], [np.nan] * 2]]),
        recalled=np.array([[[True, False], [False] * 2], [[False, False], [False] * 2]]),
    )
    assert found.known.tolist() == [[True, False], [False, False]]
    np.testing.assert_array_equal(found.rates, [0.5, np.nan])
    rates = {"a {subject}": 0.5, "{subject}": 0.0}
    assert found.by_relation == {"capital": Recalled(facts=2, known=1, rate=0.5, templates=rates)}


def shown(monkeypatch, **options) -> list[str]:
    """The texts that are scored."""
    seen = []

    def score(lm, prompts, **rest):
        seen.extend(prompt.text for prompt in prompts)
        return score_answers(lm, prompts, **rest)

    monkeypatch.setattr("georecall.probing.knowledge.score_answers", score)
    recall_facts(families.tiny("llama"), TABLE, {"capital": [CAPITAL]}, **options)
    return seen


def test_examples_are_other_facts_of_the_relation_in_one_order(monkeypatch):
    facts = {
        f"The capital of {subject} is {answer}": subject
        for subject, relation, answer in TABLE.facts()
        if relation == "capital"
    }
    texts = [text.split("\n") for text in shown(monkeypatch, shots=2, seed=1)]
    assert [lines[-1] for lines in texts] == list(facts)
    for lines in texts:
        assert len(lines) == len({facts[line] for line in lines}) == 3
    order = max((lines[:2] for lines in texts), key=[lines[:2] for lines in texts].count)
    assert all(lines[:2] == order or lines[-1] in order for lines in texts)


def test_a_seed_fixes_the_examples(monkeypatch):
    drawn = {seed: shown(monkeypatch, shots=1, seed=seed) for seed in range(6)}
    assert drawn[0] == shown(monkeypatch, shots=1, seed=0)
    assert len({tuple(texts) for texts in drawn.values()}) > 1


def test_the_outcome_is_json():
    found = recall_facts(families.tiny("llama"), TABLE, {"capital": [CAPITAL]})
    assert list(found.by_relation) == ["capital"]
    capital = found.by_relation["capital"]
    assert Recalled.read(json.loads(json.dumps(capital.to_dict(), allow_nan=False))) == capital
    assert capital.facts == 4


@pytest.mark.parametrize(
    ("templates", "options", "message"),
    [
        ({}, {}, "at least one relation"),
        ({"capital": []}, {}, "at least one relation"),
        ({"capital": ["The capital"]}, {}, "exactly once"),
        ({"continent": ["{subject} is"]}, {"shots": 2}, "more than 2 facts of 'continent' .* got 2"),
    ],
)
def test_what_cannot_be_asked_is_refused(templates, options, message):
    with pytest.raises(ProbingError, match=message):
        recall_facts(families.tiny("llama"), TABLE, templates, **options)


def test_an_answer_that_shares_a_token_with_the_subject_is_refused():
    prompt = Template("Anna, {subject}").render("A").answered("nn", answer_prefix="")
    with pytest.raises(ProbingError, match="shares a token with the subject in 'Anna, Ann'"):
        score_answers(families.tiny("llama"), [prompt])


def test_a_template_for_an_unknown_relation_is_refused():
    with pytest.raises(UnknownNameError, match="'capitol'; nearest: 'capital'"):
        recall_facts(families.tiny("llama"), TABLE, {"capitol": [CAPITAL]})


def test_logits_that_are_not_finite_are_named():
    lm = families.tiny("llama")
    lm.parts  # noqa: B018 - looks at the model while it is whole
    lm.model.lm_head.weight[5] = torch.nan
    with pytest.raises(ProbingError, match=r"logits of 'The capital of .* not finite"):
        recall_facts(lm, TABLE, {"capital": [CAPITAL]})
