"""Non-uniform FFTs of type 2, from a uniform grid to arbitrary points: finufft for NumPy, our own code for torch.

From coefficients bⱼ, j ∈ [−n/2, n/2)^d, the transform computes Σⱼ bⱼ exp(ij·θ). Both versions oversample the grid, take
an FFT, and interpolate with a window of W points per dimension. The torch version takes the FFT once, in `prepared`.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
from collections.abc import Callable
from typing import Any

import array_api_compat as compat
import numpy as np
from scipy.special import i0, i0e

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.arrays.threads import blas_threads

WIDTH = 15
"""Grid points under the window, per dimension."""

OVERSAMPLING = 2.0
"""How much finer a grid is than its bandwidth asks for."""

WINDOW_SHAPE = math.pi * WIDTH * (1 - 1 / (2 * OVERSAMPLING))
"""β of the Kaiser-Bessel window: the larger, the narrower it is."""

TOLERANCE = 1e-13
"""The relative error that finufft is asked for. For torch the error is that of the window."""

POINTS_AT_ONCE = 2**18
"""The points that the torch version interpolates at once; the grid values under their windows take 63 MB."""


def is_installed() -> bool:
    """Whether finufft (extra `nufft`) is installed."""
    return importlib.util.find_spec("finufft") is not None


def require() -> Any:
    """The module finufft, or an `ImportError` that names the extra."""
    try:
        import finufft
    except ImportError as error:
        raise ImportError("solver='spectral' needs finufft: pip install 'fourierwalk[nufft]'.") from error
    return finufft


def prepared(coefficients: np.ndarray, reference: Array) -> Array:
    """Real coefficients (m, n₁, …) as `transform` takes them, in the reference's library and on its device."""
    if not compat.is_torch_array(reference):
        return coefficients.astype(np.complex128)
    shape = (len(coefficients), *(_fine(n) + WIDTH - 1 for n in coefficients.shape[1:]))
    fine = reference.new_empty(shape, dtype=namespace(reference).complex128)
    for target, column in zip(fine, coefficients, strict=True):
        target[...] = _oversampled(like(column, reference))
    return fine


def prepared_bytes(n_arrays: int, shape: tuple[int, ...], reference: Array) -> float:
    """The bytes of prepared coefficients and of the transform's own arrays."""
    if compat.is_torch_array(reference):
        return 16.0 * (n_arrays + 4) * math.prod(float(_fine(n) + WIDTH - 1) for n in shape)
    return 16.0 * (n_arrays + 2 ** (len(shape) + 1)) * math.prod(float(n) for n in shape)


def fft_seconds(shape: tuple[int, ...], reference: Array) -> float:
    """The rough time of the FFT of one array in each transform, on one core; zero for torch, which takes it once."""
    if compat.is_torch_array(reference):
        return 0.0
    points = math.prod(float(n) for n in shape) * OVERSAMPLING ** len(shape)
    return 1.2e-9 * points * math.log2(points)


def transform(theta: Array, coefficients: Array, at_once: int = POINTS_AT_ONCE) -> Array:
    """Σⱼ bⱼ exp(ij·θ) at points θ (d, n), for each of m arrays of prepared coefficients, (m, n)."""
    if compat.is_torch_array(theta):
        n, height = theta.shape[1], max(1, at_once // max(1, coefficients.shape[0]))
        blocks = [_interpolated(theta[:, i : i + height], coefficients) for i in range(0, max(n, 1), height)]
        return blocks[0] if len(blocks) == 1 else namespace(theta).concat(blocks, axis=1)
    finufft = require()
    evaluate = (finufft.nufft1d2, finufft.nufft2d2, finufft.nufft3d2)[len(theta) - 1]
    threads = 1 if theta.shape[1] < 20_000 else blas_threads()
    axes, coefficients = np.ascontiguousarray(theta), np.ascontiguousarray(coefficients)
    return evaluate(*axes, coefficients, eps=TOLERANCE, isign=1, nthreads=threads).reshape(len(coefficients), -1)


def evaluate(x: np.ndarray, frequencies: np.ndarray, amplitudes: np.ndarray, tolerance: float) -> np.ndarray:
    """Σₖ βₖ exp(iωₖ·xₙ), (n, q): a type-3 transform from frequencies to points."""
    finufft = require()
    kind: Callable[..., Any] = (finufft.nufft1d3, finufft.nufft2d3, finufft.nufft3d3)[x.shape[1] - 1]
    sources = [np.ascontiguousarray(column) for column in frequencies.T]
    targets = [np.ascontiguousarray(column) for column in x.T]
    strengths = np.ascontiguousarray(amplitudes.T.astype(np.complex128))
    values = kind(*sources, strengths, *targets, eps=tolerance, isign=1, nthreads=blas_threads())
    return values.reshape(amplitudes.shape[1], -1).T


def evaluation_bytes(x: Array, frequencies: np.ndarray) -> float:
    """The bytes that `evaluate` needs. Its grid grows like the product of the extents of points and frequencies.

    Infinite for torch tensors, which have no such transform.
    """
    if compat.is_torch_array(x):
        return math.inf
    extent = x.max(axis=0).astype(np.float64) - x.min(axis=0).astype(np.float64)
    spans = extent * (np.max(frequencies, axis=0) - np.min(frequencies, axis=0))
    sizes = (2 * OVERSAMPLING * float(span) / math.pi + 4 * WIDTH for span in spans)
    return 16.0 * OVERSAMPLING ** len(spans) * math.prod(sizes) + 64.0 * len(x)


def window(t: Array) -> Array:
    """The Kaiser-Bessel window I₀(β √(1 − (2t/W)²)) / I₀(β)."""
    inside = 1 - (2 * t / WIDTH) ** 2
    if compat.is_torch_array(t):
        import torch

        return torch.special.i0(WINDOW_SHAPE * torch.sqrt(torch.clamp(inside, min=0))) / float(i0(WINDOW_SHAPE))
    return i0(WINDOW_SHAPE * np.sqrt(np.maximum(inside, 0))) / i0(WINDOW_SHAPE)


def window_transform(theta: Array) -> Array:
    """∫ψ(t) exp(iθt) dt = W sinh(z)/(z I₀(β)), z = √(β² − (Wθ/2)²); for |θ| ≤ π/2 sinh z is exp(z)/2 to 1e-28."""
    xp = namespace(theta)
    z = xp.sqrt(WINDOW_SHAPE**2 - (WIDTH / 2) ** 2 * theta**2)
    return xp.exp(z - WINDOW_SHAPE) * (WIDTH / (2 * float(i0e(WINDOW_SHAPE)))) / z


def _fine(n: int) -> int:
    return int(OVERSAMPLING * n)


def _oversampled(column: Any) -> Any:
    """Σⱼ bⱼ/ψ̂(2πj/2n) exp(ij·θ) at θ = 2πl/2n. The first W − 1 points are repeated, so that no window wraps around."""
    import torch

    for axis, n in enumerate(column.shape):
        fine, first = _fine(n), -(n // 2)
        points, along = np.arange(fine + WIDTH - 1) % fine, (-1, *[1] * (column.ndim - 1 - axis))
        share = like(window_transform(2 * math.pi / fine * (first + np.arange(n))), column).reshape(along)
        values = torch.fft.ifft(column / share, n=fine, dim=axis, norm="forward")
        turns = np.exp(2j * math.pi / fine * (first * points % fine))  # the FFT counts j from 0, not from −n/2
        column = torch.index_select(values, axis, like(points, column)) * like(turns, column).reshape(along)
    return column


def _interpolated(theta: Any, coefficients: Any) -> Any:
    """Σₗ Fₗ ψ(θ·2n/2π − l) of oversampled values F, (m, n); the points under a window lie side by side on one axis."""
    import torch

    windows = coefficients.unfold(-1, WIDTH, 1)
    steps = torch.arange(WIDTH, dtype=theta.dtype, device=theta.device)
    firsts, shares = [], []
    for axis, size in zip(theta, coefficients.shape[1:], strict=True):
        fine = size - WIDTH + 1
        position = axis * (fine / (2 * math.pi))
        first = torch.ceil(position - WIDTH / 2)
        shares.append(window((first - position)[:, None] + steps))
        firsts.append(torch.remainder(first.to(torch.int64), fine))  # an index, whatever θ is: inf and NaN too
    total: Any = 0.0
    for offsets in itertools.product(range(WIDTH), repeat=len(theta) - 1):
        index = [first + offset for first, offset in zip(firsts, (*offsets, 0), strict=True)]
        under = windows[(slice(None), *index)]
        for share, offset in zip(shares, offsets, strict=False):
            under *= share[:, offset, None]
        total = total + under
    return torch.sum(total * shares[-1], dim=-1)
