"""f = exp(−σ²|x|²/2) with all its expectations in closed form: least squares of infinitely many rows.

Fourier transforms are in the paper's convention, f̂(ω) = (2π)^(−d/2) ∫ f(x) exp(−iω·x) dx, so that f̂ is
σ^(−d) exp(−|ω|²/(2σ²)); the paper's Section 2.2 divides by (2π)^(d/2) once more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fourierwalk.solving.least_squares import Solution, SolveInfo


def normal_density(omega: np.ndarray, spread: float) -> np.ndarray:
    """The density of N(0, spread²)."""
    return np.exp(-(omega**2) / (2 * spread**2)) / (spread * math.sqrt(2 * math.pi))


def bound_constant(spread: float) -> float:
    """E[|f̂|²/(2π p²)] of (12) and (14), for σ = 1, d = 1 and p = N(0, spread²)."""
    grid = np.linspace(-30, 30, 200_001)
    return float(np.trapezoid(np.exp(-(grid**2)) / (2 * math.pi * normal_density(grid, spread)), grid))


@dataclass(frozen=True)
class GaussianProblem:
    """ω ↦ the amplitudes and the loss of (18), for f = exp(−σ²|x|²/2), scaled to E f² = 1, and x ~ N(0, (width/σ)²).

    Frequencies may be a stack of problems, (…, K, d).

    Examples
    --------
    >>> import numpy as np
    >>> float(GaussianProblem(1.0, regularization=0.0)(np.zeros((1, 1))).loss.round(3))  # the best constant
    0.4
    """

    sigma: float
    width: float = 2.0
    regularization: float = 1e-3

    def __call__(self, omega: np.ndarray) -> Solution:
        """(18), solved by its normal equations (20)."""
        spread, d = self.width / self.sigma, omega.shape[-1]
        shrunk = 1 + self.width**2
        apart = np.sum((omega[..., :, None, :] - omega[..., None, :, :]) ** 2, axis=-1)
        gram = np.exp(-(spread**2) * apart / 2) + self.regularization * np.eye(omega.shape[-2])
        energy = (1 + 2 * self.width**2) ** (-d / 2)
        moment = shrunk ** (-d / 2) * np.exp(-np.sum(omega**2, axis=-1) * spread**2 / (2 * shrunk)) / math.sqrt(energy)
        amplitudes = np.linalg.solve(gram, moment[..., None])
        loss = 1 - np.sum(moment * amplitudes[..., 0], axis=-1)
        return Solution(amplitudes + 0j, loss, SolveInfo("exact", fallback=False))
