"""Models whose inside is known, and models that have nothing inside."""

import copy

import numpy as np
import torch

from georecall.constructions.associative import Associative
from georecall.constructions.one_hop import OneHop
from georecall.constructions.rotation import random_rotation
from georecall.constructions.single_answer import SingleAnswer
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallConfig, RecallTransformer

SUBJECTS, RELATIONS = 128, 3
TABLE = random_bijections(SUBJECTS, RELATIONS, rng=np.random.default_rng(0))


def constructed(construction: SingleAnswer) -> RecallTransformer:
    subjects = len(construction.table.subjects)
    return RecallTransformer.from_weights(construction.weights(), subjects=subjects, dtype=torch.float64)


def one_hop(table: FactTable = TABLE) -> RecallTransformer:
    return constructed(OneHop(table))


def key_value(table: FactTable = TABLE) -> RecallTransformer:
    return constructed(Associative(table))


def rotated(model: RecallTransformer, seed: int = 5) -> RecallTransformer:
    """The same function in a turned residual stream: e ← Q e, P ← Q P, W1 ← W1 Qᵀ."""
    turned = copy.deepcopy(model)
    rotation = torch.from_numpy(random_rotation(model.positions.shape[2], seed)).to(model.positions)
    for rows in (*turned.embedding, turned.positions):
        rows.data = rows.data @ rotation.T
    turned.layers[0].w1.data = turned.layers[0].w1.data @ rotation.T
    return turned


def with_shuffled_subjects(model: RecallTransformer, seed: int = 6) -> RecallTransformer:
    """Every subject with the embedding of another."""
    shuffled = copy.deepcopy(model)
    subjects = shuffled.embedding[0]
    order = torch.randperm(subjects.shape[1], generator=torch.Generator().manual_seed(seed))
    subjects.data = subjects.data[:, order]
    return shuffled


def untrained(*, table: FactTable = TABLE, members: int = 3, **sizes: object) -> RecallTransformer:
    subjects, relations = table.answers.shape
    shape = {"dim": 20, "width": 40, "attribute_dim": 6, "context": 2} | sizes
    config = RecallConfig(subjects=subjects, relations=relations, outputs=len(table.attributes), **shape)
    generators = [torch.Generator().manual_seed(member) for member in range(members)]
    return RecallTransformer.random(config, generators=generators)


def stacked(*models: RecallTransformer) -> RecallTransformer:
    """An ensemble of models of one shape."""
    ensemble = copy.deepcopy(models[0])
    for parameter, *parts in zip(
        ensemble.parameters(), *(model.parameters() for model in models), strict=True
    ):
        parameter.data = torch.cat([part.data for part in parts])
    return ensemble
