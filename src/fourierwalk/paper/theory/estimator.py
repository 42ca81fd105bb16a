"""Theorem 2.1: the variance of the Monte Carlo estimator (12), and the bounds (13) and (14)."""

from __future__ import annotations

import math

import numpy as np

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.curves import SURE, Measured, measured
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.theory.gaussians import bound_constant, normal_density
from fourierwalk.paper.verdicts import of_parts
from fourierwalk.solving.least_squares import LeastSquares

SPREAD, REGULARIZATION = 1.5, 0.1
WIDTHS = (2, 4, 8, 16, 32, 128)


def variance(constant: float | None = None) -> Numbers:
    """Measured over predicted variance of α(x, ω) at three x, f = exp(−x²/2), p = N(0, 1.5²), K = 16, 20,000 draws."""
    rng, n_frequencies, n_draws = np.random.default_rng(0), 16, 20_000
    constant = bound_constant(SPREAD) if constant is None else constant
    rows = []
    for x in (0.0, 0.5, 1.5):
        omega = SPREAD * rng.standard_normal((n_draws, n_frequencies))
        weight = np.exp(-(omega**2) / 2) / (math.sqrt(2 * math.pi) * normal_density(omega, SPREAD))
        alpha = np.mean(weight * np.exp(1j * omega * x), axis=1)
        predicted = (constant - math.exp(-(x**2))) / n_frequencies
        rows.append([x, *measured(np.abs(alpha - math.exp(-(x**2) / 2)) ** 2 / predicted)])
    return {"rows": rows}


def _find_variance(numbers: Numbers) -> Finding:
    ratios = {x: Measured(value, error) for x, value, error in numbers["rows"]}
    parts = [abs(each.value - 1) <= max(0.02, SURE * each.error) for each in ratios.values()]
    words = ", ".join(f"{each.text()} at x = {x:g}" for x, each in ratios.items())
    return Finding(of_parts(parts), f"Measured over predicted variance: {words}.", "One f and one p, d = 1.")


def bound(noise: float = 0.0, n_rows: int = 2_000) -> Numbers:
    """The mean of the least loss over 20 draws of frequencies and rows, beside the right-hand side of (13)."""
    rows = []
    for n_frequencies in WIDTHS:
        losses = []
        for seed in range(20):
            rng = np.random.default_rng([seed, n_frequencies])
            x = rng.standard_normal((n_rows, 1))
            y = np.exp(-(x**2) / 2) + noise * rng.standard_normal((n_rows, 1))
            minimize = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION)
            losses.append(float(minimize(SPREAD * rng.standard_normal((n_frequencies, 1))).loss))
        limit = (1 + REGULARIZATION) * bound_constant(SPREAD) / n_frequencies + noise**2
        rows.append([n_frequencies, *measured(losses), limit])
    return {"rows": rows, "noise": noise}


def _find_bound(numbers: Numbers) -> Finding:
    parts = [mean - SURE * error <= limit for _, mean, error, limit in numbers["rows"]]
    words = "; ".join(
        f"K = {width}: {Measured(mean, error).text(4)} ≤ {limit:.4f}"
        if mean <= limit
        else f"K = {width}: {Measured(mean, error).text(4)} > {limit:.4f}"
        for width, mean, error, limit in numbers["rows"]
    )
    noise = f", noise of variance {numbers['noise'] ** 2:g}" if numbers["noise"] else ""
    return Finding(
        of_parts(parts), f"Mean loss and bound: {words}.", f"One f and one p, d = 1, λ = {REGULARIZATION}{noise}."
    )


VARIANCE = Check(
    "The variance of the Monte Carlo estimator is E[|f̂|²/((2π)^d p²) − f²]/K.",
    "Theorem 2.1, (12)",
    variance,
    _find_variance,
)
BOUND = Check(
    "Without noise the mean of the least regularised loss is at most (1 + λ)/K · E[|f̂|²/((2π)^d p²)].",
    "Theorem 2.1, (14)",
    bound,
    _find_bound,
)
NOISY_BOUND = Check(
    "With noise the bound grows by E|y − f|² and by nothing else.",
    "Theorem 2.1, (13)",
    lambda: bound(noise=0.3),
    _find_bound,
)
