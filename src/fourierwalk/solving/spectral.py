"""The normal equations in Fourier space, for data of low dimension: a step that does not touch the data.

The entries of SᴴS are the data's characteristic function ρ̂(ω) = Σₙ wₙ exp(iω·xₙ) at differences of frequencies (and,
for cosine-sine pairs, at sums too). The data are spread once onto a uniform grid with a Kaiser-Bessel window ψ; after
that ρ̂(ω) = Σⱼ bⱼ exp(ij·θ) / ψ̂(θ) with θ = ωh, and all that a step needs is one type-2 non-uniform FFT of the grid.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays import nufft
from fourierwalk.arrays.library import Array, is_remote, like, namespace, to_host
from fourierwalk.arrays.nufft import OVERSAMPLING, WIDTH, is_installed, require, transform, window, window_transform
from fourierwalk.arrays.products import matmul
from fourierwalk.arrays.threads import blas_threads
from fourierwalk.data.features import ComplexExponentials, CosineSine, Features
from fourierwalk.data.rows import Rows

HEADROOM = 1.5  # a new grid serves frequencies this much larger than those that asked for it
USES = 50  # steps that the spreading of a grid on the host is shared among
MOST_DIMENSIONS = 3
MOST_DIMENSIONS_OF_TENSORS = 2
MOST_BANDWIDTH = 1e15  # beyond, grid points cannot be counted


class Grid(NamedTuple):
    """Spread data: coefficients (m, n₁, …) of weights, weighted targets and weighted inputs, and where they lie."""

    coefficients: Array  # as `nufft.transform` takes them
    spacing: Array  # h, per dimension
    center: Array | None  # None: zero
    bandwidth: np.ndarray  # the largest |ω| served, per dimension


@dataclass(frozen=True)
class Spectral:
    """Characteristic functions of some rows, from a grid that is built when first asked for and when outgrown.

    Parameters
    ----------
    rows : Rows
        Dense rows: of NumPy and at most three columns, or of torch and at most two. The grid lies where they do.
    max_bytes : float
        No grid larger than this is built.
    """

    rows: Rows
    max_bytes: float
    _grids: list[Grid] = field(default_factory=list, repr=False, compare=False)
    _measured: list[np.ndarray] = field(default_factory=list, repr=False, compare=False)

    def serves(self, frequencies: Array) -> bool:
        """Whether a grid for these frequencies stays within memory."""
        return self.needed_bytes(frequencies) <= self.max_bytes

    def needed_bytes(self, frequencies: Array) -> float:
        """What a grid for these frequencies takes."""
        return self._bytes(self._bandwidth(frequencies))

    def transform_seconds(self, frequencies: Array) -> float:
        """Roughly what the transforms of a grid for these frequencies cost at each solve, beside their points."""
        bandwidth = self._bandwidth(frequencies)
        if self._grids:  # one that is there is used as it is
            bandwidth = np.maximum(bandwidth, self._grids[0].bandwidth / HEADROOM)
        spreading = 4e-8 * len(self.rows) * WIDTH ** len(bandwidth) / USES
        is_new = compat.is_torch_array(self.rows.x) and not self._grids  # a GPU would do many steps in that time
        return nufft.fft_seconds(self._shape(HEADROOM * bandwidth), self.rows.x) + is_new * spreading

    @cached_property
    def still(self) -> Spectral:
        """The same grids, for frequencies taken to be as large as the last that were measured: none is read."""
        still = _Still(self.rows, self.max_bytes, self._grids, self._measured)
        vars(still)["_extent"] = self._extent  # known, so that the rows are not read either
        return still

    def covers(self, frequencies: Array) -> Any:
        """Whether the grid that is there is fine enough for these frequencies; the answer stays on their device."""
        xp = namespace(frequencies)
        return xp.all(2 * xp.abs(frequencies) * self._grids[0].spacing <= math.pi / OVERSAMPLING)

    def equations(self, frequencies: Array, features: Features) -> tuple[Array, Array]:
        """Matrix and right-hand side of the unknowns: what `features.system` makes of sums over the rows."""
        grid, xp = self._grid(frequencies), namespace(frequencies)
        n, q, total = frequencies.shape[0], self._n_targets, self.rows.total_weight
        differences = self._at(grid, _pairwise(frequencies, operator.sub), slice(0, 1))[0, :]
        moments = self._at(grid, frequencies, slice(1, 1 + q)).T
        if isinstance(features, ComplexExponentials):
            return _symmetric(n, xp.conj(differences), differences, total), xp.conj(moments)
        pairs = xp.concat((_pairwise(frequencies, operator.add), 2 * frequencies))
        sums = self._at(grid, pairs, slice(0, 1))[0, :]
        return _paired(n, differences, sums, total), xp.concat((moments.real, moments.imag))

    def slopes(self, frequencies: Array, amplitudes: Array, features: Features) -> Array:
        """Σₙ wₙ conj(rₙ) exp(iωₖ·xₙ) xₙ of the residuals r at the amplitudes, (q, d, K): the gradient's sums.

        For cosine-sine pairs r is real: half the amplitudes at differences, half at sums of frequencies.
        """
        grid, xp = self._grid(frequencies), namespace(frequencies)
        n, q, d = frequencies.shape[0], self._n_targets, frequencies.shape[1]
        inputs, products = slice(1 + q, 1 + q + d), slice(1 + q + d, 1 + q + d + q * d)
        amplitudes = xp.astype(amplitudes, xp.complex128, copy=False)

        def of_pairs(operation: Callable[..., Any], weights: Array) -> Array:
            pairs = xp.reshape(operation(frequencies[:, None, :], frequencies[None, :, :]), (-1, d))
            return xp.reshape(matmul(xp.reshape(self._at(grid, pairs, inputs), (d * n, n)), weights), (d, n, q))

        model = of_pairs(operator.sub, xp.conj(amplitudes))
        if not isinstance(features, ComplexExponentials):
            model = (model + of_pairs(operator.add, amplitudes)) / 2
        return xp.permute_dims(model, (2, 0, 1)) - xp.reshape(self._at(grid, frequencies, products), (q, d, n))

    @property
    def _n_targets(self) -> int:
        return 0 if self.rows.y is None else int(self.rows.y.shape[1])

    def _bandwidth(self, frequencies: Array) -> np.ndarray:
        self._measured[:] = [np.maximum(2 * np.max(np.abs(to_host(frequencies)), axis=0), 1e-3)]
        return self._measured[0]

    def _shape(self, bandwidth: np.ndarray) -> tuple[int, ...]:
        low, high = self._extent
        spacing = math.pi / (OVERSAMPLING * bandwidth)
        return tuple(2 * (math.ceil(extent / 2) + (WIDTH + 3) // 2) for extent in (high - low) / spacing)

    def _bytes(self, bandwidth: np.ndarray) -> float:
        if not np.all(bandwidth < MOST_BANDWIDTH):
            return math.inf
        d, q = len(bandwidth), self._n_targets
        return nufft.prepared_bytes(1 + q + d + q * d, self._shape(HEADROOM * bandwidth), self.rows.x)

    @cached_property
    def _extent(self) -> tuple[np.ndarray, np.ndarray]:
        """The box of the grid: about zero where the data nearly are, which saves a phase per point."""
        low, high = _extent(self.rows)
        reach = np.maximum(np.abs(low), np.abs(high))
        about_zero = 2 * reach <= 1.5 * (high - low)
        return np.where(about_zero, -reach, low), np.where(about_zero, reach, high)

    def _grid(self, frequencies: Array) -> Grid:
        needed = self._bandwidth(frequencies)
        if not self._grids or np.any(needed > self._grids[0].bandwidth):
            known = self._grids[0].bandwidth if self._grids else np.zeros_like(needed)
            self._grids[:] = [self._spread(np.where(needed > known, HEADROOM * needed, known))]
        return self._grids[0]

    def _spread(self, bandwidth: np.ndarray) -> Grid:
        x = to_host(self.rows.x).astype(np.float64, copy=False)
        low, high = self._extent
        center, spacing = (low + high) / 2, math.pi / (OVERSAMPLING * bandwidth)
        shape = self._shape(bandwidth)
        weight = np.ones(len(self.rows)) if self.rows.weight is None else to_host(self.rows.weight)
        y = np.zeros((len(self.rows), 0)) if self.rows.y is None else to_host(self.rows.y)
        columns = [weight, *(weight * y[:, c] for c in range(y.shape[1]))]
        columns += [column * x[:, j] for column in tuple(columns) for j in range(x.shape[1])]
        coefficients = nufft.prepared(spread((x - center) / spacing, columns, shape), self.rows.x)
        where = like(center, self.rows.x) if np.any(center) else None
        return Grid(coefficients, like(spacing, self.rows.x), where, bandwidth)

    def _at(self, grid: Grid, omega: Array, part: slice) -> Array:
        """Σₙ cₙ exp(iω·xₙ) of some of the grid's columns c, (m, n_points)."""
        theta = (omega * grid.spacing).T
        values = transform(theta, grid.coefficients[part])
        values /= math.prod((window_transform(axis) for axis in theta[1:]), start=window_transform(theta[0]))
        if grid.center is not None:
            values *= namespace(omega).exp(1j * (omega @ grid.center))
        return values


class _Still(Spectral):
    """See `Spectral.still`."""

    def _bandwidth(self, frequencies: Array) -> np.ndarray:
        return self._measured[0] if self._measured else super()._bandwidth(frequencies)


def applies(rows: Rows, features: Features) -> bool:
    """Whether the rows and features are of a kind that has a Fourier space."""
    x, kind = rows.x, isinstance(features, ComplexExponentials | CosineSine)
    able = isinstance(x, np.ndarray) or (compat.is_torch_array(x) and x.dtype == namespace(x).float64)
    return kind and able and x.ndim == 2 and int(x.shape[1]) <= most_dimensions(rows)


def is_offered(rows: Rows) -> bool:
    """Whether a Fourier space may be chosen unasked: where finufft is there, or where a GPU makes up for it."""
    return is_remote(rows.x) if compat.is_torch_array(rows.x) else is_installed()


def most_dimensions(rows: Rows) -> int:
    """The most columns of rows that have a Fourier space."""
    return MOST_DIMENSIONS_OF_TENSORS if compat.is_torch_array(rows.x) else MOST_DIMENSIONS


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
    """What `evaluate` takes: its grid grows like the product of the extents of points and frequencies.

    Tensors have no such transform: no memory is enough for them.
    """
    if compat.is_torch_array(rows.x):
        return math.inf
    low, high = _extent(rows)
    spans = (high - low) * (np.max(frequencies, axis=0) - np.min(frequencies, axis=0))
    sizes = (2 * OVERSAMPLING * float(span) / math.pi + 4 * WIDTH for span in spans)
    return 16.0 * OVERSAMPLING ** len(spans) * math.prod(sizes) + 64.0 * len(rows)


def _extent(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    x, xp = rows.x, namespace(rows.x)
    return to_host(xp.min(x, axis=0)).astype(np.float64), to_host(xp.max(x, axis=0)).astype(np.float64)


def _place(values: Array) -> tuple[Any, Any]:
    return namespace(values), compat.device(values)


@lru_cache(maxsize=4)
def _above(n: int, xp: Any, device: Any) -> Array:
    """Flat indices of an (n, n) matrix above its diagonal."""
    return xp.asarray(np.flatnonzero(np.triu(np.ones((n, n), dtype=bool), 1)), device=device)


@lru_cache(maxsize=4)
def _below(n: int, xp: Any, device: Any) -> Array:
    """Flat indices below the diagonal, in the order of their mirror images above it."""
    above = _above(n, xp, device)
    return above % n * n + above // n


def _pairwise(frequencies: Array, operation: Callable[..., Any]) -> Array:
    """Differences or sums of all pairs k < l, (n(n−1)/2, d)."""
    above = _above(frequencies.shape[0], *_place(frequencies))
    columns = [operation(axis[:, None], axis[None, :]).reshape(-1)[above] for axis in frequencies.T]
    return namespace(frequencies).stack(columns, axis=1) if len(columns) > 1 else columns[0][:, None]


def _symmetric(n: int, above: Array, below: Array, diagonal: Any) -> Array:
    xp, device = _place(above)
    matrix = xp.empty((n, n), dtype=above.dtype, device=device)
    flat = matrix.reshape(-1)
    flat[_above(n, xp, device)], flat[_below(n, xp, device)] = above, below
    flat[:: n + 1] = diagonal
    return matrix


def _paired(n: int, differences: Array, sums: Array, total: float) -> Array:
    """[CᵀC, CᵀD; DᵀC, DᵀD] of cosines C and sines D, by cos·cos = (cos(−) + cos(+))/2 and its like."""
    pairs, xp = n * (n - 1) // 2, namespace(sums)
    minus, plus, double = differences / 2, sums[:pairs] / 2, sums[pairs:]
    gram = xp.empty((2 * n, 2 * n), dtype=xp.float64, device=compat.device(sums))
    cosines, sines = plus.real + minus.real, minus.real - plus.real
    gram[:n, :n] = _symmetric(n, cosines, cosines, (total + double.real) / 2)
    gram[n:, n:] = _symmetric(n, sines, sines, (total - double.real) / 2)
    # cos a sin b = (sin(a + b) − sin(a − b))/2, and a − b changes sign across the diagonal.
    gram[:n, n:] = _symmetric(n, plus.imag - minus.imag, plus.imag + minus.imag, double.imag / 2)
    gram[n:, :n] = gram[:n, n:].T
    return gram
