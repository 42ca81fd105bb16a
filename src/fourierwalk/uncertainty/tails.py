"""Errors with heavy tails: Student's t of variance one. The normal distribution is its limit of many degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, stdtr

DEGREES = (4.0, 5.0, 6.0, 8.0, 12.0, 20.0, 50.0, 1000.0)
"""The degrees of freedom to choose from. The last one is a normal distribution to three digits."""


def losses(exponent: Any, squares: Any, degrees: Any) -> np.ndarray:
    """−log density of errors with these squares, for the log variance `exponent` and t of `degrees` degrees.

    Examples
    --------
    >>> round(float(losses(0.0, 0.0, 1e9)), 4)  # ½ log 2π
    0.9189
    """
    constant = gammaln(degrees / 2) - gammaln((degrees + 1) / 2) + 0.5 * np.log(np.pi * (degrees - 2))
    ratio = squares * np.exp(-np.clip(exponent, -700.0, 700.0)) / (degrees - 2)
    return constant + 0.5 * exponent + 0.5 * (degrees + 1) * np.log1p(ratio)


def slopes(exponent: np.ndarray, squares: np.ndarray, degrees: float) -> np.ndarray:
    """The derivative of `losses` by the exponent."""
    ratio = squares * np.exp(-np.clip(exponent, -700.0, 700.0)) / (degrees - 2)
    return 0.5 - 0.5 * (degrees + 1) * ratio / (1 + ratio)


def information(degrees: float) -> float:
    """The expected second derivative of `losses` by the exponent."""
    return 0.5 * degrees / (degrees + 3)


def distribution(errors: Any, degrees: Any) -> np.ndarray:
    """The probability of an error below each of these, for errors of variance one."""
    return stdtr(degrees, np.asarray(errors, dtype=np.float64) * np.sqrt(degrees / (degrees - 2)))


def draws(rng: np.random.Generator, degrees: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Errors of variance one, of the shape (…, q, n) for degrees of the shape (q,)."""
    return rng.standard_t(degrees[:, None], shape) * np.sqrt(1 - 2 / degrees)[:, None]
