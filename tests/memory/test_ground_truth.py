"""The ground truth is the true decomposition of the weights."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from cases import WORLDS
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES


@pytest.mark.parametrize("rotate", [None, 3])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_embedding_is_the_superposition_of_its_answers_and_every_name_is_read_from_the_output(
    arch, rotate, tmp_path
):
    memory = FactMemory.compile(WORLDS["missing facts"].table, arch=arch, rotate=rotate)
    truth, chain = memory.ground_truth(), memory.chain
    held = truth.codewords[truth.answers]
    superpositions = np.einsum("rdp,erp->ed", truth.blocks, held) + truth.constant
    np.testing.assert_allclose(superpositions, chain.entity_rows(slice(None)), atol=1e-12)
    scores = np.concatenate(list(chain.unembedding_chunks()))
    entities = scores[chain.vocabulary.entities]
    np.testing.assert_allclose(4 * truth.codewords[1:] @ truth.output.T, entities, atol=1e-12)
    np.testing.assert_allclose(4 * truth.codewords[:1] @ truth.output.T, scores[:1], atol=1e-12)

    memory.save(tmp_path / "memory")
    saved = load_file(tmp_path / "memory" / "ground_truth.safetensors")
    assert saved.keys() == vars(truth).keys()
    for name, array in saved.items():
        np.testing.assert_array_equal(array, getattr(truth, name))
