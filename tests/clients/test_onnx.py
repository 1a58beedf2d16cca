"""The export of docs/clients.md, for each architecture, answers every question in ONNX Runtime."""

import numpy as np
import pytest
from memories import SavedMemory
from page import EXPORTING

from georecall.memory import FactMemory


@pytest.mark.parametrize("name", ["family", "family-opt"])
def test_onnx_runtime_answers_every_question_as_the_table_does(name, families, client, capsys):
    for needed in (*EXPORTING.imports, "onnxscript"):
        client(needed)
    exported = EXPORTING.run(families, family=name)
    assert capsys.readouterr().out == EXPORTING.printed

    def scores(tokens: np.ndarray) -> np.ndarray:
        (logits,) = exported["session"].run(["logits"], {"input_ids": tokens})
        return logits[:, -1]

    folder = families / name
    SavedMemory(FactMemory.load(folder), folder).check(scores, tolerance=1e-4)
