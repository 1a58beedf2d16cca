"""A model that can say nothing about a table is refused before it is asked anything."""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import families
from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.readiness import check_ready

TABLE = FactTable.from_facts([("Ann", "likes", "Bo"), ("Cy", "likes", "Di")])
TEMPLATE = "Let us talk about {subject}"


def knowing(*words: str) -> LanguageModel:
    """A model whose tokenizer has these words and no others."""
    ids = {word: number for number, word in enumerate(["[UNK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")  # noqa: S106
    return families.tiny("llama", tokenizer=fast)


def test_a_model_that_knows_a_name_of_each_kind_is_ready():
    check_ready(knowing("Cy", "Bo"), TABLE, TEMPLATE)


@pytest.mark.parametrize(
    ("words", "kind"), [(["talk", "about", "Bo"], "2 subjects"), (["Ann", "Let"], "2 attributes")]
)
def test_a_tokenizer_that_knows_no_name_of_a_kind_is_refused(words, kind):
    with pytest.raises(ProbingError, match=f"its tokenizer knows none of the {kind}$"):
        check_ready(knowing(*words), TABLE, TEMPLATE)


@pytest.mark.parametrize(("value", "found"), [(0.0, "zero"), (0.5, "alike for all tokens")])
def test_a_head_that_tells_no_tokens_apart_is_refused(value, found):
    lm = families.tiny("llama")
    lm.model.get_output_embeddings().weight.data.fill_(value)
    with pytest.raises(ProbingError, match=f"its head is {found}, so that it prefers no answer"):
        check_ready(lm, TABLE, TEMPLATE)


def test_a_token_without_an_embedding_is_refused_with_its_text():
    lm = families.tiny("llama")
    lm.model.resize_token_embeddings(60)
    with pytest.raises(ProbingError, match=r"tokens below 60, .* in 'Let us talk about Ann'"):
        check_ready(lm, TABLE, TEMPLATE)


def test_a_tokenizer_with_tokens_that_are_not_used_is_no_fault():
    lm = families.tiny("llama")
    lm.tokenizer.add_tokens(["<extra>"])
    check_ready(lm, TABLE, TEMPLATE)
    assert len(lm.tokenizer) > lm.n_tokens == len(lm.model.get_input_embeddings().weight)
    assert torch.isfinite(lm.model.get_input_embeddings().weight).all()
