"""The error of a model on held-out rows, beside those of three well-known reference models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fourierwalk.comparison.run import error_of
from fourierwalk.tables.encoder import TableEncoder
from fourierwalk.tables.table import Table

MOST_ROWS = 10_000
"""Largest number of held-out rows. More would not make the error much more precise."""

LEAST_ROWS = 10
"""If fewer rows would be held out, none are."""

PENALTIES = tuple(10.0**power for power in range(-3, 6))

REFERENCES: dict[str, dict[str, Callable[[int], Any]]] = {
    "regression": {
        "the mean": lambda seed: DummyRegressor(),
        "a linear model": lambda seed: make_pipeline(StandardScaler(), RidgeCV(PENALTIES)),
        "boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    },
    "classification": {
        "the commonest class": lambda seed: DummyClassifier(),
        "a linear model": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    },
}
"""Models with their default settings, by name."""


class HeldOutParts(NamedTuple):
    """Indices of the training rows and of the held-out rows."""

    train: np.ndarray
    test: np.ndarray


def parts(y: np.ndarray, task: str, share: float, seed: int) -> HeldOutParts:
    """A random split, stratified if every class has several rows.

    Examples
    --------
    >>> split = parts(np.arange(100.0), "regression", 0.2, seed=0)
    >>> split.train.size, split.test.size
    (80, 20)
    """
    n, n_test = y.size, min(MOST_ROWS, int(share * y.size))
    if n_test < LEAST_ROWS:
        return HeldOutParts(np.arange(n), np.arange(0))
    stratify = None
    if task == "classification":
        _, counts = np.unique(y, return_counts=True)
        stratify = y if counts.min() > 1 and counts.size <= min(n_test, n - n_test) else None
    train, test = train_test_split(np.arange(n), test_size=n_test, random_state=seed, stratify=stratify)
    return HeldOutParts(np.sort(train), np.sort(test))


def measure(task: str) -> str:
    """What the errors are."""
    return "RMSE" if task == "regression" else "% misclassified"


def reference_errors(table: Table, y: np.ndarray, task: str, split: HeldOutParts, seed: int) -> dict[str, float]:
    """The errors of the reference models, on the numeric columns that our encoder makes."""
    encoder = TableEncoder()
    x = encoder.fit_transform(table[split.train], y[split.train])
    x_test = encoder.encode(table[split.test])
    errors = {}
    for name, make in REFERENCES[task].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of a reference model do not matter
            model = make(seed).fit(x, y[split.train])
        errors[name] = error_of(task, model.predict(x_test), y[split.test])
    return errors
