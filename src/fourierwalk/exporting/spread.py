"""Spread: what an export needs for standard deviations, as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SpreadPart:
    """One of the averaged models: its places among all columns of features, and a factor of its covariance."""

    places: np.ndarray  # of int, (n,)
    factor: np.ndarray  # (r, n): |factor · columns|² is the variance of the value at unit noise


@dataclass(frozen=True)
class Spread:
    """The standard deviation s of a target: s² = n(1 + u) + v/M, as `ErrorBars` has it.

    Parameters
    ----------
    parts : tuple of SpreadPart
        The M averaged models.
    noise_places : array of int, of shape (p,)
        The columns of features that the noise depends on.
    slopes, constant : array of shape (p, q) and (q,)
        The logarithm of the variance of the noise is constant + columns · slopes,
    least, most : array of shape (q,)
        kept between these.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.linspace(-3, 3, 300)[:, None]
    >>> model = AdaptiveFourierRegressor(8, random_state=0).fit(x, np.sin(2 * x[:, 0]))
    >>> len(Spread.of(model.error_bars_, 2).parts) == len(model.error_bars_.sizes)
    True
    """

    parts: tuple[SpreadPart, ...]
    noise_places: np.ndarray
    slopes: np.ndarray
    constant: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, error_bars: Any, n_columns: int) -> Spread:
        """From the error bars of a regressor whose features have this many columns for each frequency."""
        n_frequencies, noise = sum(error_bars.sizes), error_bars.noise

        def places(frequencies: np.ndarray) -> np.ndarray:
            shifts = n_frequencies * np.arange(n_columns)[:, None]
            return (frequencies[None, :] + shifts).reshape(-1).astype(np.int64)

        parts = tuple(
            SpreadPart(places(np.arange(part.start, part.stop)), factor.astype(np.float64))
            for part, factor in zip(error_bars.parts, error_bars.posterior.factors, strict=True)
        )
        return cls(parts, places(noise.waves), noise.slopes, noise.constant, noise.least, noise.most)
