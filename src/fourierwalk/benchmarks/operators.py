"""Accuracy and seconds of calculus and of the solver of equations, beside their targets."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, to_host
from fourierwalk.benchmarks.equations import (
    EQUATIONS,
    Equation,
    case_2,
    case_2_gradient,
    ishigami,
    ishigami_indices,
)
from fourierwalk.benchmarks.figures import Figure, medians_in_turn
from fourierwalk.calculus import Uniform
from fourierwalk.comparison.surrogates import SURROGATES
from fourierwalk.estimators import AdaptiveFourierRegressor
from fourierwalk.inputs import on_device
from fourierwalk.operators import Condition, d, identity
from fourierwalk.operators.posed import Posed
from fourierwalk.operators.search import Judge, drawn
from fourierwalk.operators.solver import FIRST_SPREAD, AdaptiveFourierSolver

FIXED_SPREADS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""The five bandwidths of fixed features, for inputs scaled to [−1, 1]."""

FIXED_WIDTH = 512
"""Their number, which is the most that the solver takes."""


class MeasuredProblem(NamedTuple):
    """Figures beside their targets, and what made the picture."""

    figures: list[Figure]
    solver: AdaptiveFourierSolver | None = None


def error_of(values: np.ndarray, truth: np.ndarray) -> float:
    """The relative root mean square error."""
    return float(np.linalg.norm(values - truth) / np.linalg.norm(truth))


def solved(name: str, shrink: int, device: str = "cpu") -> MeasuredProblem:
    """One equation, by the solver and by fixed features at the best of five bandwidths."""
    equation = EQUATIONS[name]
    conditions = [one.take(np.arange(0, len(one.points), shrink)) for one in equation.conditions()]
    start = time.perf_counter()
    solver = AdaptiveFourierSolver(device=device, random_state=0).fit(conditions)
    seconds = time.perf_counter() - start
    points = equation.test_points()
    truth = equation.solution(points)
    error, rms = error_of(solver.predict(points), truth), float(np.sqrt(np.mean(truth**2)))
    figures = [
        Figure(equation.title, "relative error", error, equation.most_error),
        Figure(equation.title, "relative error that the solver expects, at most", solver.error_estimate_ / rms),
        Figure(
            equation.title,
            "relative error of fixed features, best of 5 bandwidths",
            fixed(equation, conditions, device),
        ),
        Figure(equation.title, "seconds", seconds, equation.most_seconds),
        Figure(equation.title, "frequencies", float(solver.n_frequencies_)),
    ]
    return MeasuredProblem(figures, solver)


def fixed(equation: Equation, conditions: list[Condition], device: str = "cpu") -> float:
    """The least error of fixed frequencies N(0, spread²), among five spreads; their λ is chosen like the solver's."""
    posed, rng, points = Posed.of(conditions), np.random.default_rng(0), equation.test_points()
    held = [np.arange(len(one.points)) % 5 == 0 for one in conditions]
    sizes, reference = posed.sizes(FIRST_SPREAD), on_device(np.zeros(1), device)
    seen, unseen = (posed.take([np.flatnonzero(part == is_held) for part in held]) for is_held in (False, True))
    judge = Judge(seen.rows(sizes, reference), unseen.rows(sizes, reference), posed.features)
    scaled, errors = posed.scaling.apply(points), []
    for spread in FIXED_SPREADS:
        found = judge.look("isotropic", spread, drawn("isotropic", spread, FIXED_WIDTH, judge, rng))
        omega, beta = to_host(found.frequencies), to_host(found.amplitudes)
        values = np.real(np.exp(1j * (scaled @ omega.T)) @ beta[:, 0])
        errors.append(error_of(values, equation.solution(points)))
    return min(errors)


def derivatives_observed(shrink: int, device: str = "cpu") -> MeasuredProblem:
    """Case 2's target at 500 points: values alone, and values with derivatives."""
    rng = np.random.default_rng(0)
    x, new = rng.standard_normal((500 // shrink, 5)), rng.standard_normal((10_000, 5))
    truth, slopes = case_2(new), case_2_gradient(x)
    regressor = AdaptiveFourierRegressor(device=device, random_state=0)
    alone = error_of(regressor.fit(x, case_2(x)).predict(new), truth)
    values = Condition(identity(), x, case_2, "values")
    start = time.perf_counter()
    also = [Condition(d(j), x, slopes[:, j], f"derivative {j}") for j in range(5)]
    solver = AdaptiveFourierSolver(device=device, random_state=0).fit([values, *also])
    seconds, both = time.perf_counter() - start, error_of(solver.predict(new), truth)
    title = f"Case 2's target, {len(x)} points"
    figures = [
        Figure(title, "error with derivatives ÷ error of values alone", both / alone, 0.5),
        Figure(title, "relative error with derivatives", both),
        Figure(title, "relative error of values alone (AdaptiveFourierRegressor)", alone),
        Figure(title, "seconds", seconds),
    ]
    return MeasuredProblem(figures, solver)


def sobol_indices(shrink: int, device: str = "cpu") -> MeasuredProblem:
    """Sobol indices from 1,000 rows: of the Ishigami function beside the exact ones, of borehole beside Monte Carlo."""
    rng, figures = np.random.default_rng(0), []
    x = rng.uniform(-np.pi, np.pi, (1000 // shrink, 3))
    found = _indices(x, ishigami(x), Uniform(-np.pi, np.pi), device)
    for name, index, exact in zip(("first-order", "total"), found, ishigami_indices(), strict=True):
        off = float(np.max(np.abs(index - exact)))
        figures.append(Figure("Ishigami, 1,000 rows", f"largest error of a {name} index", off, 0.01))
    borehole, n = SURROGATES["borehole"], 10_000_000 // shrink**4
    low, high = np.array(borehole.ranges).T
    x, y = borehole.draw(1000 // shrink, rng)
    found = _indices(x, y, Uniform(low, high), device)
    sampled = by_monte_carlo(borehole.function, low, high, n, rng)
    for name, index, exact in zip(("first-order", "total"), found, sampled, strict=True):
        off = float(np.max(np.abs(index - exact)))
        figures.append(Figure("borehole, 1,000 rows", f"largest difference of a {name} index", off, 0.01))
        for j, value in enumerate(exact):
            figures.append(Figure(f"borehole, Monte Carlo of {n:,}", f"{name} index of input {j}", float(value)))
    return MeasuredProblem(figures)


def _indices(x: np.ndarray, y: np.ndarray, inputs: Uniform, device: str) -> list[np.ndarray]:
    """First-order and total Sobol indices of a model that is fitted, and integrated, on a device."""
    model = AdaptiveFourierRegressor(random_state=0).fit(on_device(x, device), on_device(y, device)).model_
    return [to_host(index) for index in model.sobol(inputs)]


def by_monte_carlo(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """First-order and total Sobol indices by the pick-freeze estimates of Saltelli and Jansen, of n pairs."""
    d, height = low.size, 100_000
    sums = np.zeros((2, d))
    total = square = 0.0
    center = float(np.mean(function(rng.uniform(low, high, (1000, d)))))  # subtracted, against cancellation
    for start in range(0, n, height):
        one, other = (rng.uniform(low, high, (min(height, n - start), d)) for _ in range(2))
        at_one, at_other = function(one) - center, function(other) - center
        total, square = total + float(np.sum(at_one)), square + float(at_one @ at_one)
        for j in range(d):
            mixed = one.copy()
            mixed[:, j] = other[:, j]
            change = function(mixed) - center - at_one
            sums[:, j] += at_other @ change, change @ change / 2
    variance = square / n - (total / n) ** 2
    return sums[0] / n / variance, sums[1] / n / variance


def gradient_seconds(shrink: int, device: str = "cpu") -> MeasuredProblem:
    """Seconds of `gradient`, in units of those of `predict`."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100_000 // shrink, 10))
    y, there = on_device(np.sin(x[:2000, 0]), device), on_device(x, device)
    fit = AdaptiveFourierRegressor(256, sampler="fixed", initial=1.0, random_state=0).fit(there[:2000], y)
    calls = [lambda: _waited(fit.predict(there)), lambda: _waited(fit.model_.gradient(there))]
    predict, gradient = medians_in_turn(calls, 7)
    title = f"gradient of {len(x):,} rows, d = 10, K = 256"
    figures = [Figure(title, "times that of predict", gradient / predict, 4.0), Figure(title, "seconds", gradient)]
    return MeasuredProblem(figures)


def _waited(values: Array) -> None:
    """Wait for the values, if they are on a GPU."""
    float(values.reshape(-1)[-1])


def _equation(name: str) -> Callable[..., MeasuredProblem]:
    return partial(solved, name)


PROBLEMS: dict[str, Callable[..., MeasuredProblem]] = {
    **{name: _equation(name) for name in EQUATIONS},
    "derivatives": derivatives_observed,
    "sobol": sobol_indices,
    "gradient": gradient_seconds,
}
