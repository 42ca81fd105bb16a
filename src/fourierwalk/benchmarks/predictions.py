"""Speed of predictions of one row and of many, beside other regressors in the same process, on one thread."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.neural_network import MLPRegressor
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure, medians_in_turn
from fourierwalk.estimators import AdaptiveFourierRegressor

N_INPUTS = 10
PART = 100
"""Kernel ridge regression would need 16 GB for 10⁶ rows: it gets one row in so many, and its time is multiplied."""


def fitted(shrink: int) -> dict[str, Any]:
    """Our regressor and others, fitted to the same 2,000 rows."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2000 // shrink, N_INPUTS))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
    models = {
        "ours": AdaptiveFourierRegressor(256 // shrink, sampler="fixed", initial=0.3, clamp=True, random_state=0),
        "MLPRegressor": MLPRegressor(random_state=0, max_iter=20),
        "KernelRidge": KernelRidge(kernel="rbf"),
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how good it is does not matter here
        return {name: model.fit(x, y) for name, model in models.items()}


def one_row(shrink: int) -> Iterator[Figure]:
    """One row of ten inputs."""
    models, row = fitted(shrink), np.random.default_rng(1).standard_normal((1, N_INPUTS))
    with threadpool_limits(1):
        calls = [lambda model=model: model.predict(row) for model in models.values()]
        seconds = dict(zip(models, medians_in_turn(calls, 1001 // shrink), strict=True))
    case = f"predict, one row, d = {N_INPUTS}, K = {models['ours'].n_frequencies_}"
    yield Figure(case, "µs", 1e6 * seconds["ours"], 150.0)
    yield from _against(case, seconds)


def many_rows(shrink: int) -> Iterator[Figure]:
    """10⁶ rows of ten inputs on one thread, and that a row's prediction has the same bits among others and alone."""
    models, n_rows = fitted(shrink), 1_000_000 // shrink**2
    rows = np.random.default_rng(1).standard_normal((n_rows, N_INPUTS))
    few = rows[: n_rows // PART]
    with threadpool_limits(1):
        calls = [
            lambda model=model, x=few if name == "KernelRidge" else rows: model.predict(x)
            for name, model in models.items()
        ]
        seconds = dict(zip(models, medians_in_turn(calls, 3), strict=True))
    seconds["KernelRidge"] *= PART
    ours = models["ours"]
    case = f"predict, {n_rows:,} rows, d = {N_INPUTS}, K = {ours.n_frequencies_}, one thread"
    yield Figure(case, "seconds", seconds["ours"], 1.5)
    yield from _against(case, seconds)
    alone = np.concatenate([ours.predict(few[i : i + 1]) for i in range(min(len(few), 1000))])
    apart = float(np.max(np.abs(alone - ours.predict(rows)[: len(alone)])))
    yield Figure(case, "largest difference between a row alone and among all", apart, 0.0)


def _against(case: str, seconds: dict[str, float]) -> Iterator[Figure]:
    for name, theirs in seconds.items():
        if name != "ours":
            yield Figure(case, f"times the seconds of {name}", seconds["ours"] / theirs)


BENCHES = {"predict-row": one_row, "predict-rows": many_rows}
