"""Estimators tuned on training rows: by cross-validation and a closer second grid, or on one held-out share."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fourierwalk.comparison.adapters import NativeCategories, UnitScaler
from fourierwalk.tables.encoder import TableEncoder
from fourierwalk.tables.table import Table

N_FOLDS = 3
OURS, PEER, BESIDE = "ours", "kernel or network", "beside"  # families of methods
HARMLESS = (
    "n_components > n_samples",
    "Singular matrix in solving dual",
    "The least populated class",
    "Persisting input arguments",
)
Steps = Callable[[int, int, int], list[tuple[str, Any]]]
Grid = Mapping[str, Sequence[Any]]


class Fitted(NamedTuple):
    """A model, the seconds of tuning and fitting and of the last fit alone, and what tuning chose."""

    model: Any
    seconds: float
    last_seconds: float
    chosen: dict[str, Any]


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def __call__(self) -> float:
        return time.perf_counter() - self._start


class Search(Protocol):
    """Which training rows judge a setting."""

    def folds(self, task: str, seed: int) -> Any:
        """A splitter of scikit-learn."""


@dataclass(frozen=True)
class CrossValidation:
    """Every row judges once."""

    n_folds: int = N_FOLDS

    def folds(self, task: str, seed: int) -> Any:
        """Random folds, stratified by class."""
        return (KFold if task == "regression" else StratifiedKFold)(self.n_folds, shuffle=True, random_state=seed)


@dataclass(frozen=True)
class HeldOut:
    """One random share of the rows is held out."""

    share: float = 0.2

    def folds(self, task: str, seed: int) -> Any:
        """One split, stratified by class."""
        kind = ShuffleSplit if task == "regression" else StratifiedShuffleSplit
        return kind(1, test_size=self.share, random_state=seed)


ON_A_FIFTH = HeldOut()


@dataclass(frozen=True)
class Tuned:
    """A scikit-learn estimator behind a scaling, tuned on training rows.

    Parameters
    ----------
    name, label, family : str
        See `Method`.
    task : {"regression", "classification"}
        Regression targets are standardised too.
    steps : callable
        Takes (rows, inputs, seed), returns the pipeline's steps after the scaling. The last one is called "model".
    grid : mapping, or sequence of mappings
        Values to try, by the step's parameter; `gamma` in units of one over the number of inputs. Several: one after
        the other.
    finer : mapping
        Factors of a second search around the first one's choice.
    tuning_rows : int
        Largest number of random training rows for tuning. The last fit is on all rows.
    most_rows : int, optional
        With more training rows the method is left out.
    least_members : int
        Training rows of classes that have fewer are dropped: too few to hold some of them out.
    search : Search
        Which training rows judge a setting.
    takes_tables : bool
        Whether it handles categories and missing values itself. Else tables are encoded as for ours.
    count : callable
        Takes the pipeline and the number of training rows, returns the number of columns.
    module : str, optional
        A library that the method needs.
    """

    name: str
    label: str
    task: str
    steps: Steps
    grid: Grid | Sequence[Grid] = field(default_factory=dict)
    finer: Mapping[str, Sequence[float]] = field(default_factory=dict)
    tuning_rows: int = 5_000
    most_rows: int | None = None
    count: Callable[[Any, int], int | None] = lambda model, n: None
    module: str | None = None
    family: str = PEER
    least_members: int = 1
    search: Search = CrossValidation()
    takes_tables: bool = False

    def settings(self) -> dict[str, Any]:
        """The steps and what is tried."""
        steps = repr(self.steps(100, 1, 0)) if self.module is None else self.module
        grid = dict(self.grid) if isinstance(self.grid, Mapping) else [dict(one) for one in self.grid]
        said = {"steps": steps, "grid": grid, "finer": dict(self.finer), "tuning_rows": self.tuning_rows}
        if self.search == CrossValidation():  # the default is not stored, so that older cells are still found
            return said
        return {**said, "search": repr(self.search), "least_members": self.least_members}

    def absent(self, n_rows: int) -> str | None:
        """The library is not installed, or there are too many rows."""
        if self.module is not None:
            try:
                importlib.import_module(self.module)
            except ImportError:
                return f"{self.module} is not installed"
        if self.most_rows is not None and n_rows > self.most_rows:
            return f"{n_rows:,} training rows are more than {self.most_rows:,}"
        return None

    def fit(self, x: Any, y: np.ndarray, seed: int) -> Fitted:
        """Search a coarse grid, search a finer one, then fit on all rows."""
        clock = Stopwatch()
        x, y = self._common(x, y)
        with _expected_warnings():
            estimator = self._estimator(x, y, seed)
            chosen = self._chosen(estimator, x, y, seed)
            last = Stopwatch()
            model = clone(estimator).set_params(**self._prefixed(chosen)).fit(x, y)
        last_seconds = last()  # before the total is read, which includes it
        return Fitted(model, clock(), last_seconds, chosen)

    def columns(self, model: Any) -> int | None:
        """Number of columns of the method."""
        pipeline = model.regressor_ if self.task == "regression" else model
        return self.count(pipeline, int(pipeline["scale"].n_rows_))

    def _estimator(self, x: Any, y: np.ndarray, seed: int) -> Any:
        before: list[tuple[str, Any]] = [("scale", UnitScaler())]
        n, d = x.shape
        if isinstance(x, Table) and self.takes_tables:
            before = [("scale", NativeCategories())]
        elif isinstance(x, Table):
            before, d = [("encode", TableEncoder()), *before], TableEncoder().fit_transform(x, y).shape[1]
        pipeline = Pipeline([*before, *self.steps(n, d, seed)])
        if self.task == "classification":
            return pipeline
        return TransformedTargetRegressor(pipeline, transformer=StandardScaler())

    def _chosen(self, estimator: Any, x: Any, y: np.ndarray, seed: int) -> dict[str, Any]:
        if not self.grid:
            return {}
        x, y = some_rows(x, y, self.tuning_rows, self.task, seed)
        with TemporaryDirectory() as folder:
            if "features" in dict(self.steps(x.shape[0], x.shape[1], seed)):  # computed once for all values of alpha
                estimator = clone(estimator).set_params(**self._prefixed({"memory": folder}))
            grids = [self.grid] if isinstance(self.grid, Mapping) else self.grid
            tried = [{name: _values(name, values, *x.shape) for name, values in grid.items()} for grid in grids]
            chosen = self._best(estimator, tried, x, y, seed)
            if self.finer:
                closer = {name: [value * f for f in self.finer.get(name, (1,))] for name, value in chosen.items()}
                chosen = self._best(estimator, [closer], x, y, seed)
        return chosen

    def _common(self, x: Any, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """The rows of classes that have enough of them."""
        if self.task == "regression" or self.least_members <= 1:
            return x, y
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        kept = counts[codes] >= self.least_members
        return x[kept], y[kept]

    def _best(self, estimator: Any, grids: Sequence[Grid], x: Any, y: np.ndarray, seed: int) -> dict[str, Any]:
        scoring = "neg_root_mean_squared_error" if self.task == "regression" else "accuracy"
        tried, folds = [self._prefixed(grid) for grid in grids], self.search.folds(self.task, seed)
        search = GridSearchCV(estimator, tried, scoring=scoring, cv=folds, refit=False, error_score="raise").fit(x, y)
        return {name.removeprefix("regressor__"): value for name, value in search.best_params_.items()}

    def _prefixed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        prefix = "regressor__" if self.task == "regression" else ""
        return {prefix + name: value for name, value in values.items()}


def some_rows(x: Any, y: np.ndarray, n: int, task: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """At most n random rows, stratified by class."""
    if x.shape[0] <= n:
        return x, y
    stratify = y if task == "classification" else None
    x, _, y, _ = train_test_split(x, y, train_size=n, random_state=seed, stratify=stratify)
    return x, y


def _values(name: str, values: Sequence[Any], n: int, d: int) -> list[Any]:
    """The values to try. Of gamma, only those not much narrower than the distance of the rows, N^(−1/d), over d."""
    if not name.endswith("__gamma"):
        return list(values)
    return [value / d for value in values if value <= max(1.0, n ** (2 / d))]


@contextmanager
def _expected_warnings() -> Iterator[None]:
    """Ignore warnings of settings at which a solver stops early or a matrix is nearly singular."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, LinAlgWarning):
            warnings.simplefilter("ignore", kind)
        for words in HARMLESS:
            warnings.filterwarnings("ignore", message=f".*{words}")
        yield
