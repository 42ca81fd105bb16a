"""Theorem 2.2, the optimal density, and Remark 3.2, the density that the walk samples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize as minimised

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.curves import Measured, measured
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.theory.gaussians import GaussianProblem, normal_density
from fourierwalk.paper.verdicts import Verdict, of_parts
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis, Minimize
from fourierwalk.solving.least_squares import LeastSquares

GRID = np.linspace(-8, 8, 401)
STARTS = (1.0, 2.0, 4.0)


def _transform(omega: np.ndarray) -> np.ndarray:
    return np.exp(-np.abs(omega)) * (1 + 0.5 * np.cos(3 * omega))


def optimum(claimed: Callable[[np.ndarray], np.ndarray] = _transform) -> Numbers:
    """∫|f̂|²/p minimised over densities p on a grid, from three Gaussians that know nothing of f̂.

    If a claimed density were not the minimiser, the search would find another density with a smaller constant.
    """
    transform, cell = _transform(GRID), GRID[1] - GRID[0]

    def constant(logits: np.ndarray) -> tuple[float, np.ndarray]:
        weight = np.exp(logits - logits.max())
        p = weight / weight.sum() / cell
        ratio = transform**2 / p * cell
        return float(ratio.sum()), -ratio + p * cell * float(ratio.sum())

    density = claimed(GRID) / np.sum(claimed(GRID)) / cell
    rows = []
    for spread in STARTS:
        start = np.log(normal_density(GRID, spread) + 1e-12)
        found = minimised(constant, start, jac=True, method="L-BFGS-B", options={"maxiter": 5_000, "maxfun": 20_000})
        weight = np.exp(found.x - found.x.max())
        distance = 0.5 * float(np.sum(np.abs(weight / weight.sum() - density * cell)))
        rows.append([spread, float(constant(start)[0]), float(found.fun), distance])
    return {"rows": rows, "claimed": float(np.sum(transform**2 / density * cell))}


def _find_optimum(numbers: Numbers) -> Finding:
    claimed = numbers["claimed"]
    parts = [distance < 0.01 and abs(least / claimed - 1) < 1e-3 for _, _, least, distance in numbers["rows"]]
    words = "; ".join(
        f"from N(0,{spread:g}²), whose constant is {first:.3g}, to {least:.4f} at a distance of {distance:.1g} from p*"
        for spread, first, least, distance in numbers["rows"]
    )
    return Finding(
        of_parts(parts),
        f"A search over densities leads {words}; p* itself has {claimed:.4f}.",
        "One f̂ in d = 1, on a grid of 401 points; the distance is that of total variation.",
    )


def sampled() -> Numbers:
    """The variance of the walk's frequencies for f̂ = N(0,1), by γ, without noise; and at γ = 1 with 400 rows.

    Steps 200 to 600 of eight walks of K = 64, with rows 100 to 350 of four walks of K = 32.
    """
    exact = GaussianProblem(1.0, regularization=1e-2)
    rows = [[gamma, *_variance(exact, gamma, (8, 64, 1), 200, 600), 1 + 1 / gamma] for gamma in (1.0, 2.0, 4.0, 10.0)]
    x = 2.0 * np.random.default_rng(0).standard_normal((4, 400, 1))
    minimize = LeastSquares(Rows(x, np.exp(-(x**2) / 2)), ComplexExponentials(), 1e-2)
    return {"rows": rows, "with_rows": list(_variance(minimize, 1.0, (4, 32, 1), 100, 350))}


def _variance(minimize: Minimize, gamma: float, shape: tuple[int, ...], first: int, last: int) -> Measured:
    rng, walk = np.random.default_rng(int(gamma)), Metropolis(RandomWalk(0.5), gamma, refit_every=1)
    states = walk.sample(minimize, walk.init(minimize, rng.standard_normal(shape)), rng, last)
    kept = [np.var(state.frequencies, axis=(1, 2)) for state, info in states if info.step > first]
    return measured(np.mean(kept, axis=0))


def _find_sampled(numbers: Numbers) -> Finding:
    rows, noisy = numbers["rows"], Measured(*numbers["with_rows"])
    near = [abs(value / law - 1) <= 0.15 for _, value, _, law in rows]
    words = "; ".join(f"γ = {g:g}: {Measured(value, error).text(2)} (law: {law:.2f})" for g, value, error, law in rows)
    falls = all(first[1] > second[1] for first, second in pairwise(rows))
    wander = " Noise lets frequencies wander." if noisy.value > 1.5 * rows[0][1] else ""
    return Finding(
        of_parts(near) if falls else Verdict.FAILS,
        f"Variance of the frequencies, for f̂ = N(0,1): {words}.",
        "The law is judged within 15 %. K = 64, λ = 0.01, exact expectations instead of rows; with 400 rows the "
        f"variance is {noisy.text(1)} at γ = 1.{wander}",
    )


OPTIMUM = Check(
    "p* = |f̂|/‖f̂‖₁ minimises the constant of the bound.", "Theorem 2.2, (16) and (17)", optimum, _find_optimum
)
SAMPLED = Check(
    "The walk's frequencies have a density ∝ |f̂|^(γ/(γ+1)), which approaches p* as γ → ∞.",
    "Remark 3.2",
    sampled,
    _find_sampled,
)
