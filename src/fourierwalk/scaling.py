"""Normalisation of data (Algorithm 3) and its inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from fourierwalk._arrays import Array, float64, like, namespace, to_host
from fourierwalk.rows import Block, Rows
from fourierwalk.streaming import Streamed

KINDS = ("auto", True, False)


@dataclass(frozen=True)
class Affine:
    """``(values − center) / scale``, one center and one scale per column."""

    center: Array
    scale: Array

    def apply(self, values: Array) -> Array:
        """Raw units to scaled ones."""
        return (float64(values) - self.center[None, :]) / self.scale[None, :]

    def invert(self, values: Array) -> Array:
        """Scaled units to raw ones."""
        return values * self.scale[None, :] + self.center[None, :]


@dataclass(frozen=True)
class Scaling:
    """How inputs and targets were normalised.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[10.0], [30.0]])
    >>> scaling = Scaling.fit(x, y)
    >>> scaling.inputs.apply(x)
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> scaling.targets.invert(np.array([[0.0]]))
    array([[20.]])
    """

    inputs: Affine
    targets: Affine
    kind: str  # "columns", "common" or "none"

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Array,
        weight: Array | None = None,
        *,
        standardize: bool | str = True,
        scale_targets: bool = True,
        ddof: int = 0,
    ) -> Scaling:
        """Means and spreads of the rows; Algorithm 3 as printed has ``ddof=1``.

        Parameters
        ----------
        x, y : array of shape (n, d) and (n, q)
            Raw inputs (sparse ones too) and targets.
        weight : array of shape (n,), optional
            Weights of the rows.
        standardize : {True, False, "auto"}
            True: each column by its own spread. False: nothing is changed. "auto": one common scale where the columns
            share a unit, as pixels do (see `share_units`), else each its own.
        scale_targets : bool
            Whether targets are divided by their spread as well as centred; one-hot targets are not.
        ddof : int
            Subtracted from the total weight in the variance.
        """
        if not standardize:
            nothing = [Affine(like(np.zeros(n), y), like(np.ones(n), y)) for n in (x.shape[1], y.shape[1])]
            return cls(nothing[0], nothing[1], "none")
        y_mean, y_spread = _mean_and_spread(Rows(y, weight=weight), ddof)
        if not scale_targets:
            y_spread = like(np.ones(y.shape[1]), y)
        mean, spread = _mean_and_spread(Rows(x, weight=weight), ddof)
        kind = "common" if standardize == "auto" and share_units(x) else "columns"
        if kind == "common":
            spread = like(np.full(x.shape[1], _common(to_host(spread))), y)
        return cls(Affine(like(mean, y), like(spread, y)), Affine(y_mean, y_spread), kind)

    def rows(self, x: Any, y: Array | None = None, weight: Array | None = None) -> Rows:
        """Scaled rows. Sparse inputs stay sparse: their centring goes into the phase."""
        targets = None if y is None else self.targets.apply(y)
        if scipy.sparse.issparse(x):
            return Rows(x, targets, weight, self.inputs.center, self.inputs.scale)
        if isinstance(x, Streamed):
            return Rows(x.scaled(self.inputs.center, self.inputs.scale), targets, weight)
        return Rows(float64(x) if self.kind == "none" else self.inputs.apply(x), targets, weight)


def share_units(x: Any) -> bool:
    """Whether columns look like pixels or counts: nearly all have one common minimum, and most reach half the range.

    There a column with next to no spread (a pixel at the rim) must not be blown up to unit variance.
    """
    lowest, highest = _extremes(x)
    varies = highest > lowest
    if np.sum(varies) < 8:
        return False
    lowest, highest = lowest[varies], highest[varies]
    floor, reach = np.min(lowest), np.max(highest) - np.min(lowest)
    return bool(np.mean(lowest == floor) >= 0.9 and np.mean(highest - floor >= 0.5 * reach) >= 2 / 3)


def _extremes(x: Any) -> tuple[np.ndarray, np.ndarray]:
    if scipy.sparse.issparse(x):
        return min_max_axis(x, axis=0)
    x = x.host if isinstance(x, Streamed) else x
    xp = namespace(x)
    return to_host(xp.min(x, axis=0)), to_host(xp.max(x, axis=0))


def _common(spread: np.ndarray) -> float:
    return float(np.sqrt(np.mean(spread**2)))


def _mean_and_spread(rows: Rows, ddof: int) -> tuple[Array, Array]:
    """Weighted means and spreads; the spread of a column that is constant to rounding is one."""
    total, n, d = rows.total_weight, len(rows), int(rows.x.shape[1])
    if scipy.sparse.issparse(rows.x):
        matrix = rows.x.astype(np.float64)
        mean, variance = mean_variance_axis(matrix, axis=0, weights=rows.weight)
        variance = variance * total / (total - ddof)
    else:
        mean = rows.sum(lambda block: _weights(block) @ float64(block.x), d) / total
        deviations = rows.sum(lambda block: _weights(block) @ (float64(block.x) - mean[None, :]) ** 2, d)
        variance = deviations / (total - ddof)
    xp, eps = namespace(mean), float(np.finfo(np.float64).eps)
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    return mean, xp.where(constant, xp.ones_like(variance), xp.sqrt(variance))


def _weights(block: Block) -> Array:
    xp = namespace(block.x)
    return like(np.ones(block.x.shape[0]), block.x) if block.weight is None else xp.astype(block.weight, xp.float64)
