"""``fourierwalk demo``: the default, Algorithm 1 and fixed frequencies, on the paper's first target and on digits."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
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
from fourierwalk.paper.cases import CASES, Cell
from fourierwalk.paper.film import film
from fourierwalk.paper.targets import sine_integral, transform_modulus
from fourierwalk.reporting import plots
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.provenance import describe, provenance
from fourierwalk.reporting.scatter import with_scatter

WIDTHS = (16, 32, 64, 128)
SEEDS = (0, 1, 2)
DEFAULT, PAPER, FIXED, TUNED = "default", "Algorithm 1", "fixed N(0,1)", "fixed, tuned bandwidth"
METHODS = (DEFAULT, PAPER, FIXED, TUNED)
N_ROWS = 2_000
AS_PRINTED = {
    "sampler": "metropolis",
    "features": "complex",
    "standardize": True,
    "regularization": 0.1,
    "step_size": "paper",
    "exponent": "paper",
}


class Problem(NamedTuple):
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


def register(verbs: Any) -> None:
    """Add the verb and its options."""
    parser = verbs.add_parser("demo", help="fit, compare with fixed frequencies, write a page with figures and a film")
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
    path = _page(problems, studies, start).write(options.out / "index.html")
    console.print(f"{time.perf_counter() - start:.0f} s. The page with figures and a film: {path}")
    return 0


def study(problem: Problem, widths: Sequence[int], seeds: Sequence[int], advance: Callable[[], None]) -> Study:
    """Fit every method at every width and seed; each seed has data of its own."""
    errors, seconds = ({method: np.empty((len(seeds), len(widths))) for method in METHODS} for _ in range(2))
    models: dict[str, Any] = {}
    for i, seed in enumerate(seeds):
        x, x_test, y, y_test = problem.split(seed)
        for j, width in enumerate(widths):
            for method in METHODS:
                start = time.perf_counter()
                model = fit(method, problem, width, seed, x, y)
                seconds[method][i, j] = time.perf_counter() - start
                errors[method][i, j] = problem.error(model, x_test, y_test)
                if i == 0:
                    models[method] = model
                advance()
    return Study(errors, seconds, models)


def fit(method: str, problem: Problem, width: int, seed: int, x: Any, y: Any) -> Any:
    """One of the four ways."""
    estimator = problem.estimator(width, random_state=seed)
    if method == TUNED:
        return tuned_fixed(estimator, x, y, SPREADS, seed).estimator
    chosen = {DEFAULT: {}, PAPER: problem.paper, FIXED: {"sampler": "fixed", "initial": 1.0}}[method]
    return estimator.set_params(**chosen).fit(x, y)


def _step_problem() -> Problem:
    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        x = np.random.default_rng([seed, 1]).standard_normal((2 * N_ROWS, 1))
        y = sine_integral(x, 1e-3)
        return x[:N_ROWS], x[N_ROWS:], y[:N_ROWS], y[N_ROWS:]

    def error(model: Any, x: Any, y: Any) -> float:
        return float(np.sqrt(np.mean((model.predict(x) - y) ** 2)) / np.std(y))

    label, walk = "Test RMSE / standard deviation of y", {**AS_PRINTED, "n_steps": 1_000, "refit_every": 10}
    return Problem("Case 1: a regularised step", AdaptiveFourierRegressor, split, label, error, walk)


def _digits_problem() -> Problem:
    x, y = load_digits(return_X_y=True)

    def split(seed: int) -> tuple[Any, Any, Any, Any]:
        return tuple(train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y))

    def error(model: Any, x: Any, y: Any) -> float:
        return float(100 * (1 - model.score(x, y)))

    walk = {**AS_PRINTED, "standardize": "auto", "n_steps": 100, "refit_every": 101}
    return Problem("Digits (scikit-learn)", AdaptiveFourierClassifier, split, "% misclassified", error, walk)


def _cells(values: np.ndarray) -> list[str]:
    return [with_scatter(*each) for each in zip(values.mean(axis=0), values.std(axis=0, ddof=1), strict=True)]


def _table(problem: Problem, result: Study) -> Table:
    table = Table(title=f"{problem.name}: {problem.label}, mean ± standard deviation of {len(SEEDS)} seeds")
    table.add_column("method")
    for width in WIDTHS:
        table.add_column(f"K = {width}", justify="right")
    for method, values in result.errors.items():
        table.add_row(method, *_cells(values))
    return table


def _page(problems: Sequence[Problem], studies: Sequence[Study], start: float) -> Page:
    origin = provenance("fourierwalk demo")
    page = Page("fourierwalk: frequencies that walk")
    page.text(
        f"Four ways to choose the K frequencies of f(x) = Σ βₖ exp(iωₖ·x), each with {len(SEEDS)} seeds that have data "
        "of their own. Errors are on test rows that nothing was chosen by."
    )
    page.table("What is run", ["method", "sampler", "how frequencies and λ are found"], _explained())
    for problem, result in zip(problems, studies, strict=True):
        _section(page, problem, result, origin["commit"])
        if problem is problems[0]:
            _step_figures(page, problem, result)
            _film(page, origin["commit"])
    page.heading("Where this comes from")
    seconds = time.perf_counter() - start
    page.text(f"fourierwalk demo, seeds {_listed(SEEDS)}, {seconds:.0f} s, commit {origin['commit']}.", "note")
    page.text(describe(origin), "note")
    return page


def _explained() -> list[list[str]]:
    return [
        [DEFAULT, '"auto"', "By default settings: starts are explored, frequencies descend, held-out rows choose; λ too"],
        [PAPER, '"metropolis"', "The paper's Metropolis walk from ω = 0, as printed; λ = 0.1, nothing is tuned"],
        [FIXED, '"fixed"', "Drawn once; λ chosen on training rows"],
        [TUNED, '"fixed"', f"Drawn once from N(0, σ²); σ of {len(SPREADS)} and λ chosen on training rows"],
    ]


def _section(page: Page, problem: Problem, result: Study, commit: str | None) -> None:
    x, x_test, _, _ = problem.split(SEEDS[0])
    page.heading(problem.name)
    page.text(
        f"N = {x.shape[0]:,} training rows, {x_test.shape[0]:,} test rows, d = {x.shape[1]}. Algorithm 1 takes "
        f"M = {problem.paper['n_steps']:,} steps, γ = 3d − 2 = {3 * x.shape[1] - 2}, δ = 2.4²/d and λ = 0.1."
    )
    scatter = f"mean ± standard deviation of {len(SEEDS)} seeds"
    columns = ["method", *(f"K = {width}" for width in WIDTHS)]
    rows = [[method, *_cells(values)] for method, values in result.errors.items()]
    page.table(f"{problem.label}, {scatter}", columns, rows)
    page.table(f"Seconds to fit, {scatter}", columns, [[name, *_cells(each)] for name, each in result.seconds.items()])
    page.figure(
        plots.error_figure(WIDTHS, result.errors, problem.label, _words(result, commit)),
        f"{problem.label} over K, mean of {len(SEEDS)} seeds. Bars of ± 2 standard deviations; an open triangle ends a "
        "bar that goes further down than a logarithmic axis shows. Point at a mark to see its cells.",
    )
    told = "; ".join(result.models[DEFAULT].history_.decisions)
    page.text(f"What the default decided at K = {WIDTHS[-1]}, seed {SEEDS[0]}: {told}.", "note")


def _words(result: Study, commit: str | None) -> dict[str, list[str]]:
    """What the points of the error's curves tell."""
    return {
        method: [
            "\n".join(
                [
                    f"{method}, K = {width}",
                    *(
                        f"seed {seed}: {errors[i, j]:.3g} in {result.seconds[method][i, j]:.2g} s"
                        for i, seed in enumerate(SEEDS)
                    ),
                    f"commit {commit}",
                ]
            )
            for j, width in enumerate(WIDTHS)
        ]
        for method, errors in result.errors.items()
    }


def _step_figures(page: Page, problem: Problem, result: Study) -> None:
    _, x, _, y = problem.split(SEEDS[0])
    shown = {name: result.models[name] for name in (DEFAULT, PAPER, FIXED)}
    curves = {name: model.predict(x) for name, model in shown.items()}
    near = np.abs(x[:, 0]) < 0.1
    close = {name: values[near] for name, values in curves.items()}
    whose = f"K = {WIDTHS[-1]}, seed {SEEDS[0]}"
    page.figure(
        [plots.fit_figure(x[:, 0], y, curves), plots.fit_figure(x[near, 0], y[near], close)],
        f"Target and fits on test rows, {whose}; the second panel is the step itself.",
    )
    omega, modulus = transform_modulus(lambda points: sine_integral(points, 1e-3), 20_000)
    page.figure(
        [
            plots.frequency_figure(np.abs(shown[name].model_.spectrum()[0][:, 0]), omega, modulus, name)
            for name in (DEFAULT, PAPER)
        ],
        f"Frequencies of the default and of Algorithm 1, {whose}, against |f̂|, which Theorem 2.2 calls optimal.",
    )
    page.figure(
        plots.amplitude_figure({name: model.amplitudes_ for name, model in shown.items()}),
        f"Amplitudes over their mean, the largest first, {whose}. Equal amplitudes would lie on the dashed line.",
    )


def _film(page: Page, commit: str | None) -> None:
    """Algorithm 1 on as many rows as the study's, as a film."""
    case = replace(CASES["case1"], n_rows=N_ROWS, n_test=N_ROWS)
    start = time.perf_counter()
    shown = film(Cell(case, case.experiments[0], WIDTHS[-1], SEEDS[0]))
    about = f"seed {SEEDS[0]}, commit {commit}, {time.perf_counter() - start:.2g} s with all frames"
    page.heading("The walk, step by step")
    page.text(
        f"Algorithm 1 on {N_ROWS:,} rows of Case 1: all frequencies start at 0. Each frame shows what it would return "
        "if it stopped there. Inputs and targets are normalised."
    )
    page.fragment(replace(shown, about=about).html())


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
