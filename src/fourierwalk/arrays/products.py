"""Products of large matrices: by SciPy's BLAS on a CPU; by tiles of one triangle, in any precision, on a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg

from fourierwalk.arrays.complexes import adjoint, transposed
from fourierwalk.arrays.cosines import PHASES_PER_SLICE
from fourierwalk.arrays.library import Array, float64, is_remote, namespace
from fourierwalk.arrays.threads import blas_threads, in_threads

PRECISIONS = ("bf16", "tf32", "single", "double")
"""From the lowest to the highest. A solve that cannot be trusted is repeated in the next one."""

UNITS = {"bf16": 2.0**-9, "tf32": 2.0**-11, "single": 2.0**-24, "double": 2.0**-53}
"""The rounding error of the columns' entries, which are at most one, in products."""

LEAST_PANEL_WIDTH = 512
"""The least number of columns in a panel of a Gram matrix; fewer would not keep a GPU busy."""

MOST_PANELS = 16
"""The most panels of a Gram matrix. With n panels, one triangle is (n + 1)/2n of the work."""


def products(
    columns: Array, values: Array, precision: str = "double", parts: Parts | None = None
) -> tuple[Array, Array]:
    """``ΦᴴΦ`` and ``Φᴴy``; with leading axes, for each matrix. `parts` are the 16-bit parts of y, for bf16.

    NumPy arrays are multiplied by SciPy's BLAS, because SciPy's LAPACK comes next. NumPy has a BLAS of its own. Its
    threads keep spinning for some 25 ms after a product, and take the cores from the factorisation: on two cores that
    took twice the time.
    """
    if compat.is_torch_array(columns):
        return _by_tiles(columns, precision), _moment(columns, values, precision, parts)
    values = namespace(columns).astype(values, columns.dtype, copy=False)
    if not compat.is_numpy_array(columns) or columns.size < PHASES_PER_SLICE or columns.ndim > 2:
        return adjoint(columns) @ columns, adjoint(columns) @ values
    is_complex = columns.dtype.kind == "c"
    update = scipy.linalg.get_blas_funcs("herk" if is_complex else "syrk", (columns,))
    gram = update(1.0, columns.T, lower=0).T  # the transposes are in BLAS's own order: nothing is copied
    moment = matmul(columns.T, np.conj(values) if is_complex else values)
    return _mirrored(gram), np.conj(moment) if is_complex else moment


def matmul(a: Array, b: Array) -> Array:
    """``ab``; large NumPy arrays are multiplied by SciPy's BLAS, as in `products`."""
    if not compat.is_numpy_array(a) or a.size < PHASES_PER_SLICE or not compat.is_numpy_array(b) or a.ndim > 2:
        return a @ b
    multiply, one = scipy.linalg.get_blas_funcs(("gemm", "gemv"), (a, b))
    left, left_flip = _stored(a)
    if b.shape[1] == 1:
        return one(1.0, left, b[:, 0], trans=left_flip)[:, None]
    right, right_flip = _stored(b)
    # (ab)ᵀ = bᵀaᵀ, whose transpose is in NumPy's order.
    return multiply(1.0, right, left, trans_a=1 - right_flip, trans_b=1 - left_flip).T


def outer_gram(matrix: Array) -> Array:
    """``SSᴴ``; for real torch tensors one triangle is computed and copied."""
    if compat.is_torch_array(matrix) and not matrix.is_complex():
        return _by_tiles(transposed(matrix), "double")
    return matmul(matrix, adjoint(matrix))


class Parts:
    """Numbers as sums of 16-bit numbers, side by side in a tensor that is made at the first use and kept."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def value(self) -> Any:
        """The tensor."""
        return self._make()

    def part(self, part: slice) -> Parts:
        """Some of the rows."""
        return Parts(lambda: self.value[..., part, :])

    @classmethod
    def of_inputs(cls, x: Any) -> Parts | None:
        """Inputs x = a + b as [a | a | b]; None unless they are torch tensors on a GPU."""

        def made() -> Any:
            a, b = _parts(x, 2)
            return _side_by_side((a, a, b))

        return cls(made) if _is_torch_on_gpu(x) else None

    @classmethod
    def of_targets(cls, y: Any) -> Parts | None:
        """Targets y = a + b + c as [a | b | c]; None unless they are torch tensors on a GPU."""
        return cls(lambda: _side_by_side(_parts(y, 3))) if _is_torch_on_gpu(y) else None


def _is_torch_on_gpu(values: Any) -> bool:
    return is_remote(values) and compat.is_torch_array(values)


def phases(x: Array, vectors: Array, precision: str = "double", halves: Parts | None = None) -> Array:
    """The phases ``xωᵀ``, in double precision; for "bf16" on a GPU from 16-bit halves, to 2e-5 of |x||ω|.

    With halves x = a + b and ω = c + d, the product is ac + ad + bc; bd, about a 65,000th of it, is left out. Torch
    phases are stored transposed: those of one frequency are contiguous, as tensor cores need the columns to be.
    """
    halves = halves or Parts.of_inputs(x)
    if precision == "bf16" and halves is not None:
        c, d = _parts(vectors, 2)
        return transposed(_rounded_product(_side_by_side((c, d, c)), transposed(halves.value)))
    if compat.is_torch_array(x):
        return transposed(vectors @ transposed(float64(x)))
    return matmul(float64(x), transposed(vectors))


def _parts(values: Any, n: int) -> list[Any]:
    """The values as a sum of n bf16 tensors, each the next eight bits."""
    import torch

    left, parts = values.to(torch.float32), []
    for _ in range(n):
        parts.append(left.to(torch.bfloat16))
        left = left - parts[-1]
    return parts


def _side_by_side(parts: Sequence[Any]) -> Any:
    """The parts side by side, with zeros up to a multiple of eight columns, as tensor cores need it."""
    import torch

    width = sum(part.shape[-1] for part in parts)
    rest = parts[0].new_zeros((*parts[0].shape[:-1], -width % 8))
    return torch.cat((*parts, rest), -1)


def _moment(columns: Any, values: Any, precision: str, parts: Parts | None = None) -> Any:
    """``Φᵀy`` of torch tensors, in single precision at least; bf16 columns are multiplied by three parts of y."""
    if precision != "bf16":
        return product(transposed(columns), values.to(columns.dtype), "single")
    thirds = _side_by_side(_parts(values, 3)) if parts is None else parts.value
    by_thirds = _rounded_product(transposed(_rounded(columns)), thirds)
    return by_thirds[..., : 3 * values.shape[-1]].unflatten(-1, (3, -1)).sum(-2)


def _rounded(columns: Any) -> Any:
    import torch

    return columns.to(torch.bfloat16)


def _stored(matrix: np.ndarray) -> tuple[np.ndarray, int]:
    """The matrix in BLAS's order, and whether that is its transpose."""
    return (matrix, 0) if matrix.flags.f_contiguous else (np.ascontiguousarray(matrix).T, 1)


def _mirrored(matrix: np.ndarray, width: int = 64) -> np.ndarray:
    """Complete a Hermitian matrix in place from its lower triangle."""

    def complete(rows: range) -> None:
        for start in range(rows.start * width, min(rows.stop * width, matrix.shape[0]), width):
            part = slice(start, start + width)
            matrix[:start, part] = np.conj(matrix[part, :start]).T if is_complex else matrix[part, :start].T
            corner = matrix[part, part]
            corner += np.conj(np.tril(corner, -1)).T

    is_complex = matrix.dtype.kind == "c"
    n, n_threads = -(-matrix.shape[0] // width), blas_threads()
    bounds = [round(n * math.sqrt(i / n_threads)) for i in range(n_threads + 1)]  # of equal areas
    in_threads(complete, bounds, n >= 16)
    return matrix


def _by_tiles(columns: Any, precision: str) -> Any:
    """``ΦᵀΦ`` of a torch tensor: panels of the lower triangle, copied to the upper one."""
    import torch

    width = columns.shape[-1]
    rounded = _rounded(columns) if precision == "bf16" else columns
    n_panels = min(width // LEAST_PANEL_WIDTH, MOST_PANELS)
    if n_panels < 2:
        return product(transposed(rounded), rounded, precision)
    kind = torch.float32 if precision == "bf16" else columns.dtype
    gram = columns.new_empty((*columns.shape[:-2], width, width), dtype=kind)
    height = -(-width // (128 * n_panels)) * 128
    for start in range(0, width, height):
        stop = min(start + height, width)
        panel = product(transposed(rounded[..., start:stop]), rounded[..., :stop], precision)
        gram[..., start:stop, :stop] = panel
        gram[..., :start, start:stop] = transposed(panel[..., :start])
    return gram


def product(a: Any, b: Any, precision: str) -> Any:
    """The product of two torch tensors in a precision; for "bf16" they are bf16 tensors."""
    if precision == "bf16":
        return _rounded_product(a, b)
    with _float_products(precision):
        return a @ b


def _rounded_product(a: Any, b: Any) -> Any:
    """The product of two bf16 tensors, summed and returned in single precision."""
    import torch

    if a.device.type != "cuda" or not _has_out_dtype():
        return a.to(torch.float32) @ b.to(torch.float32)
    return (torch.mm if a.ndim == 2 else torch.bmm)(a, b, out_dtype=torch.float32)


@cache
def _has_out_dtype() -> bool:
    """Whether torch multiplies bf16 tensors with a result in single precision: from 2.8 on."""
    import torch

    return tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 8)


@contextmanager
def _float_products(precision: str) -> Iterator[None]:
    """A context in which single precision products use tf32 for "tf32", and do not otherwise; then as before."""
    import torch

    backend, name = torch.backends.cuda.matmul, "fp32_precision"
    wanted: Any = "tf32" if precision == "tf32" else "ieee"
    if not hasattr(backend, name):  # before torch 2.9
        name, wanted = "allow_tf32", precision == "tf32"
    before = getattr(backend, name)
    setattr(backend, name, wanted)
    try:
        yield
    finally:
        setattr(backend, name, before)
