"""One decomposition gives the ridge fits of scikit-learn, and the predictions of fits without a row."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from georecall.statistics import ridge
from georecall.statistics.ridge import STRENGTHS, Ridge


@pytest.mark.parametrize(("rows", "dim", "out"), [(30, 50, 3), (40, 8, 5), (12, 20, 40), (25, 3, 1)])
def test_the_fit_is_that_of_scikit_learn(rows, dim, out):
    rng = np.random.default_rng(rows)
    x, y, new = rng.normal(size=(rows, dim)) + 3, rng.normal(size=(rows, out)) - 2, rng.normal(size=(7, dim))
    y += x @ rng.normal(size=(dim, out))
    ours = Ridge(x)
    fit = ours.fit(y)
    scale = ((x - x.mean(axis=0)) ** 2).sum(axis=1).mean()
    theirs = RidgeCV(alphas=STRENGTHS * scale).fit(x, y)
    assert fit.strength == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(fit.predict(ours.project(new)), theirs.predict(new).reshape(7, out), atol=1e-6)
    np.testing.assert_allclose(ours.coefficients(fit), theirs.coef_.reshape(out, dim), atol=1e-6)


def test_a_left_out_prediction_is_that_of_a_fit_without_the_row():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(15, 30)), rng.normal(size=(15, 2))
    fit = Ridge(x).fit(y)
    for row in range(15):
        others = np.arange(15) != row
        alone = RidgeCV(alphas=[fit.strength]).fit(x[others], y[others])
        np.testing.assert_allclose(fit.left_out[row], alone.predict(x[row : row + 1])[0], atol=1e-8)
    assert fit.error == pytest.approx(((y - fit.left_out) ** 2).sum())


def test_features_that_say_nothing_leave_the_mean():
    y = np.arange(12.0).reshape(6, 2)
    ours = Ridge(np.ones((6, 3)))
    np.testing.assert_allclose(ours.fit(y).predict(ours.project(np.ones((1, 3)))), [[5, 6]])


@pytest.mark.parametrize("regressors", [20, 60])
def test_at_the_smallest_strength_a_row_that_alone_has_an_attribute_is_left_out_rightly(
    regressors, monkeypatch
):
    monkeypatch.setattr(ridge, "STRENGTHS", STRENGTHS[:1])
    rng = np.random.default_rng(0)
    x, y = np.eye(regressors)[rng.integers(0, 20, 40)], rng.normal(size=(40, 1))
    fit, alone = Ridge(x).fit(y), np.flatnonzero(x.sum(axis=0) == 1)
    assert len(alone)
    for row in x[:, alone].argmax(axis=0):
        others = np.arange(40) != row
        left, spread, right = np.linalg.svd(x[others] - x[others].mean(axis=0), full_matrices=False)
        weights = right.T @ (spread / (spread**2 + fit.strength) * (left.T @ y[others, 0]))
        expected = y[others].mean() + (x[row] - x[others].mean(axis=0)) @ weights
        assert fit.left_out[row, 0] == pytest.approx(expected, abs=1e-5)
