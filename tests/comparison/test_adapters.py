"""The three small estimators that scikit-learn lacks."""

import sys
import types

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fourierwalk.comparison.adapters import KernelRidgeClassifier, RecursiveFeatureMachine, UnitScaler


def test_columns_are_standardised_and_pixels_are_not():
    x = np.random.default_rng(0).normal(3.0, [1.0, 50.0], (100, 2))
    np.testing.assert_allclose(UnitScaler().fit_transform(x), StandardScaler().fit_transform(x))
    pixels = load_digits().data
    scaled = UnitScaler().fit(pixels).transform(pixels)
    np.testing.assert_allclose(np.mean(scaled, axis=0), 0, atol=1e-12)
    ratio = np.std(scaled, axis=0)[pixels.std(axis=0) > 0] / pixels.std(axis=0)[pixels.std(axis=0) > 0]
    np.testing.assert_allclose(ratio, ratio[0])


def test_kernel_ridge_on_one_hot_targets():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((150, 2))
    y = np.array(["a", "b", "c"])[np.digitize(np.linalg.norm(x, axis=1), [0.8, 1.6])]
    model = clone(KernelRidgeClassifier(alpha=1e-2, kernel="rbf", gamma=1.0)).fit(x, y)
    kernel = np.exp(-np.sum((x[:, None] - x[None]) ** 2, axis=2))
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(y[:, None])
    centred = one_hot - one_hot.mean(axis=0)
    values = kernel @ np.linalg.solve(kernel + 1e-2 * np.eye(150), centred) + one_hot.mean(axis=0)
    np.testing.assert_array_equal(model.predict(x), np.array(["a", "b", "c"])[np.argmax(values, axis=1)])
    assert model.score(x, y) > 0.9
    assert is_classifier(model)


class Machine:
    """Stands in for xRFM: remembers how it was called, predicts the mean or the most frequent class."""

    def __init__(self, **settings):
        self.settings = settings

    def fit(self, x, y, x_held, y_held):
        self.shapes, self.types = (x.shape, x_held.shape), (x.dtype, y.dtype)
        self.value = np.mean(y) if y.dtype.kind == "f" else np.argmax(np.bincount(y))

    def predict(self, x):
        return np.full((x.shape[0], 1), self.value)


@pytest.mark.parametrize("regression", [True, False])
def test_xrfm_is_called_as_it_wants(monkeypatch, regression):
    monkeypatch.setitem(sys.modules, "xrfm", types.SimpleNamespace(xRFM=Machine))
    x = np.random.default_rng(0).standard_normal((50, 3))
    y = x[:, 0] if regression else np.repeat(["b", "a"], [35, 15])
    model = clone(RecursiveFeatureMachine(regression, bandwidth=7.0, regularization=0.5, random_state=3)).fit(x, y)
    assert model.machine_.settings["rfm_params"]["model"]["bandwidth"] == 7.0
    assert model.machine_.settings["rfm_params"]["fit"]["reg"] == 0.5
    assert model.machine_.settings["random_state"] == 3
    assert model.machine_.shapes == ((40, 3), (10, 3))
    assert model.machine_.types == (np.float32, np.float32 if regression else np.int64)
    assert model.predict(x).shape == (50,)
    assert regression or set(model.predict(x)) == {"b"}
    scoring = "neg_mean_squared_error" if regression else "accuracy"
    scores = cross_val_score(model, x, y, scoring=scoring, error_score="raise")  # accuracy asks for classes_
    assert np.all(np.isfinite(scores))
    assert (is_regressor(model), is_classifier(model)) == (regression, not regression)
