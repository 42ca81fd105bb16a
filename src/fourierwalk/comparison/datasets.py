"""Data sets from a name, a file or a folder, each with its splits into training and test rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets
from sklearn.model_selection import train_test_split

from fourierwalk.comparison.surrogates import SURROGATES, three_inputs
from fourierwalk.comparison.tables import LoadedTable, read_folder, read_npz, read_table
from fourierwalk.paper import datasets as images
from fourierwalk.paper.targets import anisotropic_gaussian, sine_integral

N_SPLITS = 5
TEST_SHARE = 0.2


class TrainTest(NamedTuple):
    """Training and test rows; classes are codes from 0. Inputs are arrays, or tables with words and missing values."""

    x: Any
    y: np.ndarray
    x_test: Any
    y_test: np.ndarray


@dataclass(frozen=True)
class Dataset:
    """A name, a task, and rows for every split.

    Parameters
    ----------
    name : str
        Names its files and its section of the page.
    task : {"regression", "classification"}
        The task.
    splits : callable
        Takes the number of a split, returns its rows.
    n_splits : int
        Default number of splits.
    most_splits : int, optional
        Largest number of splits. None: no limit.
    settings : mapping
        What determines the rows. A stored cell of other rows is not used for these.
    note : str
        What a reader of the table must know.
    """

    name: str
    task: str
    splits: Callable[[int], TrainTest]
    n_splits: int = N_SPLITS
    most_splits: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def numbers(self, wanted: int | None, first: int = 0) -> range:
        """The splits to compute, from the first on."""
        last = first + (self.n_splits if wanted is None else wanted)
        return range(first, last if self.most_splits is None else min(last, self.most_splits))


class Options(NamedTuple):
    """The options of the command line for data sets."""

    target: str | None = None
    task: str | None = None
    data_dir: str | None = None
    encoding: str | None = None


NOTHING_SAID = Options()


def find(name: str, options: Options = NOTHING_SAID) -> Dataset:
    """A data set by its name or its path.

    Examples
    --------
    >>> borehole = find("borehole")
    >>> borehole.task, borehole.splits(0).x.shape, borehole.splits(0).x_test.shape
    ('regression', (2000, 8), (4000, 8))
    """
    if name in EMBEDDED:
        return EMBEDDED[name](name, options)
    path = Path(name)
    reader = READERS.get("folder" if path.is_dir() else path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(EMBEDDED))
        endings = ", ".join(each for each in READERS if each.startswith("."))
        raise ValueError(
            f"DATASET must be one of {known}, or a file ({endings}), or a folder with data.txt, got {name!r}."
        )
    if not path.exists():
        raise FileNotFoundError(f"DATASET {name} is not there.")
    table = reader(path, options)
    called = re.sub(r"[^\w.-]+", "-", path.resolve().name if path.is_dir() else path.stem)
    return _of_table(called, table, {"sha256": table.sha256, "target": options.target})


def repeated(name: str, x: Any, y: np.ndarray, task: str, **settings: Any) -> Dataset:
    """Random splits, four fifths to train on, stratified by class."""

    def splits(number: int) -> TrainTest:
        stratify = y if task == "classification" and np.min(np.bincount(y)) > 1 else None
        rows = np.arange(len(y))
        train, test = train_test_split(rows, test_size=TEST_SHARE, random_state=number, stratify=stratify)
        return TrainTest(x[train], y[train], x[test], y[test])

    return Dataset(name, task, splits, settings={"rows": list(x.shape), **settings})


def drawn(
    name: str, draw: Callable[[int, np.random.Generator], tuple[Any, Any]], n: int, n_test: int, note: str = ""
) -> Dataset:
    """Fresh rows for every split."""

    def splits(number: int) -> TrainTest:
        rng = np.random.default_rng([number, 1])
        return TrainTest(*draw(n, rng), *draw(n_test, rng))

    return Dataset(name, "regression", splits, settings={"rows": n, "test": n_test}, note=note)


def noisy(name: str, d: int, n: int, n_test: int) -> Dataset:
    """Signal and noise of variance 1 each; test targets are the signal alone."""

    def splits(number: int) -> TrainTest:
        rng = np.random.default_rng([number, 1])
        x, x_test = rng.standard_normal((n, d)), rng.standard_normal((n_test, d))
        return TrainTest(x, three_inputs(x) + rng.standard_normal(n), x_test, three_inputs(x_test))

    note = "Signal-to-noise ratio 1. Test targets are free of noise: an error of 0 is the true function."
    return Dataset(name, "regression", splits, settings={"rows": n, "test": n_test}, note=note)


def _bundled(load: Callable[..., Any], task: str, name: str, _: Options) -> Dataset:
    x, y = load(return_X_y=True)
    return repeated(name, x, y.astype(np.int64) if task == "classification" else y, task)


def _surrogate(name: str, _: Options) -> Dataset:
    surrogate = SURROGATES[name]
    note = f"Noise of standard deviation {surrogate.noise:g}, on test targets too." if surrogate.noise else ""
    return drawn(name, surrogate.draw, 2_000, 4_000, note)


def _case(function: Callable[[np.ndarray], np.ndarray], d: int, name: str, _: Options) -> Dataset:
    def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        x = rng.standard_normal((n, d))
        return x, function(x)

    return drawn(name, draw, 10_000, 10_000)


def _noisy(d: int, name: str, _: Options) -> Dataset:
    return noisy(name, d, 2_000, 4_000)


def _mnist(name: str, options: Options) -> Dataset:
    @lru_cache(maxsize=1)
    def rows() -> TrainTest:
        data = images.load("mnist", options.data_dir)
        return TrainTest(data.train_images, data.train_labels, data.test_images, data.test_labels)

    return Dataset(name, "classification", lambda _: rows(), n_splits=1, note="The same rows in every split.")


def _of_table(name: str, table: LoadedTable, made_of: dict[str, Any]) -> Dataset:
    if not table.train:
        return replace(repeated(name, table.x, table.y, table.task, **made_of), note=table.said)

    def splits(number: int) -> TrainTest:
        at = number % len(table.train)
        train, test = table.train[at], table.test[at]
        return TrainTest(table.x[train], table.y[train], table.x[test], table.y[test])

    settings = {"rows": list(table.x.shape), **made_of}
    given = len(table.train)
    if given > 1:
        return Dataset(name, table.task, splits, given, given, settings)
    return Dataset(name, table.task, splits, 1, None, settings, "The same rows in every split.")


EMBEDDED: dict[str, Callable[[str, Options], Dataset]] = {
    "diabetes": partial(_bundled, sklearn.datasets.load_diabetes, "regression"),
    "digits": partial(_bundled, sklearn.datasets.load_digits, "classification"),
    "breast-cancer": partial(_bundled, sklearn.datasets.load_breast_cancer, "classification"),
    "wine": partial(_bundled, sklearn.datasets.load_wine, "classification"),
    **dict.fromkeys(SURROGATES, _surrogate),
    "case1": partial(_case, lambda x: sine_integral(x, 1e-3), 1),
    "case2": partial(_case, lambda x: sine_integral(x, 1e-1), 5),
    "case3": partial(_case, anisotropic_gaussian, 2),
    "noisy-4": partial(_noisy, 4),
    "noisy-20": partial(_noisy, 20),
    "mnist": _mnist,
}

READERS: dict[str, Callable[[Path, Options], LoadedTable]] = {
    **dict.fromkeys(
        (".csv", ".tsv", ".txt", ".parquet"),
        lambda path, options: read_table(path, options.target, options.task, options.encoding),
    ),
    ".npz": lambda path, options: read_npz(path, options.task),
    "folder": lambda path, options: read_folder(path, options.task),
}

__all__ = ["EMBEDDED", "Dataset", "Options", "TrainTest", "find"]
