"""Names are tokens: text and ids are two forms of one thing, and nothing is guessed."""

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import TemplateError
from transformers import PreTrainedTokenizerFast

from cases import WORLDS, accented_names, tables, white_space
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.facts.names import END, ENTITY_MARK, RELATION_MARK, UNKNOWN
from georecall.models.tokenizer import fact_tokenizer, prompt_ids, prompt_text, save_tokenizer

HOPS = 3
CHAIN = ChainOfThought(WORLDS["awkward names"].table, HOPS)
TOKENIZER = fact_tokenizer(CHAIN)
TABLE = CHAIN.table


def question_text(subject: str, relations: tuple[str, ...]) -> str:
    return subject + "".join(RELATION_MARK + relation for relation in relations)


def chat_ids(tokenizer: PreTrainedTokenizerFast, question: str) -> list[int]:
    return tokenizer.apply_chat_template([{"role": "user", "content": question}])["input_ids"]


def test_the_vocabulary_is_the_controls_then_the_relations_then_the_entities():
    marked = [RELATION_MARK + name for name in TABLE.relations] + [
        ENTITY_MARK + name for name in TABLE.entities
    ]
    assert TOKENIZER.convert_ids_to_tokens(range(len(TOKENIZER))) == [UNKNOWN, END, *marked]
    assert len(TOKENIZER) == CHAIN.vocabulary.size
    assert TOKENIZER.all_special_tokens == [END]


@settings(max_examples=10)
@given(tables())
def test_the_files_of_a_tokenizer_are_those_that_the_stock_class_writes(tmp_path_factory, table):
    folder, chain = tmp_path_factory.mktemp("tokenizers"), ChainOfThought(table, HOPS)
    (folder / "ours").mkdir()
    save_tokenizer(chain, folder / "ours")
    fact_tokenizer(chain).save_pretrained(folder / "stock")
    ours, stock = ({path.name: path for path in (folder / side).iterdir()} for side in ("ours", "stock"))
    assert ours.keys() == stock.keys()
    for name, path in stock.items():
        read = json.loads if path.suffix == ".json" else str
        assert read(ours[name].read_text(encoding="utf-8")) == read(path.read_text(encoding="utf-8"))


@settings(max_examples=30)
@given(tables(), st.integers(1, 3), st.data())
def test_a_prompt_of_names_is_the_prompt_of_ids_and_decodes_to_itself(table, hops, data):
    chain = ChainOfThought(table, hops)
    tokenizer = fact_tokenizer(chain)
    entity = data.draw(st.integers(0, len(table.entities) - 1))
    relations = data.draw(st.lists(st.integers(0, len(table.relations) - 1), min_size=1, max_size=hops))
    named = tuple(table.relations[relation] for relation in relations)
    text = prompt_text(table.entities[entity], named, hops=hops)
    ids = prompt_ids(chain.vocabulary, np.array([entity]), np.array([relations]), hops=hops)[0].tolist()
    assert tokenizer(text)["input_ids"] == ids
    assert tokenizer.decode(ids) == text
    assert chat_ids(tokenizer, question_text(table.entities[entity], named)) == ids


@settings(max_examples=30)
@given(tables(named=accented_names), st.lists(white_space, min_size=5, max_size=5), st.data())
def test_decomposed_and_padded_names_are_the_same_tokens(table, blanks, data):
    tokenizer = fact_tokenizer(ChainOfThought(table, 1))
    subject, relation = (
        data.draw(st.sampled_from(table.entities)),
        data.draw(st.sampled_from(table.relations)),
    )
    plain = prompt_text(subject, (relation,), hops=1)
    nfd = [unicodedata.normalize("NFD", name) for name in (relation, subject)]
    pieces = [RELATION_MARK, nfd[0], END, ENTITY_MARK, nfd[1]]
    padded = "".join(blank + piece for blank, piece in zip(blanks, pieces, strict=True)) + blanks[0]
    assert nfd[1] != subject
    assert tokenizer(padded)["input_ids"] == tokenizer(plain)["input_ids"]


@pytest.mark.parametrize(
    "text",
    [
        "nobody",
        f"{ENTITY_MARK}nobody",
        f"{RELATION_MARK}Ann",  # an entity, not a relation
        f"{RELATION_MARK}two  spaces{END}{ENTITY_MARK}An",
        f"{ENTITY_MARK}Ann a",
        f"{ENTITY_MARK}two spaces",
        f"{ENTITY_MARK}na",
        "Ann",
        ENTITY_MARK,
    ],
)
def test_a_name_that_the_table_does_not_have_cannot_be_encoded(text):
    with pytest.raises(Exception, match="UNK"):
        TOKENIZER(text)


def test_the_unknown_and_the_end_are_tokens_of_their_own():
    assert TOKENIZER(UNKNOWN + END + UNKNOWN)["input_ids"] == [0, 1, 0]
    assert TOKENIZER.decode([0, 1, 0]) == UNKNOWN + END + UNKNOWN
    assert TOKENIZER.decode([0, 1, 0], skip_special_tokens=True) == UNKNOWN + UNKNOWN


@given(st.lists(st.integers(0, CHAIN.vocabulary.size - 1), max_size=8))
def test_any_sequence_of_ids_is_encoded_again_from_its_text(ids):
    assert TOKENIZER(TOKENIZER.decode(ids))["input_ids"] == ids


@pytest.mark.parametrize("asked", range(HOPS + 1))
def test_the_chat_template_lays_a_question_out_as_the_prompt(asked):
    relations = TABLE.relations[:asked]
    messages = [
        {"role": "system", "content": "ignored"},
        {"role": "user", "content": "earlier"},
        {"role": "assistant", "content": "ignored"},
        {"role": "user", "content": question_text("Ann", relations)},
    ]
    prompt = TOKENIZER.apply_chat_template(messages, tokenize=False)
    assert prompt == prompt_text("Ann", relations, hops=HOPS)
    assert TOKENIZER.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == prompt


def test_a_subject_may_come_with_its_mark_in_a_conversation():
    relations = TABLE.relations[:1]
    assert chat_ids(TOKENIZER, ENTITY_MARK + question_text("Anna", relations)) == chat_ids(
        TOKENIZER, question_text("Anna", relations)
    )


def test_more_relations_than_there_are_places_are_refused_in_a_conversation():
    chat_ids(TOKENIZER, question_text("Ann", TABLE.relations[:1] * HOPS))
    with pytest.raises(TemplateError, match=f"at most {HOPS} relations can be asked, got {HOPS + 1}"):
        chat_ids(TOKENIZER, question_text("Ann", TABLE.relations[:1] * (HOPS + 1)))


def test_prompts_all_have_one_length_so_that_a_batch_needs_no_padding():
    texts = [prompt_text("Ann", TABLE.relations[:asked], hops=HOPS) for asked in range(1, HOPS + 1)]
    batch = TOKENIZER(texts, padding=True)
    assert {len(ids) for ids in batch["input_ids"]} == {HOPS + 2}
    assert all(all(mask) for mask in batch["attention_mask"])
