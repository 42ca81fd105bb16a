"""The columns cos φ and sin φ: the most expensive elementwise work of a fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.complexes import transposed
from fourierwalk.arrays.library import Array, is_remote, namespace
from fourierwalk.arrays.threads import blas_threads, in_threads


def cos_sin(
    phases: Callable[[slice], Array], shape: tuple[int, int], precision: str = "double", interleaved: bool = False
) -> Array:
    """The columns ``[cos φ | sin φ]``, (n, 2K).

    Below double precision they are in single precision; for "bf16" torch tensors are in bf16. `interleaved` is for
    NumPy in single precision only: the columns are then complex, exp(iφ), (n, K).

    `phases` gives the phases of a slice of rows when they are needed. For "single" and "tf32" phases are in turns of
    2π; whole turns are subtracted before they are rounded to single precision. Short NumPy phases come in single
    precision and in radians already.

    In double precision NumPy's tangent is vectorised, but its sine and cosine are not. One tangent of the half angle
    gives both, to 3e-16, in a seventh of the time. Slices that fit in the cache are filled by as many threads as BLAS
    may use.
    """
    n_rows, n_frequencies = shape
    single = precision != "double"
    height = max(1, PHASES_PER_SLICE // max(1, n_frequencies))
    first = phases(slice(0, min(height, n_rows)))
    if not compat.is_numpy_array(first) or first.ndim > 2:
        return _cos_sin_elsewhere(phases(slice(0, n_rows)), precision)
    if single and interleaved:
        columns: Any = np.empty(shape, dtype=np.complex64)
        cosines, sines = columns.real, columns.imag
    else:
        columns = np.empty((n_rows, 2 * n_frequencies), dtype=np.float32 if single else first.dtype)
        cosines, sines = columns[:, :n_frequencies], columns[:, n_frequencies:]
    fill_part = _fill_single if single else _fill_double

    def fill(rows: range) -> None:
        for start in range(rows.start, rows.stop, height):
            part = slice(start, min(start + height, rows.stop))
            fill_part(phases(part), cosines[part], sines[part])

    in_threads(fill, [n_rows * i // blas_threads() for i in range(blas_threads() + 1)], n_rows > 8 * height)
    return columns


def _cos_sin_elsewhere(phases: Array, precision: str) -> Array:
    xp = namespace(phases)
    if precision in ("single", "tf32"):
        phases = xp.astype(phases - xp.round(phases), xp.float32, copy=False)
        phases *= 2 * np.pi
    if not compat.is_torch_array(phases):
        return xp.concat((xp.cos(phases), xp.sin(phases)), axis=-1)
    import torch

    n = phases.shape[-1]
    kind = torch.bfloat16 if precision == "bf16" else phases.dtype
    # Memory traffic is what takes time on a GPU, so columns are filled in place, in the memory order of the phases, and
    # rounded as they are written. Each column starts at a multiple of eight numbers: tensor cores need this for speed.
    n_rows = phases.shape[-2]
    store = phases.new_empty((*phases.shape[:-2], 2 * n, n_rows + -n_rows % 8), dtype=kind)
    columns = transposed(store[..., :n_rows])
    if precision == "bf16" and is_remote(phases) and phases.numel() >= WORTH_A_KERNEL:
        from fourierwalk.arrays import kernels

        if kernels.cos_sin(phases, store):
            return columns
    torch.cos(phases, out=columns[..., :n])
    torch.sin(phases, out=columns[..., n:])
    return columns


PHASES_PER_SLICE = 2**15
"""The number of phases in a slice, chosen so that a slice stays in the cache."""


WORTH_A_KERNEL = 2**22
"""The least number of phases for which our own kernel, compiled at the first use, is worth its time."""


def _fill_single(phases: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
    if phases.dtype != np.float32:
        phases = (phases - np.rint(phases)).astype(np.float32)
        phases *= np.float32(2 * np.pi)
    np.cos(phases, out=cosine)
    np.sin(phases, out=sine)


def _fill_double(phases: np.ndarray, cosine: np.ndarray, sine: np.ndarray) -> None:
    half = 0.5 * phases
    tangent = np.tan(half, out=half)
    np.multiply(tangent, tangent, out=cosine)
    cosine += 1
    np.divide(2, cosine, out=cosine)
    np.multiply(tangent, cosine, out=sine)
    cosine -= 1
