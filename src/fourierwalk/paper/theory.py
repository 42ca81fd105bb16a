"""The paper's theory, checked by number. Each check says what it measured and which of three verdicts it supports.

*holds*: measured as claimed. *holds for the bound only*: true of the estimate that the paper minimises, not of the
error itself. *does not hold*: measured otherwise.

Fourier transforms are in the paper's convention, f̂(ω) = (2π)^(−d/2) ∫ f(x) exp(−iω·x) dx, so that exp(−|x|²σ²/2) has
f̂ = σ^(−d) exp(−|ω|²/(2σ²)); the paper's Example I divides by (2π)^(d/2) once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.solving.least_squares import LeastSquares

HOLDS, BOUND_ONLY, FAILS = "holds", "holds for the bound only", "does not hold"


def _verdict(claim: str, measured: str, verdict: str, **numbers: Any) -> dict[str, Any]:
    return {"claim": claim, "measured": measured, "verdict": verdict, "numbers": numbers}


def _normal_density(omega: np.ndarray, spread: float) -> np.ndarray:
    return np.exp(-(omega**2) / (2 * spread**2)) / (spread * math.sqrt(2 * math.pi))


def variance_formula() -> dict[str, Any]:
    """Theorem 2.1, (10): Var α(x, ω) = K⁻¹ (E[|f̂|²/((2π)^d p²)] − f(x)²) for f = exp(−x²/2), p = N(0, 1.5²), d = 1."""
    rng, n_frequencies, n_draws, spread = np.random.default_rng(0), 16, 20_000, 1.5
    ratios = []
    for x in (0.0, 0.5, 1.5):
        omega = spread * rng.standard_normal((n_draws, n_frequencies))
        weight = np.exp(-(omega**2) / 2) / (math.sqrt(2 * math.pi) * _normal_density(omega, spread))
        alpha = np.mean(weight * np.exp(1j * omega * x), axis=1)
        grid = np.linspace(-30, 30, 200_001)
        second = np.trapezoid(np.exp(-(grid**2)) / (2 * math.pi * _normal_density(grid, spread)), grid)
        predicted = (second - math.exp(-(x**2))) / n_frequencies
        ratios.append(float(np.mean(np.abs(alpha - math.exp(-(x**2) / 2)) ** 2) / predicted))
    worst = max(abs(ratio - 1) for ratio in ratios)
    return _verdict(
        "Theorem 2.1: the variance of the Monte Carlo estimator is (E[|f̂|²/((2π)^d p²)] − f²)/K",
        f"measured over predicted variance {', '.join(f'{r:.3f}' for r in ratios)} at x = 0, 0.5, 1.5",
        HOLDS if worst < 0.05 else FAILS,
        ratios=ratios,
    )


def error_bound() -> dict[str, Any]:
    """Theorem 2.1, (12): the mean minimum is at most (1 + λ)/K · E[|f̂|²/((2π)^d p²)], for the same f and p."""
    spread, regularization = 1.5, 0.1
    grid = np.linspace(-30, 30, 200_001)
    constant = float(np.trapezoid(np.exp(-(grid**2)) / (2 * math.pi * _normal_density(grid, spread)), grid))
    rows = []
    for n_frequencies in (2, 4, 8, 16, 32):
        losses = []
        for seed in range(20):
            rng = np.random.default_rng([seed, n_frequencies])
            x = rng.standard_normal((2_000, 1))
            minimize = LeastSquares(Rows(x, np.exp(-(x**2) / 2)), ComplexExponentials(), regularization)
            losses.append(minimize(spread * rng.standard_normal((n_frequencies, 1))).loss)
        rows.append((n_frequencies, float(np.mean(losses)), (1 + regularization) * constant / n_frequencies))
    holds = all(mean <= bound for _, mean, bound in rows)
    pairs = "; ".join(f"K = {k}: {mean:.4f} ≤ {bound:.4f}" for k, mean, bound in rows)
    return _verdict(
        "Theorem 2.1: the expected regularised loss is bounded by (1 + λ)/K · E[|f̂|²/((2π)^d p²)]",
        pairs,
        HOLDS if holds else FAILS,
        rows=rows,
    )


def example_1() -> dict[str, Any]:
    """Example I: σ = 2 > √2 makes the bound infinite under p = N(0, 1); least squares converges all the same."""
    sigma = 2.0
    truncated = []
    for radius in (4, 8, 16):
        grid = np.linspace(-radius, radius, 100_001)
        integrand = np.exp(-(grid**2) / sigma**2 + grid**2 / 2) * math.sqrt(2 * math.pi) / sigma**2
        truncated.append(float(np.trapezoid(integrand, grid)))
    errors = {k: _fixed_error(lambda x: np.exp(-(x**2) * sigma**2 / 2), k) for k in (2, 8, 32, 128)}
    grows = truncated[2] > 1e3 * truncated[1] > 1e3 * truncated[0]
    falls = errors[128] < 0.25 * errors[2]
    return _verdict(
        "Example I: for f = exp(−|x|²σ²/2) with σ > √2 and p = N(0,1) the estimate indicates no convergence",
        f"∫|f̂|²/p over |ω| < 4, 8, 16: {truncated[0]:.3g}, {truncated[1]:.3g}, {truncated[2]:.3g}; but the least "
        f"squares error at K = 2, 8, 32, 128 is {', '.join(f'{e:.2g}' for e in errors.values())}",
        (BOUND_ONLY if falls else HOLDS) if grows else FAILS,
        truncated=truncated,
        errors=errors,
    )


def _fixed_error(function: Callable[[np.ndarray], np.ndarray], n_frequencies: int) -> float:
    """Root mean square error of least squares on N(0, 1) frequencies, mean of ten draws, λ = 1e-3."""
    found = []
    for seed in range(10):
        rng = np.random.default_rng([seed, n_frequencies])
        x, x_test = rng.standard_normal((4_000, 1)), rng.standard_normal((4_000, 1))
        omega = rng.standard_normal((n_frequencies, 1))
        beta = LeastSquares(Rows(x, function(x)), ComplexExponentials(), 1e-3)(omega).amplitudes
        found.append(np.sqrt(np.mean(np.abs(np.exp(1j * x_test @ omega.T) @ beta - function(x_test)) ** 2)))
    return float(np.mean(found))


def example_2() -> dict[str, Any]:
    """Example II: for σ → 0 the constant under p = N(0, 1) grows like σ^(−d); under p* = |f̂|/‖f̂‖₁ it stays O(1)."""
    rows = []
    for d in (1, 2, 3):
        constants = []
        for sigma in (0.2, 0.1, 0.05):
            # ∫|f̂|²/p factorises: each dimension gives σ^(−2) √(2π) ∫exp(−ω²/σ² + ω²/2) dω.
            one = math.sqrt(2 * math.pi) * math.sqrt(math.pi / (1 / sigma**2 - 0.5)) / sigma**2
            constants.append((one / (2 * math.pi)) ** d)
        slopes = [math.log2(constants[i + 1] / constants[i]) for i in range(2)]
        rows.append((d, slopes[-1]))
    optimal = 1.0  # (2π)^(−d) ‖f̂‖₁² = (2π)^(−d) (2π)^d: f(0)², whatever σ is
    holds = all(abs(slope - d) < 0.05 * d for d, slope in rows)
    return _verdict(
        "Example II: as σ → 0 the constant is O(σ^(−d)) under N(0,1) and O(1) under the optimal density",
        f"halving σ multiplies it by 2^{', 2^'.join(f'{s:.3f}' for _, s in rows)} in d = 1, 2, 3; the optimum is "
        f"{optimal:g} for all σ",
        HOLDS if holds else FAILS,
        rows=rows,
    )


def optimal_density() -> dict[str, Any]:
    """Theorem 2.2: no density has a smaller ∫|f̂|²/p than |f̂|/‖f̂‖₁. Tried: Gaussians, random perturbations."""
    grid = np.linspace(-12, 12, 4_001)
    transform = np.exp(-np.abs(grid)) * (1 + 0.5 * np.cos(3 * grid))

    def constant(density: np.ndarray) -> float:
        return float(np.trapezoid(transform**2 / (density / np.trapezoid(density, grid)), grid))

    best, rng = constant(transform), np.random.default_rng(0)
    others = [constant(_normal_density(grid, spread) + 1e-300) for spread in (1.5, 2.0, 3.0)]
    for _ in range(200):
        wave = sum(rng.normal() * np.cos(rng.uniform(0, 6) * grid + rng.uniform(0, 6)) for _ in range(4))
        others.append(constant(transform * np.exp(rng.uniform(0.01, 1) * wave)))
    return _verdict(
        "Theorem 2.2: p* = |f̂|/‖f̂‖₁ minimises the constant of the bound",
        f"p* gives {best:.4f}; the best of {len(others)} other densities {min(others):.4f}",
        HOLDS if min(others) > best * (1 - 1e-9) else FAILS,
        best=best,
        closest=min(others),
    )


def sampled_density() -> dict[str, Any]:
    """Remark 3.2: the sampled density is |f̂|^(γ/(γ+1)); for a Gaussian f̂ its variance is (γ+1)/γ of f̂'s."""
    rows = []
    for exponent in (1.0, 2.0, 4.0, 10.0):
        variances = []
        for seed in range(4):
            rng = np.random.default_rng([seed, int(exponent)])
            x = 2.0 * rng.standard_normal((1_000, 1))
            minimize = LeastSquares(Rows(x, np.exp(-(x**2) / 2)), ComplexExponentials(), 1e-2)
            walk = Metropolis(RandomWalk(0.5), exponent, refit_every=1)
            start = walk.init(minimize, rng.standard_normal((64, 1)))
            for state, info in walk.sample(minimize, start, rng, 600):
                if info.step > 200:
                    variances.append(float(np.var(state.frequencies)))
        rows.append((exponent, float(np.mean(variances)), (exponent + 1) / exponent))
    falls = all(rows[i][1] > rows[i + 1][1] for i in range(3))
    near = max(abs(measured / predicted - 1) for _, measured, predicted in rows)
    pairs = "; ".join(f"γ = {g:g}: {m:.2f} (law {p:.2f})" for g, m, p in rows)
    return _verdict(
        "Remark 3.2: if amplitudes converged strongly, frequencies would have density ∝ |f̂|^(γ/(γ+1))",
        f"variance of the sampled frequencies, f̂ = N(0,1): {pairs}; "
        + ("it falls with γ as the law says" if falls else "it does not fall with γ throughout"),
        HOLDS if near < 0.15 else FAILS,
        rows=rows,
    )


def exponent() -> dict[str, Any]:
    """Remark 3.2: γ = 3d − 2 minimises the rough work (1 + 2/γ)^(3d/2) γ, not that with the exact integral."""
    rough, exact = [], []
    for d in (1, 2, 5, 50):
        rough.append((d, _minimiser(lambda g, d=d: 1.5 * d * math.log1p(2 / g) + math.log(g))))  # type: ignore[misc]
        # Exact: ∫|f̂|²/p with p ∝ |f̂|^{γ/(γ+1)} is ∝ ((γ+1)²/(γ(γ+2)))^{d/2}.
        exact.append((d, _minimiser(lambda g, d=d: 1.5 * d * math.log((g + 1) ** 2 / (g * (g + 2))) + math.log(g))))  # type: ignore[misc]
    as_claimed = all(abs(g - (3 * d - 2)) < 1e-3 * max(1, 3 * d - 2) for d, g in rough)
    law = all(abs((g + 1) * (g + 2) - 3 * d) < 1e-2 * 3 * d for d, g in exact if g > 1e-3)
    return _verdict(
        "Remark 3.2: the work is minimal for γ = 3d − 2",
        f"the rough estimate is least at γ = {', '.join(f'{g:.2f}' for _, g in rough)} for d = 1, 2, 5, 50; with the "
        f"exact Gaussian integral at {', '.join(f'{g:.2f}' for _, g in exact)}"
        + (", where (γ+1)(γ+2) = 3d" if law else ""),
        BOUND_ONLY if as_claimed else FAILS,
        rough=rough,
        exact=exact,
    )


def _minimiser(work: Callable[[float], float]) -> float:
    found = minimize_scalar(lambda t: work(math.exp(t)), bounds=(-8, 8), method="bounded", options={"xatol": 1e-10})
    return float(math.exp(found.x))


def penalty() -> dict[str, Any]:
    """Remark 3.3: the penalty λ₁ Σ max(0, |ζₖ| − λ₂/K) bounds Σ|ζₖ| and costs no accuracy (noise 0.1, FISTA)."""
    rng, n_frequencies, spread = np.random.default_rng(0), 64, 1.5
    x, x_test = rng.standard_normal((1_000, 1)), rng.standard_normal((1_000, 1))
    omega = spread * rng.standard_normal((n_frequencies, 1))
    y, y_test = np.exp(-(x**2) / 2) + 0.1 * rng.standard_normal(x.shape), np.exp(-(x_test**2) / 2)
    # λ₂ > sup |f̂|/p: f̂/p = √(2π)·1.5 exp(−ω²/2 + ω²/4.5) is largest at 0.
    bound = 1.1 * math.sqrt(2 * math.pi) * spread
    regularization, rows = 1e-9, []
    plain = LeastSquares(Rows(x, y), ComplexExponentials(), regularization)(omega).amplitudes
    bounded = proximal_amplitudes(x, y, omega, regularization, 0.01, bound / n_frequencies)
    for zeta in (plain, bounded):
        error = float(np.sqrt(np.mean(np.abs(np.exp(1j * x_test @ omega.T) @ zeta - y_test) ** 2)))
        rows.append((float(np.sum(np.abs(zeta))), float(np.max(np.abs(zeta))) * n_frequencies, error))
    (plain_sum, plain_max, plain_error), (bounded_sum, bounded_max, bounded_error) = rows
    promised = math.sqrt((1 + regularization) * spread**2 / math.sqrt(2 * spread**2 - 1) / n_frequencies)  # (12)
    holds = bounded_max <= bound * 1.001 and bounded_error <= promised
    return _verdict(
        "Remark 3.3: the penalty makes assumption (A1) hold with the same accuracy as the bound (12)",
        f"Σ|ζₖ| {plain_sum:.2f} → {bounded_sum:.2f}, K·max|ζₖ| {plain_max:.2f} → {bounded_max:.2f} (λ₂ = {bound:.2f}), "
        f"error {plain_error:.2g} → {bounded_error:.2g}, where the bound (12) promises {promised:.2g}",
        HOLDS if holds else FAILS,
        rows=rows,
    )


def proximal_amplitudes(
    x: np.ndarray,
    y: np.ndarray,
    omega: np.ndarray,
    regularization: float,
    strength: float,
    free: float,
    n_steps: int = 4_000,
) -> np.ndarray:
    """Minimise N⁻¹|Sζ − y|² + λ|ζ|² + λ₁ Σ max(0, |ζₖ| − free) by accelerated proximal gradient steps."""
    s = np.exp(1j * x @ omega.T)
    gram, moment = s.conj().T @ s / x.shape[0], s.conj().T @ y / x.shape[0]
    rate = 1.0 / (2 * (np.linalg.eigvalsh(gram)[-1] + regularization))
    zeta = ahead = np.zeros_like(moment)
    momentum = 1.0
    for _ in range(n_steps):
        moved = ahead - rate * 2 * (gram @ ahead - moment + regularization * ahead)
        modulus = np.abs(moved)
        shrunk = np.where(modulus > free, np.maximum(modulus - rate * strength, free), modulus)
        new = moved * (shrunk / np.maximum(modulus, 1e-300))
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / following * (new - zeta)
        zeta, momentum = new, following
    return zeta


CHECKS: dict[str, Callable[[], dict[str, Any]]] = {
    "variance-formula": variance_formula,
    "error-bound": error_bound,
    "example-1": example_1,
    "example-2": example_2,
    "optimal-density": optimal_density,
    "sampled-density": sampled_density,
    "exponent": exponent,
    "penalty": penalty,
}
