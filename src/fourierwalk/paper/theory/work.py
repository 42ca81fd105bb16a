"""Section 2.2 and Remark 3.2: how much work the adaptive method saves, and which γ makes it least."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.curves import SURE, Measured
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.theory.gaussians import GaussianProblem
from fourierwalk.paper.verdicts import Verdict, of_parts
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares

N_WALKS, MOST_STEPS = 16, 2_000
SIGMAS = {1: (0.2, 0.1, 0.05), 2: (0.5, 0.35, 0.25)}
WIDTHS, TOLERANCES = {1: 8, 2: 16}, {1: 0.05, 2: 0.2}


def estimate() -> Numbers:
    """Steps of the walk from N(0,1), and K of fixed N(0,1) frequencies, that a loss takes, as σ falls.

    x ~ N(0, (2/σ)²) and E f² = 1. Steps are counted with exact expectations (d = 1 and 2), and with N = 200 rows
    (d = 1), whose noise hides from a far frequency where to go.
    """
    steps, rows, fixed = [], [], []
    for d, sigmas in SIGMAS.items():
        for sigma in sigmas:
            problem = GaussianProblem(sigma)
            steps.append([d, sigma, *_log_mean(steps_to(problem, d, sigma))])
            fixed.append([d, sigma, frequencies_to(problem, d)])
            if d == 1:
                rows.append([d, sigma, *_log_mean(steps_to(_with_rows(sigma), d, sigma))])
    return {"steps": steps, "steps_with_rows": rows, "fixed": fixed}


def steps_to(problem: Callable[..., object], d: int, sigma: float) -> np.ndarray:
    """Steps until the loss is below the tolerance, of several walks side by side; at most `MOST_STEPS`."""
    gamma, rng = 3.0 * d - 2, np.random.default_rng([d, round(1_000 * sigma)])
    walk = Metropolis(RandomWalk(2.4 * sigma / math.sqrt(gamma * d)), gamma, refit_every=10)
    start = walk.init(problem, rng.standard_normal((N_WALKS, WIDTHS[d], d)))
    first = np.full(N_WALKS, math.inf)
    for state, info in walk.sample(problem, start, rng, MOST_STEPS):
        loss = walk.refit(state, problem)[1]
        first = np.where((loss <= TOLERANCES[d]) & np.isinf(first), info.step, first)
        if np.all(np.isfinite(first)):
            break
    return np.minimum(first, MOST_STEPS)


def frequencies_to(problem: GaussianProblem, d: int) -> int:
    """The least K of N(0,1) frequencies, to some 10 %, whose mean loss over 48 draws is below the tolerance."""
    rng = np.random.default_rng(d)
    for width in np.unique(np.round(np.geomspace(4, 400, 50)).astype(int)):
        if float(np.mean(problem(rng.standard_normal((48, width, d))).loss)) <= TOLERANCES[d]:
            return int(width)
    return 400


def _with_rows(sigma: float, n_rows: int = 200) -> LeastSquares:
    x = 2.0 / sigma * np.random.default_rng(7).standard_normal((N_WALKS, n_rows, 1))
    y = np.exp(-(x**2) * sigma**2 / 2)
    scale = np.sqrt(np.mean(y**2, axis=(1, 2), keepdims=True))
    return LeastSquares(Rows(x, y / scale), ComplexExponentials(), 1e-3)


def _log_mean(steps: np.ndarray) -> list[float]:
    """Mean and standard error of the logarithm."""
    return [float(np.mean(np.log(steps))), float(np.std(np.log(steps), ddof=1) / math.sqrt(steps.size))]


def _power(rows: list[list[float]], d: int) -> Measured:
    """The exponent of σ by weighted least squares on logarithms."""
    chosen = [row for row in rows if row[0] == d]
    x = np.log([row[1] for row in chosen])
    if len(chosen[0]) == 3:  # a count without scatter
        return Measured(float(np.polyfit(x, np.log([row[2] for row in chosen]), 1)[0]))
    weight = 1 / np.array([max(row[3], 1e-3) for row in chosen]) ** 2
    center = x - np.average(x, weights=weight)
    total = float(np.sum(weight * center**2))
    return Measured(float(np.sum(weight * center * [row[2] for row in chosen])) / total, total**-0.5)


def _find_estimate(numbers: Numbers) -> Finding:
    steps, noisy = {d: _power(numbers["steps"], d) for d in SIGMAS}, _power(numbers["steps_with_rows"], 1)
    fixed = {d: _power(numbers["fixed"], d) for d in SIGMAS}
    grows = [abs(fixed[d].value + d) <= 0.3 * d for d in SIGMAS]
    bounded = [each.value >= -2 - SURE * each.error for each in (*steps.values(), noisy)]
    saves = [steps[d].value > 3 * fixed[d].value for d in SIGMAS]
    verdict = of_parts([*grows, *bounded, *saves]) if all(saves) else Verdict.FAILS
    return Finding(
        verdict,
        f"Fixed frequencies need K ∝ σ^({fixed[1].text(2)}) in d = 1 and σ^({fixed[2].text(2)}) in d = 2, so work like "
        f"σ^(−{-3 * fixed[1].value:.1f}) and σ^(−{-3 * fixed[2].value:.1f}). The walk's steps grow like "
        f"σ^({steps[1].text(2)}) and σ^({steps[2].text(2)}) with exact expectations, and like "
        f"σ^({noisy.text(2)}) with 200 rows.",
        "The exponents of σ alone, at γ = 3d − 2; walks from N(0,1) with δ = 2.4σ/√(γd), inputs as wide as f.",
    )


def best_exponent() -> Numbers:
    """The γ of least work: by the rough estimate of the paper, and with the exact Gaussian integral."""
    rough, exact = [], []
    for d in (1, 2, 5, 50):
        rough.append([d, _minimiser(lambda g, d=d: 1.5 * d * math.log1p(2 / g) + math.log(g))])  # type: ignore[misc]
        # Exact: ∫|f̂|²/p with p ∝ |f̂|^{γ/(γ+1)} is ∝ ((γ+1)²/(γ(γ+2)))^{d/2}.
        exact.append([d, _minimiser(lambda g, d=d: 1.5 * d * math.log((g + 1) ** 2 / (g * (g + 2))) + math.log(g))])  # type: ignore[misc]
    return {"rough": rough, "exact": exact}


def _minimiser(work: Callable[[float], float]) -> float:
    found = minimize_scalar(lambda t: work(math.exp(t)), bounds=(-8, 8), method="bounded", options={"xatol": 1e-10})
    return float(math.exp(found.x))


def _find_best_exponent(numbers: Numbers) -> Finding:
    as_claimed = all(abs(g - (3 * d - 2)) < 1e-3 * max(1, 3 * d - 2) for d, g in numbers["rough"])
    the_same = all(abs(g - (3 * d - 2)) < 0.1 * max(1, 3 * d - 2) for d, g in numbers["exact"])
    rough, exact = (", ".join(f"{g:.2f}" for _, g in numbers[name]) for name in ("rough", "exact"))
    verdict = Verdict.FAILS if not as_claimed else Verdict.HOLDS if the_same else Verdict.PARTLY
    return Finding(
        verdict,
        f"For d = 1, 2, 5, 50 the rough estimate is least at γ = {rough}; with the exact Gaussian integral at {exact}.",
        "True of the rough estimate alone; exactly, (γ+1)(γ+2) = 3d. Calculus, so without standard errors.",
    )


ESTIMATE = Check(
    "As σ → 0 the adaptive method's work grows like γ d σ^(−2), that of fixed N(0,1) frequencies like σ^(−3d).",
    "Section 2.2, Example II",
    estimate,
    _find_estimate,
)
EXPONENT = Check("The work is least for γ = 3d − 2.", "Remark 3.2", best_exponent, _find_best_exponent)
