"""Answers are read off linearly where they are in the embedding, and nowhere else."""

import pytest
import torch

import known_models
from georecall.dissection import dissect


def test_every_answer_is_read_off_a_constructed_embedding(geometric):
    assert geometric.readout.rates.values.tolist() == [[1.0] * 3]
    assert geometric.readout.shuffled.values.max() < 0.15
    assert geometric.readout.wilson[0].min() > 0.8


@pytest.mark.parametrize("kind", ["shuffled", "untrained", "key_value"])
def test_nothing_is_read_off_embeddings_without_answers(kind, request):
    found = request.getfixturevalue(kind).readout
    assert found.rates.values.max() < 0.15
    assert (found.wilson[0] <= found.chance + 0.05).all()
    assert found.chance == 1 / known_models.SUBJECTS


def test_long_attribute_vectors_do_not_draw_answers_to_themselves():
    model = known_models.one_hop()
    with torch.no_grad():
        model.unembedding *= torch.linspace(1, 3, model.unembedding.shape[1])[:, None]
        vectors = model.unembedding[0, : known_models.SUBJECTS]
        model.embedding[0][0] = vectors[known_models.TABLE.answers.copy()].flatten(1)
    found = dissect(model, known_models.TABLE, only=["readout"]).readout
    assert found.rates.values.min() == 1


def test_attributes_with_one_vector_are_a_tie_and_a_tie_is_wrong():
    model = known_models.one_hop()
    with torch.no_grad():
        model.unembedding[:] = model.unembedding[:, :1]
    assert dissect(model, known_models.TABLE, only=["readout"]).readout.rates.values.max() == 0
