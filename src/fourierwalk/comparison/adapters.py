"""Four small estimators that scikit-learn lacks and a fair comparison needs."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import train_test_split

from fourierwalk.data.scaling import Scaling
from fourierwalk.tables.facts import codes_of, levels_of
from fourierwalk.tables.table import WORDS, Table


class UnitScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Our own scaling, for the peers: each column by its standard deviation, or all by a common one if they are pixels.

    Examples
    --------
    >>> UnitScaler().fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    def fit(self, X: Any, y: Any = None) -> UnitScaler:
        """Means and spreads."""
        self.inputs_ = Scaling.fit(X, np.zeros((X.shape[0], 1)), standardize="auto").inputs
        self.n_rows_, self.n_features_in_ = X.shape
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The scaled columns."""
        return self.inputs_.apply(X)


class NativeCategories(TransformerMixin, BaseEstimator):
    """A table as a pandas frame of numbers and categories, for boosting that handles categories itself.

    Levels that fit has not seen become missing values.

    Examples
    --------
    >>> table = Table.of(np.array([["audi", 1.0], ["bmw", None]], dtype=object))
    >>> NativeCategories().fit(table[:1]).transform(table)
         x0   x1
    0  audi  1.0
    1   NaN  NaN
    """

    def fit(self, X: Table, y: Any = None) -> NativeCategories:
        """The levels."""
        self.levels_ = [
            levels_of(column) if kind == WORDS else None for kind, column in zip(X.kinds, X.columns, strict=True)
        ]
        self.n_rows_, self.n_features_in_ = X.shape
        return self

    def transform(self, X: Table) -> Any:
        """The frame. Its columns are called x0, x1, …, whatever the table's names are."""
        pandas = importlib.import_module("pandas")
        frame = {}
        for j, (levels, column) in enumerate(zip(self.levels_, X.columns, strict=True)):
            if levels is not None:
                codes = codes_of(known := tuple(level for level in levels if level is not None), column)
                column = pandas.Categorical.from_codes(codes, categories=list(known))
            frame[f"x{j}"] = column
        return pandas.DataFrame(frame)


class KernelRidgeClassifier(ClassifierMixin, KernelRidge):
    """Kernel ridge on one-hot targets: the kernel method that corresponds to our classifier.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> KernelRidgeClassifier(alpha=0.1, kernel="rbf").fit(x, [5, 5, 7, 7]).predict([[-1.5], [1.5]])
    array([5, 7])
    """

    def fit(self, X: Any, y: Any) -> KernelRidgeClassifier:
        """Solve one system with a right-hand side per class."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        one_hot = np.eye(self.classes_.size)[codes]
        self.shares_ = one_hot.mean(axis=0)
        super().fit(X, one_hot - self.shares_)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest value."""
        return self.classes_[np.argmax(super().predict(X) + self.shares_, axis=1)]


class RecursiveFeatureMachine(BaseEstimator):
    """xRFM with scikit-learn's interface. A fifth of the rows are its validation rows.

    Parameters
    ----------
    regression : bool
        Whether targets are numbers.
    bandwidth, regularization : float
        Of the kernel and of its ridge.
    random_state : int
        Of the split and of the machine.
    threads : int, optional
        Of torch; None: as many as it takes.
    """

    def __init__(
        self,
        regression: bool = True,
        bandwidth: float = 10.0,
        regularization: float = 1e-3,
        random_state: int = 0,
        threads: int | None = None,
    ) -> None:
        self.regression = regression
        self.bandwidth = bandwidth
        self.regularization = regularization
        self.random_state = random_state
        self.threads = threads

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.regression else "classifier"
        return tags

    def fit(self, X: Any, y: Any) -> RecursiveFeatureMachine:
        """Fit by five iterations of kernel ridge and metric."""
        if self.threads is not None:
            importlib.import_module("torch").set_num_threads(self.threads)
        settings = {
            "model": {"kernel": "l2", "bandwidth": self.bandwidth, "exponent": 1.0, "diag": False},
            "fit": {"reg": self.regularization, "iters": 5, "return_best_params": True, "verbose": False},
        }
        self.machine_ = importlib.import_module("xrfm").xRFM(
            rfm_params=settings, device="cpu", random_state=self.random_state, verbose=False
        )
        if not self.regression:  # xRFM needs numbered classes
            self.classes_, y = np.unique(y, return_inverse=True)
        stratify = None if self.regression else y
        x, x_held, y, y_held = train_test_split(
            X.astype(np.float32), y, test_size=0.2, random_state=self.random_state, stratify=stratify
        )
        if self.regression:
            y, y_held = (values.astype(np.float32) for values in (y, y_held))
        self.machine_.fit(x, y, x_held, y_held)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Numbers or classes."""
        predicted = np.asarray(self.machine_.predict(X.astype(np.float32))).reshape(X.shape[0])
        return predicted if self.regression else self.classes_[predicted.astype(np.int64)]
