"""Remark 3.3: a penalty that makes assumption (A1) hold."""

from __future__ import annotations

import math

import numpy as np

from fourierwalk.data.features import ComplexExponentials
from fourierwalk.data.rows import Rows
from fourierwalk.paper.theory.check import Check, Finding, Numbers
from fourierwalk.paper.theory.gaussians import bound_constant
from fourierwalk.paper.verdicts import of_parts
from fourierwalk.solving.least_squares import LeastSquares

SPREAD, N_FREQUENCIES, REGULARIZATION = 1.5, 64, 1e-9


def penalised(strength: float = 0.01) -> Numbers:
    """Σ|ζₖ|, K max|ζₖ| and the test error without and with the penalty (noise 0.1, f = exp(−x²/2), p = N(0, 1.5²))."""
    rng = np.random.default_rng(0)
    x, x_test = rng.standard_normal((1_000, 1)), rng.standard_normal((1_000, 1))
    omega = SPREAD * rng.standard_normal((N_FREQUENCIES, 1))
    y, y_test = np.exp(-(x**2) / 2) + 0.1 * rng.standard_normal(x.shape), np.exp(-(x_test**2) / 2)
    # λ₂ > sup |f̂|/p: f̂/p = √(2π)·1.5 exp(−ω²/2 + ω²/4.5) is largest at 0.
    most = 1.1 * math.sqrt(2 * math.pi) * SPREAD
    plain = LeastSquares(Rows(x, y), ComplexExponentials(), REGULARIZATION)(omega).amplitudes
    bounded = proximal_amplitudes(x, y, omega, REGULARIZATION, strength, most / N_FREQUENCIES)
    rows = []
    for zeta in (plain, bounded):
        error = float(np.sqrt(np.mean(np.abs(np.exp(1j * x_test @ omega.T) @ zeta - y_test) ** 2)))
        rows.append([float(np.sum(np.abs(zeta))), float(np.max(np.abs(zeta))) * N_FREQUENCIES, error])
    promised = math.sqrt((1 + REGULARIZATION) * bound_constant(SPREAD) / N_FREQUENCIES)
    return {"plain": rows[0], "penalised": rows[1], "most": most, "promised": promised}


def _find_penalised(numbers: Numbers) -> Finding:
    (plain_sum, plain_most, plain_error), (total, most, error) = numbers["plain"], numbers["penalised"]
    parts = [most <= 1.001 * numbers["most"], error <= numbers["promised"]]
    return Finding(
        of_parts(parts),
        f"Σ|ζₖ| goes from {plain_sum:.2f} to {total:.2f}, K max|ζₖ| from {plain_most:.2f} to {most:.2f} (λ₂ = "
        f"{numbers['most']:.2f}), the error from {plain_error:.2g} to {error:.2g}, where (14) promises "
        f"{numbers['promised']:.2g}.",
        "One draw, d = 1, λ = 10⁻⁹, noise 0.1. The penalty is not smooth: solved by proximal steps, not by (29).",
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


PENALTY = Check(
    "The penalty λ₁ Σ max(0, |ζₖ| − λ₂/K) makes assumption (A1) hold, with the same accuracy as (14).",
    "Remark 3.3",
    penalised,
    _find_penalised,
)
