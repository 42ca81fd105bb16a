"""Section 2.2: two Gaussians for which N(0,1) is a bad choice of frequencies."""

from __future__ import annotations

import math

import numpy as np

from fourierwalk.paper.curves import Curve, compared, exponent, measured, widths_in_words
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.theory.gaussians import GaussianProblem
from fourierwalk.paper.verdicts import Verdict, of_parts
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis

SIGMA, WIDTHS, N_SEEDS, REGULARIZATION = 2.0, (8, 16, 32, 64, 128), 10, 1e-3


def errors_of(n_steps: int) -> list[list[float]]:
    """(K, mean, standard error) of the error for σ = 2, d = 1, x ~ N(0,1), after so many steps; none: fixed N(0,1)."""
    return [[width, *measured(_errors(width, n_steps))] for width in WIDTHS]


def _errors(width: int, n_steps: int) -> np.ndarray:
    """Root mean square errors, as a share of that of f itself, of realisations that are one stack of problems."""
    rng, minimize = np.random.default_rng([width, 1]), GaussianProblem(SIGMA, SIGMA, REGULARIZATION)
    omega = rng.standard_normal((N_SEEDS, width, 1))
    if n_steps:
        walk = Metropolis(RandomWalk(2.4**2), exponent=1.0, refit_every=10)  # d = 1: γ = 3d − 2 = 1
        *_, (state, _) = walk.sample(minimize, walk.init(minimize, 0 * omega), rng, n_steps)
        omega = state.frequencies
    solution = minimize(omega)
    ridge = REGULARIZATION * np.sum(np.abs(solution.amplitudes) ** 2, axis=(1, 2))
    return np.sqrt(np.clip(solution.loss - ridge, 0, None))


def _curve(rows: list[list[float]]) -> Curve:
    widths, mean, error = np.array(rows).T
    return Curve(widths.astype(int), mean, error * math.sqrt(N_SEEDS), np.full(len(rows), N_SEEDS))


def infinite_bound() -> Numbers:
    """∫|f̂|²/p over growing balls, and what least squares does all the same."""
    truncated = []
    for radius in (4, 8, 16):
        grid = np.linspace(-radius, radius, 100_001)
        integrand = np.exp(-(grid**2) / SIGMA**2 + grid**2 / 2) * math.sqrt(2 * math.pi) / SIGMA**2
        truncated.append([radius, float(np.trapezoid(integrand, grid))])
    return {"truncated": truncated, "fixed": errors_of(0)}


def _find_infinite_bound(numbers: Numbers) -> Finding:
    sizes = [value for _, value in numbers["truncated"]]
    line = _curve(numbers["fixed"])
    infinite, falls = sizes[2] > 1e3 * sizes[1] > 1e3 * sizes[0], line.measured(128).minus(line.measured(8)).sign == -1
    words = ", ".join(f"{value:.3g}" for value in sizes)
    errors = ", ".join(line.measured(width).text() for width in WIDTHS)
    return Finding(
        (Verdict.PARTLY if falls else Verdict.HOLDS) if infinite else Verdict.FAILS,
        f"∫|f̂|²/p over |ω| < 4, 8, 16 is {words}; the error of least squares at K = "
        f"{', '.join(map(str, WIDTHS))} is {errors}.",
        "True of the estimate alone: the error itself converges, slowly." if falls else "",
    )


def walk_converges(n_steps: int = 300) -> Numbers:
    """The walk's errors beside those of fixed N(0,1) frequencies."""
    return {"walk": errors_of(n_steps), "fixed": errors_of(0)}


def _find_walk_converges(numbers: Numbers) -> Finding:
    walk, fixed = _curve(numbers["walk"]), _curve(numbers["fixed"])
    ours, theirs = exponent(walk, 2), exponent(fixed, 2)
    differences = compared(walk, fixed)
    behind = [width for width, each in differences.items() if each.sign == 1]
    fast, ahead = ours.value <= -0.5 + 2 * ours.error, differences[WIDTHS[-1]].sign == -1
    parts = [fast, ahead, ours.minus(theirs).sign == -1]
    pairs = "; ".join(
        f"K = {width}: {walk.measured(width).text(4)} against {fixed.measured(width).text(4)}" for width in WIDTHS
    )
    return Finding(
        of_parts(parts),
        f"Algorithm 1 against fixed N(0,1): {pairs}; the exponents of K are {ours.text(2)} and {theirs.text(2)}.",
        "“Optimal” is read as: at least the K^(−1/2) of (14), faster than fixed frequencies, and below them at the "
        f"largest K. It is above them at {widths_in_words(behind, WIDTHS)}. σ = 2, d = 1, λ = 0.001, M = 300, N = ∞.",
    )


def small_sigma() -> Numbers:
    """How the constant under N(0,1) grows when σ is halved, in d = 1, 2, 3; in closed form."""
    rows = []
    for d in (1, 2, 3):
        constants = []
        for sigma in (0.1, 0.05):
            # ∫|f̂|²/p factorises: each dimension gives σ^(−2) √(2π) ∫exp(−ω²/σ² + ω²/2) dω.
            one = math.sqrt(2 * math.pi) * math.sqrt(math.pi / (1 / sigma**2 - 0.5)) / sigma**2
            constants.append((one / (2 * math.pi)) ** d)
        rows.append([d, math.log2(constants[1] / constants[0])])
    return {"rows": rows, "optimal": 1.0}  # (2π)^(−d) ‖f̂‖₁² = f(0)², whatever σ is


def _find_small_sigma(numbers: Numbers) -> Finding:
    parts = [abs(power - d) < 0.05 * d for d, power in numbers["rows"]]
    words = ", ".join(f"2^{power:.3f} in d = {d}" for d, power in numbers["rows"])
    return Finding(
        of_parts(parts),
        f"Halving σ from 0.1 multiplies the constant by {words}; under p* it is {numbers['optimal']:g} for all σ.",
        "Of the constant of (14), not of the error; exact, so without standard errors.",
    )


INFINITE = Check(
    "For f = exp(−σ²|x|²/2) with σ > √2 and p = N(0,1) the error estimate indicates no convergence.",
    "Section 2.2, Example I",
    infinite_bound,
    _find_infinite_bound,
)
WALK = Check(
    "Algorithm 1 has the optimal convergence rate for this example.",
    "Section 2.2, Example I",
    walk_converges,
    _find_walk_converges,
)
SMALL = Check(
    "As σ → 0 the constant is O(σ^(−d)) under N(0,1) and O(1) under the optimal density.",
    "Section 2.2, Example II",
    small_sigma,
    _find_small_sigma,
)
