import pickle
import re

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from tables import OnlyCosines

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierFeatures, AdaptiveFourierRegressor
from fourierwalk.features import Activation, sigmoid
from fourierwalk.proposals import RandomWalk
from fourierwalk.sampler import Metropolis

ESTIMATORS = [AdaptiveFourierRegressor, AdaptiveFourierClassifier, AdaptiveFourierFeatures]
N_CHECKS = {AdaptiveFourierRegressor: 61, AdaptiveFourierClassifier: 63, AdaptiveFourierFeatures: 56}
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
every_predictor = pytest.mark.parametrize("kind", ESTIMATORS[:2], ids=lambda kind: kind.__name__)


def small(kind=AdaptiveFourierRegressor, **settings):
    """An estimator that fits in a moment."""
    return kind(**{"n_frequencies": 8, "n_steps": 20, "random_state": 0, **settings})


def data(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 2)) * [1.0, 5.0] + [0.0, 10.0]
    return X, 4 * np.sin(2 * X[:, 0]) + 0.2 * X[:, 1] + 50 + 0.1 * rng.standard_normal(n_rows)


def labelled(n_classes=3, n_rows=150):
    X, y = data(n_rows)
    return X, np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))


def targets(kind, n_rows=150):
    return labelled(n_rows=n_rows) if kind is AdaptiveFourierClassifier else data(n_rows)


def output(model, X):
    """All that a fitted estimator says, as numbers."""
    if hasattr(model, "transform"):
        return model.transform(X)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def scaled(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


# scikit-learn's contract


@parametrize_with_checks([kind() for kind in ESTIMATORS])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@every_estimator
def test_no_scikit_learn_check_is_skipped(kind):
    """Their number is asserted, so that none goes missing; the checks themselves have just run one by one."""
    names = []

    class Named(kind):
        pass

    Named.__name__ = kind.__name__
    for _, check in parametrize_with_checks([Named()]).args[1]:
        names.append(check.func.__name__)
    expected = N_CHECKS[kind]
    assert len(names) == expected if sklearn.__version__.startswith("1.9.") else len(names) >= 40
