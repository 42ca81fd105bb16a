"""The demo's study: four ways to choose frequencies, on the paper's first target and on digits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.paper.baselines import SPREADS, tuned_fixed
from fourierwalk.paper.targets import sine_integral

DEFAULT, PAPER, FIXED, TUNED = "default", "Algorithm 1", "fixed N(0,1)", "fixed, tuned bandwidth"
METHODS = (DEFAULT, PAPER, FIXED, TUNED)
AS_PRINTED = {
    "sampler": "metropolis",
    "features": "complex",
    "standardize": True,
    "regularization": 0.1,
    "step_size": "paper",
    "exponent": "paper",
}


class Sizes(NamedTuple):
    """How much the demo computes."""

    widths: tuple[int, ...] = (16, 32, 64, 128)
    seeds: tuple[int, ...] = (0, 1, 2)
    n_rows: int = 2_000
    spreads: tuple[float, ...] = SPREADS


TOY = Sizes((4, 8), (0, 1), 300, (0.1, 1.0))


class DemoProblem(NamedTuple):
    """Data, an estimator class, and how its error is called and computed."""

    name: str
    estimator: Any
    split: Callable[[int], tuple[Any, Any, Any, Any]]
    label: str
    error: Callable[[Any, Any, Any], float]
    paper: Mapping[str, Any]  # Algorithm 1 with the settings of the paper's case


class Study(NamedTuple):
    """Errors and seconds by method, (seeds, widths), and the widest model of the first seed by method."""

    errors: dict[str, np.ndarray]
    seconds: dict[str, np.ndarray]
    models: dict[str, Any]


def study(problem: DemoProblem, sizes: Sizes, advance: Callable[[], None]) -> Study:
    """Fit every method at every width and seed; each seed has data of its own."""
    widths, seeds = sizes.widths, sizes.seeds
    errors, seconds = ({method: np.empty((len(seeds), len(widths))) for method in METHODS} for _ in range(2))
    models: dict[str, Any] = {}
    for i, seed in enumerate(seeds):
        x, x_test, y, y_test = problem.split(seed)
        for j, width in enumerate(widths):
            for method in METHODS:
                start = time.perf_counter()
                model = fit(method, problem, width, seed, x, y, sizes.spreads)
                seconds[method][i, j] = time.perf_counter() - start
                errors[method][i, j] = problem.error(model, x_test, y_test)
                if i == 0:
                    models[method] = model
                advance()
    return Study(errors, seconds, models)


def fit(
    method: str, problem: DemoProblem, width: int, seed: int, x: Any, y: Any, spreads: Sequence[float] = SPREADS
) -> Any:
    """One of the four ways; `spreads` are those that a tuned bandwidth is chosen from."""
    estimator = problem.estimator(width, random_state=seed)
    if method == TUNED:
        return tuned_fixed(estimator, x, y, spreads, seed).estimator
    chosen = {DEFAULT: {}, PAPER: problem.paper, FIXED: {"sampler": "fixed", "initial": 1.0}}[method]
    return estimator.set_params(**chosen).fit(x, y)


def step_problem(n_rows: int) -> DemoProblem:
    """Case 1 with fewer rows; each seed has rows of its own."""

    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        x = np.random.default_rng([seed, 1]).standard_normal((2 * n_rows, 1))
        y = sine_integral(x, 1e-3)
        return x[:n_rows], x[n_rows:], y[:n_rows], y[n_rows:]

    def error(model: Any, x: Any, y: Any) -> float:
        return float(np.sqrt(np.mean((model.predict(x) - y) ** 2)) / np.std(y))

    label, walk = "Test RMSE / standard deviation of y", {**AS_PRINTED, "n_steps": 1_000, "refit_every": 10}
    return DemoProblem("Case 1: a regularised step", AdaptiveFourierRegressor, split, label, error, walk)


def digits_problem() -> DemoProblem:
    """Scikit-learn's digits; each seed has a split of its own."""
    x, y = load_digits(return_X_y=True)

    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        return tuple(train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y))

    def error(model: Any, x: Any, y: Any) -> float:
        return float(100 * (1 - model.score(x, y)))

    walk = {**AS_PRINTED, "standardize": "auto", "n_steps": 100, "refit_every": 101}
    return DemoProblem("Digits (scikit-learn)", AdaptiveFourierClassifier, split, "% misclassified", error, walk)
