"""``fourierwalk demo``: adaptive against fixed frequencies, on the paper's first target and on real digits."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from fourierwalk.estimators import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.paper.baselines import SPREADS, tuned_fixed
from fourierwalk.paper.targets import sine_integral, transform_modulus
from fourierwalk.reporting import plots
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe, provenance

WIDTHS = (16, 32, 64, 128)
SEEDS = (0, 1, 2)
METHODS = ("adaptive", "fixed N(0,1)", "fixed, tuned bandwidth")


class Problem(NamedTuple):
    """Data, an estimator class, and how its error is called and computed."""

    name: str
    estimator: Any
    split: Callable[[int], tuple[Any, Any, Any, Any]]
    label: str
    error: Callable[[Any, Any, Any], float]


class Study(NamedTuple):
    """Errors by method, (seeds, widths), and the widest model of the first seed by method."""

    errors: dict[str, np.ndarray]
    models: dict[str, Any]


def register(verbs: Any) -> None:
    """Add the verb and its options."""
    parser = verbs.add_parser("demo", help="fit, compare with fixed frequencies, write a page with figures")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the page (default: demo)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fit everything, print the tables, write the page."""
    console, start = Console(), time.perf_counter()
    plots.new_figure()  # a missing extra is named before the work, not after
    problems = (_step_problem(), _digits_problem())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    studies = []
    with Progress(*columns, console=console) as progress, threadpool_limits(1):
        for problem in problems:
            task = progress.add_task(problem.name, total=len(WIDTHS) * len(SEEDS) * len(METHODS))
            studies.append(study(problem, WIDTHS, SEEDS, lambda task=task: progress.advance(task)))  # type: ignore[misc]
    for problem, result in zip(problems, studies, strict=True):
        console.print(_table(problem, result))
    seconds = time.perf_counter() - start
    path = _page(problems, studies, seconds).write(options.out / "index.html")
    console.print(f"{seconds:.0f} s. The page with figures: {path}")
    return 0


def study(problem: Problem, widths: Sequence[int], seeds: Sequence[int], advance: Callable[[], None]) -> Study:
    """Fit every method at every width and seed; each seed has data of its own."""
    errors = {method: np.empty((len(seeds), len(widths))) for method in METHODS}
    models: dict[str, Any] = {}
    for i, seed in enumerate(seeds):
        x, x_test, y, y_test = problem.split(seed)
        for j, width in enumerate(widths):
            for method in METHODS:
                model = fit(method, problem.estimator(width, random_state=seed), x, y, seed)
                errors[method][i, j] = problem.error(model, x_test, y_test)
                if i == 0:
                    models[method] = model
                advance()
    return Study(errors, models)


def fit(method: str, estimator: Any, x: Any, y: Any, seed: int) -> Any:
    """One of the three ways."""
    if method == "adaptive":
        return estimator.fit(x, y)
    if method == "fixed N(0,1)":
        return estimator.set_params(sampler="fixed", initial=1.0).fit(x, y)
    return tuned_fixed(estimator, x, y, SPREADS, seed).estimator


def _step_problem() -> Problem:
    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        x = np.random.default_rng([seed, 1]).standard_normal((4000, 1))
        y = sine_integral(x, 1e-3)
        return x[:2000], x[2000:], y[:2000], y[2000:]

    def error(model: Any, x: Any, y: Any) -> float:
        return float(np.sqrt(np.mean((model.predict(x) - y) ** 2)) / np.std(y))

    return Problem("Case 1: a regularised step", AdaptiveFourierRegressor, split, "test RMSE / spread of y", error)


def _digits_problem() -> Problem:
    x, y = load_digits(return_X_y=True)

    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        return tuple(train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y))

    def error(model: Any, x: Any, y: Any) -> float:
        return float(100 * (1 - model.score(x, y)))

    return Problem("Digits (scikit-learn)", AdaptiveFourierClassifier, split, "% misclassified", error)


def _cells(values: np.ndarray) -> list[str]:
    return [f"{m:.3g} ± {s:.2g}" for m, s in zip(values.mean(axis=0), values.std(axis=0, ddof=1), strict=True)]


def _table(problem: Problem, result: Study) -> Table:
    table = Table(title=f"{problem.name}: {problem.label}, mean ± standard deviation of {len(SEEDS)} seeds")
    table.add_column("method")
    for width in WIDTHS:
        table.add_column(f"K = {width}", justify="right")
    for method, values in result.errors.items():
        table.add_row(method, *_cells(values))
    return table


def _page(problems: Sequence[Problem], studies: Sequence[Study], seconds: float) -> Page:
    origin = provenance("fourierwalk demo")
    page = Page("fourierwalk: frequencies that walk")
    page.text(
        "Three ways to choose the K frequencies of f(x) = Σ βₖ exp(iωₖ·x): adaptive (the default settings), "
        "drawn once from N(0, 1), and drawn once from N(0, σ²) with σ chosen on held-out training rows. The ridge λ is "
        "chosen on training rows in all three. Errors are on test rows that nothing was chosen by."
    )
    for problem, result in zip(problems, studies, strict=True):
        page.heading(problem.name)
        header = ["method", *(f"K = {width}" for width in WIDTHS)]
        page.table(header, [[method, *_cells(values)] for method, values in result.errors.items()])
        caption = f"{problem.label} over K: mean of {len(SEEDS)} seeds, bars of ± 2 standard deviations."
        page.figure(plots.error_figure(WIDTHS, result.errors, problem.label), caption)
        if problem is problems[0]:
            _step_figures(page, problem, result)
    page.heading("Where this comes from")
    page.text(f"fourierwalk demo, seeds {SEEDS}, {seconds:.0f} s, commit {origin['commit']}.", "note")
    page.text(describe(origin), "note")
    return page


def _step_figures(page: Page, problem: Problem, result: Study) -> None:
    _, x, _, y = problem.split(SEEDS[0])
    adaptive, fixed = (result.models[method] for method in METHODS[:2])
    curves = {f"{name}, K = {WIDTHS[-1]}": result.models[name].predict(x) for name in METHODS[:2]}
    page.figure(
        plots.fit_figure(x[:, 0], y, curves, (-0.05, 0.05)), "Target and fits on test rows; right: the step itself."
    )
    omega, modulus = transform_modulus(lambda points: sine_integral(points, 1e-3), 20_000)
    frequencies = np.abs(adaptive.model_.spectrum()[0][:, 0])
    page.figure(
        plots.frequency_figure(frequencies, omega, modulus),
        "The walk's frequencies against |f̂|, which the optimal density follows (Theorem 2.2).",
    )
    amplitudes = {"adaptive": adaptive.amplitudes_, "fixed N(0,1)": fixed.amplitudes_}
    page.figure(
        plots.amplitude_figure(amplitudes), "Amplitudes in descending order, over their mean: flat is equidistributed."
    )
