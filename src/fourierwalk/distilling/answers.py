"""The answers of a teacher: numbers, probabilities of classes, or labels alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone, is_classifier

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor


class Answers(Protocol):
    """What is asked of a teacher, and how a student learns it."""

    def of(self, model: Any, X: Any) -> np.ndarray:
        """The answers of a teacher at rows X, as numbers or labels."""

    def new_student(self, random_state: Any) -> Any:
        """A student with default settings."""

    def taught(self, student: Any, X: Any, answers: np.ndarray) -> Any:
        """The student, fitted to the answers."""

    def difference(self, values: np.ndarray, truth: np.ndarray) -> float:
        """How far answers are from others, or from the targets themselves."""

    def predicted(self, model: Any, X: Any) -> np.ndarray:
        """What a model predicts, to be compared by `difference`."""


@dataclass(frozen=True)
class Numbers:
    """The numbers that a regressor predicts; differences are root mean squares."""

    measure = "root mean square"

    def of(self, model: Any, X: Any) -> np.ndarray:
        """The predictions."""
        values = np.asarray(model.predict(X))
        if values.dtype.kind not in "biuf":
            raise ValueError(f"teacher must predict numbers, or be a classifier with classes_, got {values.dtype}.")
        return values.astype(np.float64)

    predicted = of

    def new_student(self, random_state: Any) -> Any:
        """A regressor."""
        return AdaptiveFourierRegressor(random_state=random_state)

    def taught(self, student: Any, X: Any, answers: np.ndarray) -> Any:
        """The regressor, fitted to the numbers."""
        return clone(student).fit(X, answers)

    def difference(self, values: np.ndarray, truth: np.ndarray) -> float:
        """The root mean square of the differences."""
        return float(np.sqrt(np.mean((values - np.asarray(truth, dtype=np.float64).reshape(values.shape)) ** 2)))


@dataclass(frozen=True)
class Labels:
    """The labels that a classifier predicts; differences are shares of the rows."""

    measure = "share of rows with another class"

    def of(self, model: Any, X: Any) -> np.ndarray:
        """The labels."""
        return np.asarray(model.predict(X))

    predicted = of

    def new_student(self, random_state: Any) -> Any:
        """A classifier."""
        return AdaptiveFourierClassifier(random_state=random_state)

    def taught(self, student: Any, X: Any, answers: np.ndarray) -> Any:
        """The classifier, fitted to the labels."""
        return clone(student).fit(X, answers)

    def difference(self, values: np.ndarray, truth: np.ndarray) -> float:
        """The share of the rows with another class."""
        return float(np.mean(values != np.asarray(truth).reshape(values.shape)))


@dataclass(frozen=True)
class Probabilities(Labels):
    """The probabilities of classes, which say more than labels; differences are those of the labels."""

    classes: Any = None

    def of(self, model: Any, X: Any) -> np.ndarray:
        """The probabilities."""
        return np.asarray(model.predict_proba(X), dtype=np.float64)

    def taught(self, student: Any, X: Any, answers: np.ndarray) -> Any:
        """The classifier, fitted to the probabilities in place of one-hot targets."""
        return clone(student)._fit_shares(X, answers, np.asarray(self.classes))


def answers_of(teacher: Any) -> Numbers | Labels | Probabilities:
    """What to ask of a teacher.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> answers_of(Ridge().fit([[0], [1]], [0, 1]))
    Numbers()
    >>> answers_of(LogisticRegression().fit([[0], [1]], [0, 1])).classes
    array([0, 1])
    """
    if callable(getattr(teacher, "predict_proba", None)) and getattr(teacher, "classes_", None) is not None:
        if isinstance(teacher.classes_, list):
            raise ValueError(f"teacher must predict one target, got {len(teacher.classes_)} lists of classes.")
        return Probabilities(np.asarray(teacher.classes_))
    if not callable(getattr(teacher, "predict", None)):
        raise TypeError(f"teacher must be a fitted model with predict or predict_proba, got {type(teacher).__name__}.")
    has_classes = is_classifier(teacher) if hasattr(teacher, "__sklearn_tags__") else hasattr(teacher, "classes_")
    return Labels() if has_classes else Numbers()
