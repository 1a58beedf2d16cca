"""ONNX Runtime runs an export of a folder with the same scores, for any batch and any length of prompt."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM


class NextTokenScores(torch.nn.Module):
    """A language model as a function of the tokens alone, without a cache."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids, use_cache=False).logits


@pytest.fixture(scope="module")
def session(saved, client, tmp_path_factory):
    """The exported model in ONNX Runtime, on one thread."""
    for needed in ("onnx", "onnxscript"):
        client(needed)
    runtime = client("onnxruntime")
    model = AutoModelForCausalLM.from_pretrained(saved.folder)
    places = torch.export.Dim("places", max=model.config.max_position_embeddings)
    file = tmp_path_factory.mktemp("exported") / "memory.onnx"
    torch.onnx.export(
        NextTokenScores(model).eval(),
        (torch.ones(2, 5, dtype=torch.int64),),
        file,
        dynamo=True,
        verbose=False,
        input_names=["input_ids"],
        output_names=["logits"],
        dynamic_shapes={"input_ids": {0: torch.export.Dim("batch"), 1: places}},
    )
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    return runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("saved", [("opt", None), ("llama", None)], indirect=True, ids="{0[0]}".format)
def test_onnx_runtime_answers_every_question_as_the_table_does(saved, session):
    def scores(tokens: np.ndarray) -> np.ndarray:
        (logits,) = session.run(["logits"], {"input_ids": tokens})
        return logits[:, -1]

    saved.check(scores, tolerance=1e-4)
