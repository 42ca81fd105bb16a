"""What error bars cost: standard deviations and intervals beside `predict`, and fits with and without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from fourierwalk.benchmarks.figures import Figure, medians_in_turn
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.training import assembly

N_INPUTS = 10


def fitted(shrink: int) -> dict[str, Any]:
    """An average of narrow models, as few rows give one, and one wide model."""
    x, y = make_friedman1(max(400, 2000 // shrink), N_INPUTS, noise=1.0, random_state=0)
    few, n_frequencies = min(len(x), 900), max(32, 256 // shrink)
    return {
        "average": AdaptiveFourierRegressor(n_frequencies, random_state=0).fit(x[:few], y[:few]),
        "one model": AdaptiveFourierRegressor(n_frequencies, sampler="fixed", initial=0.3, random_state=0).fit(x, y),
    }


def predictions(shrink: int) -> Iterator[Figure]:
    """10⁵ rows of ten inputs on as many threads as BLAS may use."""
    n_rows = 100_000 // shrink**2
    rows = np.random.default_rng(1).uniform(size=(n_rows, N_INPUTS))
    for name, model in fitted(shrink).items():
        calls = [
            partial(model.predict, rows),
            partial(model.predict, rows, return_std=True),
            partial(model.predict_interval, rows),
            partial(model.predict_interval, rows, method="plus"),
        ]
        alone, std, interval, plus = medians_in_turn(calls, 5)
        sizes = model.error_bars_.sizes
        case = f"{name}, {n_rows:,} rows, d = {N_INPUTS}, K = {sum(sizes)} in {len(sizes)}"
        yield Figure(case, "times predict: with return_std", std / alone, 3.0)
        yield Figure(case, "times predict: predict_interval", interval / alone, 5.0)
        yield Figure(case, 'times predict: predict_interval, method="plus"', plus / alone)
        yield Figure(case, "seconds of predict", alone)
        yield Figure(case, "largest error of a rounded standard deviation", _rounding(model, rows[:5000]), 0.01)


def _rounding(model: Any, rows: np.ndarray) -> float:
    """The largest relative difference between standard deviations as they come and those in double precision."""
    bars, std = model.error_bars_, model.predict(rows, return_std=True)[1]
    blocks = model.model_.scaling.rows(rows).blocks(1)
    exact = np.concatenate([np.sqrt(bars.at(model.model_, block).variance[:, 0]) for block in blocks])
    return float(np.max(np.abs(std / exact - 1)))


@contextmanager
def without_error_bars() -> Iterator[None]:
    """Fits in this context keep no error bars: no model is narrow enough for them."""
    before = assembly.MOST_COLUMNS
    assembly.MOST_COLUMNS = 0
    try:
        yield
    finally:
        assembly.MOST_COLUMNS = before


def fits(shrink: int) -> Iterator[Figure]:
    """Default fits of few and of more rows, with error bars and without."""
    for n_rows in (300, 2000, 10_000):
        x, y = make_friedman1(max(200, n_rows // shrink), N_INPUTS, noise=1.0, random_state=0)

        def fit(x: np.ndarray = x, y: np.ndarray = y) -> AdaptiveFourierRegressor:
            return AdaptiveFourierRegressor(random_state=0).fit(x, y)

        def fit_without(fit: Any = fit) -> None:
            with without_error_bars():
                if fit().error_bars_ is not None:
                    raise RuntimeError("a fit without error bars has some.")

        seconds, without = medians_in_turn([fit, fit_without], 3)
        case = f"default fit, {len(x):,} rows, d = {N_INPUTS}"
        yield Figure(case, "times the seconds without error bars", seconds / without, 1.1)
        yield Figure(case, "seconds", seconds)


BENCHES = {"error-bars": predictions, "error-bars-fit": fits}
