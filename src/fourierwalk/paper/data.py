"""The data of a cell: drawn or loaded, and normalised as the paper says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array
from fourierwalk.data.scaling import Scaling
from fourierwalk.paper import datasets
from fourierwalk.paper.cases import Case
from fourierwalk.paper.targets import anisotropic_gaussian, gaussian, sine_integral

TARGETS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "step": lambda x: sine_integral(x, 1e-3),
    "step-5d": lambda x: sine_integral(x, 1e-1),
    "anisotropic": anisotropic_gaussian,
    "gaussian": gaussian,
}


class Realisation(NamedTuple):
    """Training and test rows, normalised where the case is; targets are (n, q).

    `truth` is `y_test` without its noise, if it has noise.
    """

    x: Array
    y: Array
    x_test: Array
    y_test: Array
    scaling: Scaling | None
    truth: Array | None = None


def split(case: Case, seed: int, data_dir: str | None = None) -> Realisation:
    """The rows of one realisation. All experiments and widths of a realisation share them."""
    if case.target in ("mnist", "digits"):
        return _digits(case, data_dir)
    return _drawn(case, seed)


@lru_cache(maxsize=4)
def _drawn(case: Case, seed: int) -> Realisation:
    rng = _generator(case, seed)
    x, y = _draw(case, rng, case.n_rows)
    x_test, y_test = _draw(case, rng, case.n_test)
    if not case.normalise:
        truth = TARGETS[case.target](x_test)[:, None] if case.noise else None
        return Realisation(x, y, x_test, y_test, None, truth)
    scaling = Scaling.fit(x, y, ddof=1)  # Algorithm 3; test rows by the training statistics
    inputs, targets = scaling.inputs.apply, scaling.targets.apply
    return Realisation(inputs(x), targets(y), inputs(x_test), targets(y_test), scaling)


@lru_cache(maxsize=1)
def _digits(case: Case, data_dir: str | None) -> Realisation:
    data = datasets.load(case.target, data_dir)
    train, test = slice(0, case.n_rows), slice(0, case.n_test)
    one_hot = np.eye(10)
    return Realisation(
        data.train_images[train],
        one_hot[data.train_labels[train]],
        data.test_images[test],
        one_hot[data.test_labels[test]],
        None,
    )


def stream(case: Case, seed: int, scaling: Scaling, chunk: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """An endless stream of new rows, for Case 3's stochastic gradient, which uses each sample once."""
    rng = np.random.default_rng([seed, case.d, 3])
    while True:
        x, y = _draw(case, rng, chunk)
        yield scaling.inputs.apply(x), scaling.targets.apply(y)[:, 0]


def _generator(case: Case, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, case.d, 1])


def _draw(case: Case, rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    x = rng.standard_normal((n, case.d))
    y = TARGETS[case.target](x)
    if case.noise:
        y = y + case.noise * rng.standard_normal(n)
    return x, y[:, None]
