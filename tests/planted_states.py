"""Tables, attribute vectors and hidden states in which it is known what can be read off."""

import numpy as np

from georecall.facts.table import FactTable


def table_of(columns, subjects=None):
    """A table with one column of attribute numbers, -1 where missing, for each relation; attributes are its own."""
    names, answers = [], []
    for relation, column in zip(columns, map(np.asarray, columns.values()), strict=True):
        answers.append(np.where(column >= 0, column + len(names), -1))
        names += [f"{relation} {number}" for number in range(column.max() + 1)]
    n = len(answers[0])
    subjects = [f"s{number}" for number in range(n)] if subjects is None else subjects
    return FactTable(
        tuple(subjects), tuple(columns), tuple(names), np.stack(answers, axis=1).astype(np.int64)
    )


def random_table(sizes, n, seed=0):
    """Every relation has as many attributes as its size says, drawn evenly."""
    rng = np.random.default_rng(seed)
    columns = {f"r{number}": rng.permutation(np.arange(n) % size) for number, size in enumerate(sizes)}
    return table_of(columns)


def vectors_of(table, out=24, seed=1):
    return np.random.default_rng(seed).normal(size=(len(table.attributes), out))


def superposed(table, vectors, dim, seed=2):
    """Σ_r B_r v_{f_r(s)}; a missing answer adds nothing."""
    rng = np.random.default_rng(seed)
    written = np.zeros((len(table.subjects), dim))
    for column in table.answers.T:
        components = vectors @ rng.normal(size=(vectors.shape[1], dim))
        written += np.where(column[:, None] >= 0, components[column], 0)
    return written


def layers_with(signal, n_layers, noise, seed=3, at=None):
    """States of `n_layers` layers, noise of a standard deviation, with the signal in some of them alone."""
    states = noise * np.random.default_rng(seed).normal(size=(n_layers, *signal.shape))
    for layer in range(n_layers) if at is None else at:
        states[layer] += signal
    return states.astype(np.float32)
