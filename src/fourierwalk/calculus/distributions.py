"""Distributions of independent inputs whose waves have means in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host


@dataclass(frozen=True)
class Uniform:
    """Independent inputs, each uniform between two bounds.

    Parameters
    ----------
    lower, upper : array of shape (d,), or float
        The bounds; a number is taken for every input.

    Examples
    --------
    >>> Uniform(-1, [2, 3]).center(2)
    array([0.5, 1. ])
    """

    lower: Any
    upper: Any

    def center(self, n_inputs: int) -> np.ndarray:
        """The means of the inputs, (d,)."""
        lower, upper = self.bounds(n_inputs)
        return lower + (upper - lower) / 2

    def bounds(self, n_inputs: int) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds, (d,), checked."""
        lower, upper = vector("lower", self.lower, n_inputs), vector("upper", self.upper, n_inputs)
        if not np.all(lower < upper):
            j = int(np.argmin(lower < upper))
            raise ValueError(f"upper must be above lower, got {lower[j]:g} and {upper[j]:g} for input {j}.")
        return lower, upper

    def factors(self, omega: Array) -> Array:
        """The means of exp(iωⱼ(xⱼ − center)), which are real: sin(ωⱼhⱼ)/(ωⱼhⱼ) with the half width hⱼ."""
        lower, upper = self.bounds(int(omega.shape[-1]))
        xp, phase = namespace(omega), omega * like((upper - lower) / 2, omega)
        is_zero = phase == 0
        safe = xp.where(is_zero, xp.ones_like(phase), phase)
        return xp.where(is_zero, xp.ones_like(phase), xp.sin(safe) / safe)


@dataclass(frozen=True)
class Gaussian:
    """Independent inputs, each normal.

    Parameters
    ----------
    mean, std : array of shape (d,), or float
        Means and standard deviations; a number is taken for every input.

    Examples
    --------
    >>> import numpy as np
    >>> Gaussian(0, [1, 2]).factors(np.ones((1, 2))).round(3)
    array([[0.607, 0.135]])
    """

    mean: Any
    std: Any

    def center(self, n_inputs: int) -> np.ndarray:
        """The means of the inputs, (d,)."""
        return vector("mean", self.mean, n_inputs)

    def factors(self, omega: Array) -> Array:
        """The means of exp(iωⱼ(xⱼ − center)), which are real: exp(−ωⱼ²σⱼ²/2)."""
        std = vector("std", self.std, int(omega.shape[-1]))
        if np.any(std < 0):
            raise ValueError(f"std must not be negative, got {np.min(std):g}.")
        return namespace(omega).exp(-((omega * like(std, omega)) ** 2) / 2)


def vector(name: str, values: Any, n_inputs: int) -> np.ndarray:
    """One finite number per input, (d,); a single number is repeated."""
    given = np.asarray(values if isinstance(values, int | float | list | tuple) else to_host(values), dtype=np.float64)
    if given.shape not in ((), (n_inputs,)):
        raise ValueError(
            f"{name} must be a number or have one entry for each of {n_inputs} inputs, got the shape {given.shape}."
        )
    if not np.all(np.isfinite(given)):
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return np.broadcast_to(given, (n_inputs,)).copy()
