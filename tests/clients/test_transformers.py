"""Plain transformers loads a folder as its own architecture and answers every question."""

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM, OPTForCausalLM


def test_transformers_answers_every_question_as_the_table_does(saved):
    saved.check(saved.reference, tolerance=0)


def test_the_model_is_a_stock_class_and_every_tensor_is_used(saved):
    model, loading = AutoModelForCausalLM.from_pretrained(saved.folder, output_loading_info=True)
    assert type(model) in {OPTForCausalLM, LlamaForCausalLM}
    assert not any(loading.values())


def test_generate_emits_what_the_table_says_and_stops(saved):
    model = AutoModelForCausalLM.from_pretrained(saved.folder)
    for asked in saved.questions:
        prompts = torch.from_numpy(asked.prompts)
        emitted = model.generate(prompts, attention_mask=torch.ones_like(prompts))
        np.testing.assert_array_equal(emitted[:, prompts.shape[1] :].numpy(), asked.gold)


def test_the_tokenizer_gives_back_the_text_of_every_question(saved):
    tokenizer = AutoTokenizer.from_pretrained(saved.folder)
    for asked in saved.questions:
        texts = tokenizer.batch_decode(asked.prompts)
        np.testing.assert_array_equal(tokenizer(texts, return_tensors="np")["input_ids"], asked.prompts)
