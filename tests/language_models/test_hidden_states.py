"""States are those of the residual stream at the subject's last token, one by one and in batches of any kind."""

import numpy as np
import pytest
import torch

import families
from georecall.errors import ProbingError
from georecall.language_models.hidden_states import answer_states, subject_states
from georecall.language_models.prompts import AnsweredPrompt, Prompt, Template

TEMPLATE = Template('Facts about "{subject}" and more')
SUBJECTS = ("Italy", "Chad", "São Tomé", "a", "France", "Côte d’Ivoire", "Norway and Italy", "Rome")
EXACT = {"rtol": 0, "atol": 2e-5}


def token_of(lm, prompt) -> int:
    (tokens,) = lm.tokenise([prompt.text])
    return tokens.tokens_of(prompt.subject)[-1]


def answered(text: str) -> AnsweredPrompt:
    return Prompt(text=text, subject=(0, len(text))).answered("Italy")


def stock_states(lm, prompt) -> torch.Tensor:
    """The states that transformers itself gives out; its last one has the final norm in it."""
    ids = torch.tensor([lm.tokenizer(prompt.text)["input_ids"]])
    found = lm.model(ids, output_hidden_states=True)
    return torch.stack(found.hidden_states[:-1])[:, 0, token_of(lm, prompt)]


def test_states_are_the_inputs_of_the_blocks_at_the_last_token_of_the_subject(lm):
    states = subject_states(lm, SUBJECTS, TEMPLATE)
    assert states.shape == (lm.n_layers + 1, len(SUBJECTS), lm.dim)
    for row, subject in enumerate(SUBJECTS):
        prompt = TEMPLATE.render(subject)
        np.testing.assert_allclose(states[:-1, row], stock_states(lm, prompt).numpy(), **EXACT)


def test_the_last_state_is_raw_and_gives_the_logits_through_norm_and_head(lm):
    states = torch.from_numpy(subject_states(lm, SUBJECTS, TEMPLATE)[-1])
    for state, subject in zip(states, SUBJECTS, strict=True):
        prompt = TEMPLATE.render(subject)
        expected = families.logits(lm, prompt.text)[token_of(lm, prompt)]
        torch.testing.assert_close(lm.decode(state), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding", ["left", "right"])
def test_a_padded_batch_gives_what_single_prompts_give(lm, padding):
    alone = subject_states(lm, SUBJECTS, TEMPLATE, batch=1)
    together = subject_states(lm, SUBJECTS, TEMPLATE, batch=5, padding=padding)
    np.testing.assert_allclose(together, alone, **EXACT)


def test_the_order_and_the_company_of_subjects_do_not_matter(lm):
    order = [3, 0, 6, 1]
    some = subject_states(lm, [SUBJECTS[item] for item in order], TEMPLATE)
    np.testing.assert_allclose(some, subject_states(lm, SUBJECTS, TEMPLATE)[:, order], **EXACT)


def test_what_follows_the_subject_does_not_matter(lm):
    """The closing mark is a token of its own, so the subject's tokens are the same."""
    other = Template('Facts about "{subject}" are many')
    np.testing.assert_array_equal(subject_states(lm, SUBJECTS, TEMPLATE), subject_states(lm, SUBJECTS, other))


def test_a_token_before_the_text_is_seen():
    plain = families.tiny("llama", tokenizer=families.bpe_tokenizer())
    begun = families.tiny("llama", tokenizer=families.bpe_tokenizer(bos=True))
    prompt = TEMPLATE.render("Chad")
    assert token_of(begun, prompt) == token_of(plain, prompt) + 1
    np.testing.assert_allclose(
        subject_states(begun, ["Chad"], TEMPLATE)[:-1, 0], stock_states(begun, prompt).numpy(), **EXACT
    )


def test_the_states_before_answers_give_the_logits_of_the_prompts(lm):
    texts = ["The capital of Chad is", "Rome", "Anna and Ann"]
    prompts = [answered(text) for text in texts]
    found = lm.decode(torch.from_numpy(answer_states(lm, prompts, batch=2)))
    for row, text in zip(found, texts, strict=True):
        torch.testing.assert_close(row, families.logits(lm, text)[-1], rtol=1e-4, atol=1e-4)


def test_an_end_token_is_not_the_last_of_a_prompt():
    ending = families.tiny("llama", tokenizer=families.bpe_tokenizer(eos=True))
    plain = families.tiny("llama")
    text = "The capital of Chad is"
    prompts = [answered(text)]
    np.testing.assert_allclose(answer_states(ending, prompts), answer_states(plain, prompts), **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_states_of_short_formats_come_in_float32(dtype):
    lm = families.tiny("llama")
    lm.model.to(dtype)
    states = subject_states(lm, SUBJECTS, TEMPLATE)
    assert states.dtype == np.float32
    np.testing.assert_array_equal(states, torch.from_numpy(states).to(dtype).float().numpy())


@pytest.mark.parametrize(
    ("layer", "where"), [(0, "the input of the first layer"), (2, "state after layer 2")]
)
def test_a_state_that_is_not_finite_is_named(layer, where):
    lm = families.tiny("llama")

    def spoil(state: torch.Tensor) -> torch.Tensor:
        return torch.full_like(state, torch.inf)

    with (
        lm.parts.visiting(layer, spoil),
        pytest.raises(ProbingError, match=f'{where} of \'Facts about "Italy"'),
    ):
        subject_states(lm, ["Italy"], TEMPLATE)


def test_overflow_in_half_precision_is_named_with_the_format():
    lm = families.tiny("llama")
    lm.model.to(torch.float16)
    lm.parts.blocks[1].mlp.down_proj.weight.fill_(6e4)
    with pytest.raises(ProbingError, match=r"state after layer 2 of .*not finite in torch\.float16"):
        subject_states(lm, SUBJECTS, TEMPLATE)


def test_a_prompt_longer_than_the_model_is_refused():
    lm = families.tiny("gpt2", max_position_embeddings=8)
    with pytest.raises(ProbingError, match=r"expected 1 to 8 tokens.*'Facts about \"Italy"):
        subject_states(lm, SUBJECTS, TEMPLATE)


def test_progress_counts_subjects():
    seen = []
    subject_states(
        families.tiny("llama"),
        SUBJECTS,
        TEMPLATE,
        batch=3,
        progress=lambda _, done, total: seen.append((done, total)),
    )
    assert seen == [(3, 8), (6, 8), (8, 8)]


def test_no_hook_is_left(lm):
    before = families.hooks(lm)
    subject_states(lm, SUBJECTS, TEMPLATE)
    assert families.hooks(lm) == before
