"""One model has the same numbers by dissection and by probing.

It is a model whose subject embeddings are the states that are probed. Attribute vectors are of one length, as
probing makes them, and all of them occur in each relation.
"""

import numpy as np
import pytest
import torch

import known_models
from georecall.dissection.held_out_split import HeldOutSplit
from georecall.dissection.readout import read_out
from georecall.dissection.superposition import superpose
from georecall.facts.table import FactTable
from georecall.probing.features import States
from georecall.probing.joint_fit import fit_jointly
from georecall.probing.probes import probe
from georecall.probing.relations import choose_targets
from georecall.statistics.folds import fold_numbers, splits
from georecall.statistics.random_streams import stream

SUBJECTS, RELATIONS, OUT, FOLDS = 120, ("r0", "r1", "r2"), 6, 5


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    answers = np.stack([rng.permutation(np.arange(SUBJECTS) % (2 * OUT)) for _ in RELATIONS], axis=1)
    names = (
        tuple(f"{kind}{number}" for number in range(count)) for kind, count in (("s", SUBJECTS), ("a", 12))
    )
    subjects, attributes = names
    return FactTable(subjects, RELATIONS, attributes, answers)


@pytest.fixture(scope="module")
def model(table):
    model = known_models.untrained(table=table, members=1, attribute_dim=OUT)
    rng = np.random.default_rng(1)
    axes, _ = np.linalg.qr(rng.normal(size=(OUT, OUT)))
    vectors = np.concatenate([axes, -axes])
    components = rng.normal(size=(len(RELATIONS), OUT, 20)) * [[[1]], [[2]], [[3]]]
    written = sum(
        vectors[column] @ component for column, component in zip(table.answers.T, components, strict=True)
    )
    with torch.no_grad():
        model.unembedding[0] = torch.from_numpy(vectors)
        model.embedding[0][0] = torch.from_numpy(written + 3 * rng.normal(size=written.shape))
    return model


@pytest.fixture(scope="module")
def states(model):
    """Two layers, as the first is never chosen."""
    return np.stack([model.embedding[0][0].detach().numpy()] * 2)


@pytest.fixture(scope="module")
def vectors(model):
    return model.unembedding[0].detach().double().numpy()


@pytest.fixture(scope="module")
def parts(model, table):
    """The model with each fold held out in turn."""
    return [
        HeldOutSplit(model=model, table=table, training=training, held_out=held_out)
        for training, held_out in splits(fold_numbers(SUBJECTS, FOLDS, seed=0))
    ]


def test_superpositions_explain_the_same_by_the_same_shares(table, states, vectors, parts):
    by_probing = fit_jointly(states, table, vectors, RELATIONS, folds=FOLDS, seed=0)
    found = [superpose(part, rng=stream(0, "shuffled")) for part in parts]
    spreads = [
        ((states[0, part.held_out] - states[0, part.training].mean(axis=0, dtype=float)) ** 2).sum()
        for part in parts
    ]
    r2 = np.average([one.held_out_r2.mean for one in found], weights=spreads)
    shares = np.average([one.shares.mean for one in found], weights=spreads, axis=0)
    assert 0.2 < r2 < 0.9
    assert by_probing.joint.by_layer[1].value == pytest.approx(r2, abs=1e-6)
    np.testing.assert_allclose(by_probing.shares[1], shares, atol=1e-6)


def test_the_same_subjects_are_read_off(table, states, vectors, parts):
    targets, _ = choose_targets(table, vectors, folds=FOLDS, seed=0)
    by_vectors = [target for target in targets if target.kind == "vectors"]
    probes = probe(States(source="embeddings", names=(0, 1), values=states), by_vectors)
    hits = sum(read_out(part, rng=stream(0, "shuffled")).rates.mean * len(part.held_out) for part in parts)
    assert 0.2 < hits.mean() / SUBJECTS < 0.95
    np.testing.assert_allclose([one.hits[1].sum() for one in probes], hits)
