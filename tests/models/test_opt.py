"""Inside the stock OPT: layer normalisation does nothing, attention reads one place, and padding changes nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from transformers import OPTForCausalLM, pipeline

from cases import WORLDS, chains, gold_sequences
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.facts.names import ENTITY_MARK, RELATION_MARK, UNKNOWN
from georecall.facts.queries import Queries, gold_entities
from georecall.facts.table import FactTable
from georecall.memory import FactMemory
from georecall.models.architectures.opt import OPT
from georecall.models.generation import generate_paths
from georecall.models.stock_model import stock_model
from georecall.models.tokenizer import prompt_ids, prompt_text

MEMORY = FactMemory.compile(WORLDS["missing facts"].table, hops=3)
CHAIN, TABLE = MEMORY.chain, MEMORY.table


def float64_model(chain: ChainOfThought) -> OPTForCausalLM:
    return stock_model(
        OPT, chain, {name: source.tensor(torch.float64) for name, source in OPT.tensors(chain).items()}
    )


@settings(max_examples=15)
@given(chains())
def test_every_state_in_which_a_relation_is_read_is_a_fixed_point_of_both_normalisations(chain):
    layer = float64_model(chain).model.decoder.layers[0]
    embedding = torch.from_numpy(np.concatenate(list(chain.embedding_chunks())))
    head = chain.layer().heads[0]
    relations = embedding[chain.vocabulary.relations]
    carried = relations @ torch.from_numpy(head.value.T @ head.output.T)
    before = embedding[:, None] + torch.from_numpy(chain.positions())
    after = before[:, chain.relation_positions :, None] + carried
    torch.testing.assert_close(layer.self_attn_layer_norm(before), before, rtol=0, atol=1e-9)
    torch.testing.assert_close(layer.final_layer_norm(after), after, rtol=0, atol=1e-9)


def test_attention_reads_the_relation_of_the_step_and_nothing_else():
    model = MEMORY.model()
    model.set_attn_implementation("eager")
    prompts, gold = gold_sequences(CHAIN, WORLDS["missing facts"].queries(3))
    sequences = torch.from_numpy(np.concatenate([prompts, gold[:, :-1]], axis=1))
    with torch.inference_mode():
        (attention,) = model(sequences, output_attentions=True).attentions
    asked = attention[:, 0, CHAIN.relation_positions :]
    torch.testing.assert_close(asked, torch.eye(CHAIN.relation_positions, CHAIN.context).expand_as(asked))


@pytest.mark.parametrize("padding", [1, 3])
def test_prompts_with_padding_on_the_left_are_answered_as_without(padding):
    model = MEMORY.model()
    prompts, gold = gold_sequences(CHAIN, WORLDS["missing facts"].queries(2))
    pad = np.full((len(prompts), padding), CHAIN.vocabulary.end)
    padded = torch.from_numpy(np.concatenate([pad, prompts], axis=1))
    mask = torch.ones_like(padded)
    mask[:, :padding] = 0
    emitted = model.generate(padded, attention_mask=mask)[:, padded.shape[1] :]
    np.testing.assert_array_equal(emitted.numpy(), gold)


def test_generation_needs_no_mask_although_the_padding_token_stands_in_the_prompt():
    prompts, gold = gold_sequences(CHAIN, WORLDS["missing facts"].queries(1))
    emitted = MEMORY.model().generate(torch.from_numpy(prompts))[:, prompts.shape[1] :]
    np.testing.assert_array_equal(emitted.numpy(), gold)


@pytest.mark.parametrize("batch", [1, 7])
def test_a_pipeline_gives_the_table_s_answers_to_prompts_and_to_conversations(batch):
    tokenizer = MEMORY.tokenizer()
    ask = pipeline("text-generation", model=MEMORY.model(), tokenizer=tokenizer, batch_size=batch)
    prompts, gold = gold_sequences(CHAIN, Queries(*(part[:10] for part in vars(missing_queries()).values())))
    texts = tokenizer.batch_decode(prompts)
    expected = tokenizer.batch_decode(gold, skip_special_tokens=True)
    found = ask(texts, return_full_text=False)
    assert [answer[0]["generated_text"] for answer in found] == expected
    questions = [
        TABLE.subjects[subject] + "".join(RELATION_MARK + TABLE.relations[relation] for relation in relations)
        for subject, relations in zip(
            missing_queries().subjects[:10], missing_queries().relations, strict=False
        )
    ]
    chats = ask([[{"role": "user", "content": question}] for question in questions])
    assert [answer[0]["generated_text"][-1]["content"] for answer in chats] == expected


def missing_queries() -> Queries:
    return WORLDS["missing facts"].queries(3)


def test_the_first_token_the_first_relation_and_the_first_entity_are_like_any_other():
    """Id 0 is the unknown; relation 0, entity 0 and attribute 0 come first among their kind."""
    table = FactTable(("a", "b"), ("is", "was"), ("a", "b"), np.array([[0, -1], [0, 1]]))
    memory = FactMemory.compile(table, hops=2)
    assert memory.ask("a", "is", "is").path == ("a", "a")
    assert memory.ask("b", "is", "was").path == ("a", None)
    assert memory.ask("b", "was", "is").path == ("b", "a")
    assert memory.ask("a", "was", "is").path == (None, None)
    tokenizer, model = memory.tokenizer(), memory.model()
    for subject, expected in {"a": ENTITY_MARK + "a" + UNKNOWN, "b": ENTITY_MARK + "a" + UNKNOWN}.items():
        prompt = tokenizer(prompt_text(subject, ("is", "was"), hops=2), return_tensors="pt")
        answer = model.generate(**prompt)[0, prompt["input_ids"].shape[1] :]
        assert tokenizer.decode(answer, skip_special_tokens=True) == expected


def test_the_unknown_asked_for_anything_is_unknown():
    relations = np.array([[0, 1, 2]])
    prompt = torch.from_numpy(prompt_ids(CHAIN.vocabulary, np.array([-1]), relations, hops=3))
    assert prompt[0, -1] == 0
    assert MEMORY.model().generate(prompt)[0, prompt.shape[1] :].tolist() == [0, 0, 0, 1]


def test_an_end_or_a_relation_in_place_of_the_unknown_is_not_a_right_answer():
    """An answer that stops too early is padded with the end token, which is how it should stop anyway."""
    queries = WORLDS["missing facts"].queries(1)
    known = TABLE.answers[queries.subjects, queries.relations[:, 0]] >= 0
    for mistaken in (CHAIN.vocabulary.end, CHAIN.vocabulary.relations.start):
        unembedding = MEMORY.tensors[OPT.unembedding].clone()
        unembedding[mistaken] += unembedding[CHAIN.vocabulary.unknown]
        unembedding[CHAIN.vocabulary.unknown] = 0
        model = stock_model(OPT, CHAIN, MEMORY.tensors | {OPT.unembedding: unembedding})
        path, stops = generate_paths(CHAIN, model, queries)
        np.testing.assert_array_equal(path, gold_entities(TABLE, queries))
        np.testing.assert_array_equal(stops, known)
