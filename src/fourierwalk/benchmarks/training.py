"""Hard jobs for the default training: irrelevant inputs, pure noise, the time after the data, text, many rows."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from threadpoolctl import threadpool_limits

from fourierwalk.benchmarks.figures import Figure
from fourierwalk.benchmarks.memory import peak_bytes
from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.training.policy import DEFAULT

N_SEEDS = 3
N_YEARS, A_YEAR = 4, 365
BEYOND = "largest distance of a prediction from the range of the targets, over that range"
N_WORDS, N_TELLING, WORDS_A_TEXT = 20_000, 500, 120
CONTRASTS = (2.0, 1.0)  # the spread of the logarithm by which a telling word is more frequent in one class


def irrelevant(shrink: int) -> Iterator[Figure]:
    """Friedman's first function of five inputs, with 35 more that do not matter, beside the same without them."""
    n_rows, errors = 5000 // shrink, {5: [], 40: []}  # type: ignore[var-annotated]
    for seed in range(N_SEEDS):
        for d, found in errors.items():
            found.append(_friedman_error(n_rows, d, seed))
    case = f"friedman1, {n_rows:,} rows, noise 1, 35 irrelevant inputs, {N_SEEDS} seeds"
    yield Figure(
        case, "RMSE to the truth, times that without them", float(np.mean(errors[40]) / np.mean(errors[5])), 1.3
    )
    yield Figure(case, "largest ratio of a seed", float(np.max(np.divide(errors[40], errors[5]))))


def friedman(shrink: int) -> Iterator[Figure]:
    """Friedman's first function with many rows, on one thread."""
    n_rows, case = 20_000 // shrink, f"friedman1, {20_000 // shrink:,} rows, noise 1, one thread"
    with threadpool_limits(1):
        start = time.perf_counter()
        error = _friedman_error(n_rows, 10, 0)
        seconds = time.perf_counter() - start
    yield Figure(case, "RMSE to the truth", error, 0.12)
    yield Figure(case, "seconds", seconds, 15.0)


def _friedman_error(n_rows: int, d: int, seed: int) -> float:
    x, y = make_friedman1(n_rows, d, noise=1.0, random_state=seed)
    x_new, truth = make_friedman1(4000, d, noise=0.0, random_state=1000 + seed)
    return _distance(AdaptiveFourierRegressor(random_state=seed).fit(x, y).predict(x_new), truth)


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def together(shrink: int) -> Iterator[Figure]:
    """Two of 32 inputs act only together: next to nothing shows in each of them alone."""
    yield from _hidden("x₁ cos(2.2 x₂) among 32 inputs", 32, lambda x: x[:, 3] * np.cos(2.2 * x[:, 7]), 7500 // shrink)


def detail(shrink: int) -> Iterator[Figure]:
    """Fine detail beside a smooth trend, and a product that a stronger term masks."""
    n_rows = 3500 // shrink
    yield from _hidden("sin(5 x₁) + x₂ among 5 inputs", 5, lambda x: np.sin(5 * x[:, 0]) + x[:, 1], n_rows)
    yield from _hidden(
        "sin(3 x₁) x₂ + x₃² among 6 inputs", 6, lambda x: np.sin(3 * x[:, 0]) * x[:, 1] + x[:, 2] ** 2, n_rows
    )


def _hidden(name: str, d: int, target: Callable[[np.ndarray], np.ndarray], n_rows: int) -> Iterator[Figure]:
    """Inputs that are hard to find; the noise has 0.3 of the spread of the targets."""
    errors = []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        x, x_new = (rng.uniform(-1.7, 1.7, (n, d)) for n in (n_rows, 4000))
        y, truth = target(x), target(x_new)
        noisy = y / np.std(truth) + 0.3 * rng.standard_normal(n_rows)
        errors.append(_distance(_fitted(x, noisy, seed).predict(x_new), truth / np.std(truth)))
    case = f"{name}, {n_rows:,} rows, noise 0.3, {N_SEEDS} seeds"
    yield Figure(case, "RMSE to the truth, over its spread", float(np.mean(errors)))
    yield Figure(case, "largest of a seed", float(np.max(errors)))


def noise(shrink: int) -> Iterator[Figure]:
    """Targets that no input predicts."""
    n_rows, rng = 45_000 // shrink, np.random.default_rng(0)
    x, y = rng.standard_normal((n_rows, 10)), rng.standard_normal(n_rows)
    start = time.perf_counter()
    model = _fitted(x, y, 0)
    case = f"pure noise, {n_rows:,} rows, d = 10"
    yield Figure(case, "seconds", time.perf_counter() - start, 60.0)
    yield Figure(case, "range of the predictions", float(np.ptp(model.predict(x))), 0.0)


def _fitted(x: Any, y: np.ndarray, seed: int, estimator: Any = AdaptiveFourierRegressor) -> Any:
    """A default fit; with little data or much noise it may warn that the model is constant."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Nothing was found")
        return estimator(random_state=seed).fit(x, y)


def after_the_data(shrink: int) -> Iterator[Figure]:
    """The next year of a trend with a season, and 24 splits of a time series."""
    n_seeds = max(1, 20 // shrink)
    beyond = [_beyond(*_series(seed), slice(0, N_YEARS * A_YEAR), seed) for seed in range(n_seeds)]
    yield Figure(f"next year of a trend, {n_seeds} seeds", BEYOND, max(beyond), DEFAULT.margin)
    n_splits, (days, y) = max(2, 24 // shrink), _series(0)
    parts = TimeSeriesSplit(n_splits, test_size=30).split(days)
    beyond = [_beyond(days[: test[-1] + 1], y[: test[-1] + 1], seen, 0) for seen, test in parts]
    yield Figure(f"{n_splits} splits of a time series", BEYOND, max(beyond), DEFAULT.margin)


def _series(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Days, and a trend with a season and noise."""
    days, rng = np.arange((N_YEARS + 1) * A_YEAR, dtype=np.float64), np.random.default_rng(seed)
    return days[:, None], days / A_YEAR + 2 * np.sin(2 * np.pi * days / A_YEAR) + 0.3 * rng.standard_normal(days.size)


def _beyond(days: np.ndarray, y: np.ndarray, seen: Any, seed: int) -> float:
    """How far predictions for all days leave the range of the targets seen, over that range."""
    predicted, low, high = _fitted(days[seen], y[seen], seed).predict(days), np.min(y[seen]), np.max(y[seen])
    share = max(np.max(predicted) - high, low - np.min(predicted)) / (high - low)
    return round(float(share), 9)  # a prediction at the limit is rounded


def texts(n_rows: int, seed: int = 0, contrast: float = CONTRASTS[0]) -> tuple[Any, np.ndarray]:
    """Counts of words in texts of two classes; some words are more frequent, or rarer, in one of them."""
    rng = np.random.default_rng(seed)
    telling = np.random.default_rng(7).permutation(N_WORDS)[:N_TELLING]
    logits = np.zeros((2, N_WORDS)) - np.log(np.arange(N_WORDS) + 10.0)
    logits[1, telling] += contrast * np.random.default_rng(8).standard_normal(N_TELLING)
    labels = rng.integers(0, 2, n_rows)
    cumulative = np.cumsum(np.exp(logits), axis=1)
    cumulative /= cumulative[:, -1:]
    words = [np.searchsorted(cumulative[label], rng.random(WORDS_A_TEXT)) for label in labels]
    rows, ones = np.repeat(np.arange(n_rows), WORDS_A_TEXT), np.ones(n_rows * WORDS_A_TEXT)
    return scipy.sparse.csr_array((ones, (rows, np.concatenate(words))), shape=(n_rows, N_WORDS)), labels


def text(shrink: int) -> Iterator[Figure]:
    """Sparse counts of 20,000 words, beside a tuned linear model; classes that differ clearly, and hardly."""
    n_rows = 2000 // shrink
    linear = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=2000))
    for contrast in CONTRASTS:
        (x, y), (x_new, y_new) = texts(n_rows, 0, contrast), texts(2000, 1, contrast)
        tuned = GridSearchCV(linear, {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]}, cv=3).fit(x, y)
        start = time.perf_counter()
        model = _fitted(x, y, 0, AdaptiveFourierClassifier)
        seconds, ours, theirs = time.perf_counter() - start, model.score(x_new, y_new), tuned.score(x_new, y_new)
        case = f"text, {n_rows:,} × {N_WORDS:,} sparse, contrast {contrast:g}"
        yield Figure(case, "% right less that of a linear model", 100 * (ours - theirs), -1.0, False)
        yield Figure(case, "% right", 100 * ours)
        yield Figure(case, "seconds", seconds, 60.0)
    yield Figure(f"text, {n_rows:,} × {N_WORDS:,} sparse", "MB of anonymous memory", _megabytes("text", n_rows), 1000.0)


def large(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten inputs, of which five matter."""
    return make_friedman1(n_rows, 10, noise=1.0, random_state=0)


def many_rows(shrink: int) -> Iterator[Figure]:
    """A default fit of 200,000 rows on two threads."""
    n_rows = 200_000 // shrink
    with threadpool_limits(2):
        start = time.perf_counter()
        AdaptiveFourierRegressor(random_state=0).fit(*large(n_rows))
        seconds = time.perf_counter() - start
    case = f"default fit, {n_rows:,} rows, d = 10, two threads"
    yield Figure(case, "seconds", seconds, 180.0)
    yield Figure(case, "MB of anonymous memory", _megabytes("many-rows", n_rows), 1500.0)


MEASURED: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "text": (AdaptiveFourierClassifier, texts),
    "many-rows": (AdaptiveFourierRegressor, large),
}
"""The fits whose memory is measured, in a process of their own."""


def _megabytes(name: str, n_rows: int) -> float:
    return peak_bytes("fourierwalk.benchmarks.training", name, str(n_rows)) / 1e6


BENCHES = {
    "irrelevant": irrelevant,
    "friedman": friedman,
    "together": together,
    "detail": detail,
    "noise": noise,
    "after-the-data": after_the_data,
    "text": text,
    "many-rows": many_rows,
}

if __name__ == "__main__":
    estimator, data = MEASURED[sys.argv[1]]
    estimator(random_state=0).fit(*data(int(sys.argv[2])))
