"""Rows spread onto a uniform grid: their sums Σₙ cₙ exp(iω·xₙ) at any frequencies, without touching the rows again.

The rows are spread once with a Kaiser-Bessel window ψ. After that Σₙ cₙ exp(iω·xₙ) = Σⱼ bⱼ exp(ij·θ) / ψ̂(θ), θ = ωh,
with the grid's coefficients b and spacing h: one type-2 non-uniform FFT.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays import nufft
from fourierwalk.arrays.library import Array, float64, like, namespace, to_host
from fourierwalk.arrays.nufft import OVERSAMPLING, WIDTH, transform, window, window_transform
from fourierwalk.data.rows import Block, Rows

SPREAD_AT_ONCE = 2**21
"""Rows are spread in parts, with this many grid points under their windows."""


class Bounds(NamedTuple):
    """The lowest and the highest inputs of some rows; ``+`` gives those of both parts."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, block: Block) -> Bounds:
        """The bounds of a block."""
        xp = namespace(block.x)
        return cls(*(to_host(bound(block.x, axis=0)).astype(np.float64) for bound in (xp.min, xp.max)))

    def __add__(self, other: Bounds) -> Bounds:  # type: ignore[override]
        return Bounds(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


class Box(NamedTuple):
    """The interval that a grid covers in each dimension."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, rows: Rows) -> Box:
        """The bounding box of the rows. If it is nearly centred, it is centred: that saves a phase for each point."""
        low, high = rows.sum(Bounds.of, int(rows.x.shape[1])) if rows.reach is None else rows.reach
        reach = np.maximum(np.abs(low), np.abs(high))
        about_zero = 2 * reach <= 1.5 * (high - low)
        return cls(np.where(about_zero, -reach, low), np.where(about_zero, reach, high))

    def shape(self, bandwidth: np.ndarray) -> tuple[int, ...]:
        """The number of grid points in each dimension that the bandwidth needs."""
        spacing = math.pi / (OVERSAMPLING * bandwidth)
        return tuple(2 * (math.ceil(extent / 2) + (WIDTH + 3) // 2) for extent in (self.high - self.low) / spacing)


class Grid(NamedTuple):
    """Rows spread onto a grid: coefficients (m, n₁, …) of weights, weighted targets and weighted inputs."""

    coefficients: Array  # as `nufft.transform` takes them
    spacing: Array  # h, per dimension
    center: Array | None  # None: zero
    bandwidth: np.ndarray  # the largest |ω| for which the grid is accurate, per dimension

    @classmethod
    def of(cls, rows: Rows, box: Box, bandwidth: np.ndarray) -> Grid:
        """The grid for sums and differences of frequencies that are at most the bandwidth."""
        center, spacing = (box.low + box.high) / 2, math.pi / (OVERSAMPLING * bandwidth)
        coefficients = rows.sum(OnGrid(center, spacing, box.shape(bandwidth)), width=1)
        where = like(center, rows.x) if np.any(center) else None
        return cls(nufft.prepared(coefficients, rows.x), like(spacing, rows.x), where, bandwidth)

    def sums(self, omega: Array, part: slice) -> Array:
        """Σₙ cₙ exp(iω·xₙ) of some of the grid's columns c, (m, n_points)."""
        theta = (omega * self.spacing).T
        values = transform(theta, self.coefficients[part])
        values /= math.prod((window_transform(axis) for axis in theta[1:]), start=window_transform(theta[0]))
        if self.center is not None:
            values *= namespace(omega).exp(1j * (omega @ self.center))
        return values

    def covers(self, frequencies: Array) -> Any:
        """Whether the grid is fine enough for all pairs of these frequencies; the answer stays on their device."""
        xp = namespace(frequencies)
        return xp.all(2 * xp.abs(frequencies) * self.spacing <= math.pi / OVERSAMPLING)


@dataclass(frozen=True)
class OnGrid:
    """The share of a block in the coefficients of a grid. It travels to where the rows are."""

    center: np.ndarray
    spacing: np.ndarray
    shape: tuple[int, ...]

    def __call__(self, block: Block) -> np.ndarray:
        """The coefficients of the block's rows, as a NumPy array (m, n₁, …)."""
        x, center, spacing = (to_host(float64(part)) for part in (block.x, self.center, self.spacing))
        weight = np.ones(len(x)) if block.weight is None else to_host(block.weight)
        y = np.zeros((len(x), 0)) if block.y is None else to_host(block.y)
        columns = [weight, *(weight * y[:, c] for c in range(y.shape[1]))]
        columns += [column * x[:, j] for column in tuple(columns) for j in range(x.shape[1])]
        return spread((x - center) / spacing, columns, self.shape)


def spread(positions: np.ndarray, columns: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Σₙ cₙ ψ(j − uₙ) on the grid j ∈ [−n/2, n/2)^d, for each column c, at positions u (n_rows, d)."""
    n_rows, d = positions.shape
    size, strides = math.prod(shape), [math.prod(shape[j + 1 :]) for j in range(d)]
    flat = np.zeros((len(columns), size))
    height = max(1, SPREAD_AT_ONCE // WIDTH**d)
    for start in range(0, n_rows, height):
        part = slice(start, start + height)
        index, share = _under_window(positions[part], shape, strides)
        for target, column in zip(flat, columns, strict=True):
            target += np.bincount(index.ravel(), (share * column[part, None]).ravel(), minlength=size)
    return flat.reshape(len(columns), *shape)


def _under_window(u: np.ndarray, shape: tuple[int, ...], strides: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """For each row the grid points under its window, as flat indices, and the window there, (n, W^d) both."""
    index, share = np.zeros((len(u), 1), dtype=np.int64), np.ones((len(u), 1))
    for j, stride in enumerate(strides):
        points = np.ceil(u[:, j, None] - WIDTH / 2) + np.arange(WIDTH)
        offsets = (points.astype(np.int64) + shape[j] // 2) * stride
        index = (index[:, :, None] + offsets[:, None, :]).reshape(len(u), -1)
        share = (share[:, :, None] * window(points - u[:, j, None])[:, None, :]).reshape(len(u), -1)
    return index, share
