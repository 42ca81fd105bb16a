"""The paper's target functions and their Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import sici


def sine_integral(x: np.ndarray, a: float) -> np.ndarray:
    """f(x) = Si(x₁/a) exp(−|x|²/2): Case 1 (a = 10⁻³, d = 1) and Case 2 (a = 10⁻¹, d = 5).

    Examples
    --------
    >>> sine_integral(np.array([[0.01]]), 1e-3).round(4)
    array([1.6583])
    """
    return sici(x[:, 0] / a)[0] * gaussian(x)


def anisotropic_gaussian(x: np.ndarray) -> np.ndarray:
    """f(x) = exp(−(32 x₁)²/2) exp(−(x₂/32)²/2): Case 3."""
    return np.exp(-((32 * x[:, 0]) ** 2) / 2 - (x[:, 1] / 32) ** 2 / 2)


def gaussian(x: np.ndarray) -> np.ndarray:
    """f(x) = exp(−|x|²/2): the σ_ω sweep."""
    return np.exp(-np.sum(x**2, axis=1) / 2)


def transform_modulus(function: Callable[[np.ndarray], np.ndarray], n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """|f̂| of a function of one variable at ω > 0, by FFT on `n_points` points in [−2π, 2π], as in the paper."""
    length = 4 * np.pi
    x = -length / 2 + length * np.arange(n_points) / n_points
    values = function(x[:, None])
    omega = 2 * np.pi * np.fft.rfftfreq(n_points, length / n_points)
    return omega[1:], np.abs(np.fft.rfft(values))[1:] * length / n_points / np.sqrt(2 * np.pi)
