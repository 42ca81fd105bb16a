"""Means and standard deviations of columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from fourierwalk.arrays.library import Array, float64, like, namespace
from fourierwalk.data.rows import Block, Rows


def mean_and_spread(rows: Rows, ddof: int) -> tuple[Array, Array, Array]:
    """Weighted means and standard deviations, and which columns are constant; a constant column's deviation is one."""
    total, n, d = rows.total_weight, len(rows), int(rows.x.shape[1])
    if scipy.sparse.issparse(rows.x):
        matrix = rows.x.astype(np.float64)
        mean, variance = mean_variance_axis(matrix, axis=0, weights=rows.weight)
        variance = variance * total / (total - ddof)
    else:
        mean = rows.sum(lambda block: _weights(block) @ float64(block.x), d) / total
        deviations = rows.sum(lambda block: _weights(block) @ (float64(block.x) - mean[None, :]) ** 2, d)
        variance = deviations / (total - ddof)
    constant = _is_constant(mean, variance, n)
    xp = namespace(mean)
    return mean, xp.where(constant, xp.ones_like(variance), xp.sqrt(variance)), constant


def _is_constant(mean: Array, variance: Array, n_rows: float) -> Array:
    """Which columns have a variance of rounding errors only."""
    eps = float(np.finfo(np.float64).eps)
    return variance <= n_rows * eps * variance + (n_rows * mean * eps) ** 2


def spread_of(mean: np.ndarray, deviations: np.ndarray, weight: float) -> np.ndarray:
    """Standard deviations from Σw(x − mean)² and Σw; one for a constant column."""
    variance = deviations / weight
    few = min(weight, 1e5)  # sums in a tree lose few digits: a mean far from zero must not make a column constant
    return np.where(_is_constant(mean, variance, few), 1.0, np.sqrt(variance))


def _weights(block: Block) -> Array:
    xp = namespace(block.x)
    return like(np.ones(block.x.shape[0]), block.x) if block.weight is None else xp.astype(block.weight, xp.float64)


def common_spread(spread: np.ndarray) -> float:
    """One spread for several columns: the root of their mean square."""
    return float(np.sqrt(np.mean(spread**2)))
