"""The normal equations in Fourier space, for data of low dimension: a step that does not touch the data.

The entries of SᴴS are the data's characteristic function ρ̂(ω) = Σₙ wₙ exp(iω·xₙ) at differences of frequencies (and,
for cosine-sine pairs, at sums too). The data are spread once onto a uniform grid with a Kaiser-Bessel window ψ; after
that ρ̂(ω) = Σⱼ bⱼ exp(ij·θ) / ψ̂(θ) with θ = ωh, and all that a step needs is one type-2 non-uniform FFT of the grid.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import i0, i0e

from fourierwalk._arrays import blas_threads
from fourierwalk.features import ComplexExponentials, CosineSine, Features
from fourierwalk.rows import Rows

WIDTH = 15  # grid points under the window, per dimension
OVERSAMPLING = 2.0
SHAPE = math.pi * WIDTH * (1 - 1 / (2 * OVERSAMPLING))  # of the window
TOLERANCE = 1e-13  # of the transform
HEADROOM = 1.5  # a new grid serves frequencies this much larger than those that asked for it
MOST_DIMENSIONS = 3
MOST_BANDWIDTH = 1e15  # beyond, grid points cannot be counted


def is_installed() -> bool:
    """Whether the extra `nufft` is there."""
    return importlib.util.find_spec("finufft") is not None


def require() -> Any:
    """finufft, or a sentence that names the extra."""
    try:
        import finufft
    except ImportError as error:
        raise ImportError("solver='spectral' needs finufft: pip install 'fourierwalk[nufft]'.") from error
    return finufft


class Grid(NamedTuple):
    """Spread data: coefficients (m, n₁, …) of weights, weighted targets and weighted inputs, and where they lie."""

    coefficients: np.ndarray
    spacing: np.ndarray  # h, per dimension
    center: np.ndarray
    bandwidth: np.ndarray  # the largest |ω| served, per dimension


@dataclass(frozen=True)
class Spectral:
    """Characteristic functions of some rows, from a grid that is built when first asked for and when outgrown.

    Parameters
    ----------
    rows : Rows
        Dense NumPy rows of at most three columns.
    max_bytes : float
        No grid larger than this is built.
    """

    rows: Rows
    max_bytes: float
    _grids: list[Grid] = field(default_factory=list, repr=False, compare=False)

    def serves(self, frequencies: np.ndarray) -> bool:
        """Whether a grid for these frequencies stays within memory."""
        return self.needed_bytes(frequencies) <= self.max_bytes

    def needed_bytes(self, frequencies: np.ndarray) -> float:
        """What a grid for these frequencies takes."""
        return self._bytes(self._bandwidth(frequencies))

    def transform_seconds(self, frequencies: np.ndarray) -> float:
        """Roughly what the transforms of a grid for these frequencies cost at each solve, on one core."""
        bandwidth = self._bandwidth(frequencies)
        if self._grids:  # one that is there is used as it is
            bandwidth = np.maximum(bandwidth, self._grids[0].bandwidth / HEADROOM)
        points = math.prod(float(n) for n in self._shape(HEADROOM * bandwidth)) * OVERSAMPLING ** len(bandwidth)
        return 8e-9 * points * math.log2(points)

    def equations(self, frequencies: np.ndarray, features: Features) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and right-hand side of the unknowns: what `features.system` makes of sums over the rows."""
        grid = self._grid(frequencies)
        n, q, total = frequencies.shape[0], self._n_targets, self.rows.total_weight
        differences = self._at(grid, _pairwise(frequencies, np.subtract), slice(0, 1))[0]
        moments = self._at(grid, frequencies, slice(1, 1 + q)).T
        if isinstance(features, ComplexExponentials):
            return _symmetric(n, np.conj(differences), differences, total), np.conj(moments)
        sums = self._at(grid, np.concatenate((_pairwise(frequencies, np.add), 2 * frequencies)), slice(0, 1))[0]
        return _paired(n, differences, sums, total), np.concatenate((moments.real, moments.imag))

    def slopes(self, frequencies: np.ndarray, amplitudes: np.ndarray, features: Features) -> np.ndarray:
        """Σₙ wₙ conj(rₙ) exp(iωₖ·xₙ) xₙ of the residuals r at the amplitudes, (q, d, K): the gradient's sums.

        For cosine-sine pairs r is real: half the amplitudes at differences, half at sums of frequencies.
        """
        grid = self._grid(frequencies)
        n, q, d = frequencies.shape[0], self._n_targets, frequencies.shape[1]
        inputs, products = slice(1 + q, 1 + q + d), slice(1 + q + d, 1 + q + d + q * d)
        minus = (frequencies[:, None, :] - frequencies[None, :, :]).reshape(-1, d)
        model = np.einsum("jkl,lc->cjk", self._at(grid, minus, inputs).reshape(d, n, n), np.conj(amplitudes))
        if not isinstance(features, ComplexExponentials):
            plus = (frequencies[:, None, :] + frequencies[None, :, :]).reshape(-1, d)
            model += np.einsum("jkl,lc->cjk", self._at(grid, plus, inputs).reshape(d, n, n), amplitudes)
            model /= 2
        return model - self._at(grid, frequencies, products).reshape(q, d, n)

    @property
    def _n_targets(self) -> int:
        return 0 if self.rows.y is None else int(self.rows.y.shape[1])

    def _bandwidth(self, frequencies: np.ndarray) -> np.ndarray:
        return np.maximum(2 * np.max(np.abs(frequencies), axis=0), 1e-3)

    def _shape(self, bandwidth: np.ndarray) -> tuple[int, ...]:
        low, high = self._extent
        spacing = math.pi / (OVERSAMPLING * bandwidth)
        return tuple(2 * (math.ceil(extent / 2) + (WIDTH + 3) // 2) for extent in (high - low) / spacing)

    def _bytes(self, bandwidth: np.ndarray) -> float:
        if not np.all(bandwidth < MOST_BANDWIDTH):
            return math.inf
        d, q = len(bandwidth), self._n_targets
        arrays = 1 + q + d + q * d + 2 ** (d + 1)  # the grids, and the transform's own
        return 16.0 * arrays * math.prod(float(n) for n in self._shape(HEADROOM * bandwidth))

    @cached_property
    def _extent(self) -> tuple[np.ndarray, np.ndarray]:
        """The box of the grid: about zero where the data nearly are, which saves a phase per point."""
        low, high = _extent(self.rows)
        reach = np.maximum(np.abs(low), np.abs(high))
        about_zero = 2 * reach <= 1.5 * (high - low)
        return np.where(about_zero, -reach, low), np.where(about_zero, reach, high)

    def _grid(self, frequencies: np.ndarray) -> Grid:
        needed = self._bandwidth(frequencies)
        if not self._grids or np.any(needed > self._grids[0].bandwidth):
            known = self._grids[0].bandwidth if self._grids else np.zeros_like(needed)
            self._grids[:] = [self._spread(np.where(needed > known, HEADROOM * needed, known))]
        return self._grids[0]

    def _spread(self, bandwidth: np.ndarray) -> Grid:
        x = np.asarray(self.rows.x, dtype=np.float64)
        low, high = self._extent
        center, spacing = (low + high) / 2, math.pi / (OVERSAMPLING * bandwidth)
        shape = self._shape(bandwidth)
        weight = np.ones(len(self.rows)) if self.rows.weight is None else np.asarray(self.rows.weight)
        y = np.zeros((len(self.rows), 0)) if self.rows.y is None else np.asarray(self.rows.y)
        columns = [weight, *(weight * y[:, c] for c in range(y.shape[1]))]
        columns += [column * x[:, j] for column in tuple(columns) for j in range(x.shape[1])]
        coefficients = spread((x - center) / spacing, columns, shape)
        return Grid(coefficients.astype(np.complex128), spacing, center, bandwidth)

    def _at(self, grid: Grid, omega: np.ndarray, part: slice) -> np.ndarray:
        """Σₙ cₙ exp(iω·xₙ) of some of the grid's columns c, (m, n_points)."""
        theta = np.ascontiguousarray((omega * grid.spacing).T)
        values = transform(theta, grid.coefficients[part])
        values /= math.prod((window_transform(axis) for axis in theta[1:]), start=window_transform(theta[0]))
        if np.any(grid.center):
            values *= np.exp(1j * (omega @ grid.center))
        return values


def applies(rows: Rows, features: Features) -> bool:
    """Whether the rows and features are of a kind that has a Fourier space."""
    kind = isinstance(features, ComplexExponentials | CosineSine)
    return kind and isinstance(rows.x, np.ndarray) and rows.x.ndim == 2 and int(rows.x.shape[1]) <= MOST_DIMENSIONS


def transform(theta: np.ndarray, coefficients: np.ndarray, tolerance: float = TOLERANCE) -> np.ndarray:
    """Σⱼ bⱼ exp(ij·θ) at points θ (d, n), for each of m arrays of coefficients: a type-2 transform."""
    finufft = require()
    evaluate = (finufft.nufft1d2, finufft.nufft2d2, finufft.nufft3d2)[len(theta) - 1]
    threads = 1 if theta.shape[1] < 20_000 else blas_threads()
    values = evaluate(*theta, np.ascontiguousarray(coefficients), eps=tolerance, isign=1, nthreads=threads)
    return values.reshape(coefficients.shape[0], -1)


def spread(positions: np.ndarray, columns: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Σₙ cₙ ψ(j − uₙ) on the grid j ∈ [−n/2, n/2)^d, for each column c, at positions u (n_rows, d)."""
    n_rows, d = positions.shape
    size, strides = math.prod(shape), [math.prod(shape[j + 1 :]) for j in range(d)]
    flat = np.zeros((len(columns), size))
    height = max(1, _SPREAD_AT_ONCE // WIDTH**d)
    for start in range(0, n_rows, height):
        part = slice(start, start + height)
        index, share = _under_window(positions[part], shape, strides)
        for target, column in zip(flat, columns, strict=True):
            target += np.bincount(index.ravel(), (share * column[part, None]).ravel(), minlength=size)
    return flat.reshape(len(columns), *shape)


_SPREAD_AT_ONCE = 2**21


def _under_window(u: np.ndarray, shape: tuple[int, ...], strides: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """For each row the grid points under its window, as flat indices, and the window there, (n, W^d) both."""
    index, share = np.zeros((len(u), 1), dtype=np.int64), np.ones((len(u), 1))
    for j, stride in enumerate(strides):
        points = np.ceil(u[:, j, None] - WIDTH / 2) + np.arange(WIDTH)
        offsets = (points.astype(np.int64) + shape[j] // 2) * stride
        index = (index[:, :, None] + offsets[:, None, :]).reshape(len(u), -1)
        share = (share[:, :, None] * window(points - u[:, j, None])[:, None, :]).reshape(len(u), -1)
    return index, share


def window(t: np.ndarray) -> np.ndarray:
    """The Kaiser-Bessel window I₀(β √(1 − (2t/W)²)) / I₀(β)."""
    return i0(SHAPE * np.sqrt(np.maximum(1 - (2 * t / WIDTH) ** 2, 0))) / i0(SHAPE)


def window_transform(theta: np.ndarray) -> np.ndarray:
    """∫ψ(t) exp(iθt) dt = W sinh(z)/(z I₀(β)), z = √(β² − (Wθ/2)²); for |θ| ≤ π/2 sinh z is exp(z)/2 to 1e-28."""
    z = np.sqrt(SHAPE**2 - (WIDTH / 2) ** 2 * theta**2)
    return np.exp(z - SHAPE) * (WIDTH / (2 * i0e(SHAPE))) / z


def evaluate(x: np.ndarray, frequencies: np.ndarray, amplitudes: np.ndarray, tolerance: float) -> np.ndarray:
    """Σₖ βₖ exp(iωₖ·xₙ), (n, q): a type-3 transform from frequencies to points."""
    finufft = require()
    kind: Callable[..., Any] = (finufft.nufft1d3, finufft.nufft2d3, finufft.nufft3d3)[x.shape[1] - 1]
    sources = [np.ascontiguousarray(column) for column in frequencies.T]
    targets = [np.ascontiguousarray(column) for column in x.T]
    strengths = np.ascontiguousarray(amplitudes.T.astype(np.complex128))
    values = kind(*sources, strengths, *targets, eps=tolerance, isign=1, nthreads=blas_threads())
    return values.reshape(amplitudes.shape[1], -1).T


def evaluation_bytes(rows: Rows, frequencies: np.ndarray) -> float:
    """What `evaluate` takes: its grid grows like the product of the extents of points and frequencies."""
    low, high = _extent(rows)
    spans = (high - low) * (np.max(frequencies, axis=0) - np.min(frequencies, axis=0))
    sizes = (2 * OVERSAMPLING * float(span) / math.pi + 4 * WIDTH for span in spans)
    return 16.0 * OVERSAMPLING ** len(spans) * math.prod(sizes) + 64.0 * len(rows)


def _extent(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(rows.x)
    return np.min(x, axis=0).astype(np.float64), np.max(x, axis=0).astype(np.float64)


@lru_cache(maxsize=4)
def _above(n: int) -> np.ndarray:
    """Flat indices of an (n, n) matrix above its diagonal."""
    return np.flatnonzero(np.triu(np.ones((n, n), dtype=bool), 1))


@lru_cache(maxsize=4)
def _below(n: int) -> np.ndarray:
    """Flat indices below the diagonal, in the order of their mirror images above it."""
    rows, columns = np.divmod(_above(n), n)
    return columns * n + rows


def _pairwise(frequencies: np.ndarray, operation: Callable[..., Any]) -> np.ndarray:
    """Differences or sums of all pairs k < l, (n(n−1)/2, d)."""
    n = frequencies.shape[0]
    columns = [operation(axis[:, None], axis[None, :]).ravel()[_above(n)] for axis in frequencies.T]
    return np.stack(columns, axis=1) if len(columns) > 1 else columns[0][:, None]


def _symmetric(n: int, above: np.ndarray, below: np.ndarray, diagonal: Any) -> np.ndarray:
    matrix = np.empty((n, n), dtype=above.dtype)
    flat = matrix.reshape(-1)
    flat[_above(n)], flat[_below(n)] = above, below
    flat[:: n + 1] = diagonal
    return matrix


def _paired(n: int, differences: np.ndarray, sums: np.ndarray, total: float) -> np.ndarray:
    """[CᵀC, CᵀD; DᵀC, DᵀD] of cosines C and sines D, by cos·cos = (cos(−) + cos(+))/2 and its like."""
    pairs = n * (n - 1) // 2
    minus, plus, double = differences / 2, sums[:pairs] / 2, sums[pairs:]
    gram = np.empty((2 * n, 2 * n))
    cosines, sines = plus.real + minus.real, minus.real - plus.real
    gram[:n, :n] = _symmetric(n, cosines, cosines, (total + double.real) / 2)
    gram[n:, n:] = _symmetric(n, sines, sines, (total - double.real) / 2)
    # cos a sin b = (sin(a + b) − sin(a − b))/2, and a − b changes sign across the diagonal.
    gram[:n, n:] = _symmetric(n, plus.imag - minus.imag, plus.imag + minus.imag, double.imag / 2)
    gram[n:, :n] = gram[:n, n:].T
    return gram
