"""nnsight traces a folder and gives the same scores."""

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer


@pytest.fixture(scope="module")
def model(saved, client):
    """The folder under nnsight."""
    nnsight = client("nnsight")
    tokenizer = AutoTokenizer.from_pretrained(saved.folder)
    return nnsight.TransformersModel(str(saved.folder), task="text-generation", tokenizer=tokenizer)


def test_nnsight_answers_every_question_as_the_table_does(saved, model):
    def scores(tokens: np.ndarray) -> np.ndarray:
        with torch.inference_mode(), model.trace(torch.from_numpy(tokens)):
            found = model.lm_head.output.save()
        return found[:, -1].numpy()

    saved.check(scores, tolerance=1e-5)


def test_nnsight_generates_from_text_what_the_table_says(saved, model):
    for asked in saved.questions:
        text = model.tokenizer.decode(asked.prompts[0])
        with model.generate(text) as tracer:
            sequence = tracer.result.save()
        np.testing.assert_array_equal(sequence[0].numpy(), [*asked.prompts[0], *asked.gold[0]])
