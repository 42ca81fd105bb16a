"""Symmetric and Hermitian matrices factorised, and equations solved by their factors, in every array library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg

from fourierwalk.arrays.complexes import adjoint, real_part
from fourierwalk.arrays.library import Array, all_true, is_remote, namespace


def shifted(matrix: Array, ridge: Any) -> Array:
    """The matrix with the ridge added to its diagonal; the matrix itself stays."""
    if compat.is_numpy_array(matrix) and matrix.ndim == 2:
        copy = matrix.copy(order="C")
        copy.reshape(-1)[:: matrix.shape[0] + 1] += ridge
        return copy
    if compat.is_torch_array(matrix):
        tensor = matrix.clone()
        tensor.diagonal(dim1=-2, dim2=-1).add_(ridge)
        return tensor
    xp = namespace(matrix)
    return matrix + ridge * xp.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def cholesky(matrix: Array) -> Array | None:
    """The lower Cholesky factor, or None where the matrix is not safely positive definite."""
    factor, is_safe = factorised(matrix)
    return factor if all_true(is_safe) else None


def solved(matrix: Array, ridge: float, right_hand_side: Array, unit: float = 2.0**-53) -> tuple[Array, Any]:
    """The solution of ``(A + ridge) z = b``, and whether A + ridge is safely positive definite; nobody waits.

    On a GPU of torch the factor of [A + ridge, b; bᴴ, c] is taken, whose last rows are the solution of L z = b: with c
    above bᴴb/ridge it is as positive as A + ridge is, and a slow substitution is saved. `unit` is the relative rounding
    of A's entries, where that is more than what their type says.
    """
    margin = max(1.0, 2.0 * unit / float(namespace(matrix).finfo(matrix.dtype).eps))
    if not is_remote(matrix) or not compat.is_torch_array(matrix) or not ridge > 0:
        factor, is_safe = factorised(shifted(matrix, ridge), margin)
        return cholesky_solve(factor, right_hand_side), is_safe
    return _by_border(matrix, ridge, right_hand_side, margin)


def _by_border(matrix: Any, ridge: float, right_hand_side: Any, margin: float = 1.0) -> tuple[Any, Any]:
    """`solved` of torch tensors."""
    import torch

    n, q = right_hand_side.shape[-2:]
    bordered = matrix.new_zeros((*matrix.shape[:-2], n + q, n + q))
    bordered[..., :n, :n] = matrix
    bordered[..., n:, :n] = adjoint(right_hand_side)
    bordered.diagonal(dim1=-2, dim2=-1)[..., :n] += ridge
    bound = torch.linalg.vector_norm(right_hand_side, dim=(-2, -1)) ** 2 * (2.0 / ridge) + 1.0
    bordered.diagonal(dim1=-2, dim2=-1)[..., n:] = bound[..., None]
    factor, failed = torch.linalg.cholesky_ex(bordered)
    corner, half = factor[..., :n, :n], adjoint(factor[..., n:, :n])
    if n < BLOCKS_FROM:
        return torch.linalg.solve_triangular(adjoint(corner), half, upper=True), _is_safe(corner, failed, margin)
    return _upwards(corner, half, _corners(corner)), _is_safe(corner, failed, margin)


def factorised(matrix: Array, margin: float = 1.0) -> tuple[Array, Any]:
    """The lower Cholesky factor, and whether the matrix is safely positive definite; nothing waits for a device.

    Only the lower triangle of the factor is meant to be read. A NumPy matrix is used up: its transpose is in LAPACK's
    own order, and Aᵀ = UᴴU is A = LLᴴ with L = Uᵀ, so that nothing is copied. Without a `margin` any factor will do.
    """
    xp, failed = namespace(matrix), False
    if compat.is_numpy_array(matrix) and matrix.ndim == 2:
        factorise = scipy.linalg.get_lapack_funcs("potrf", (matrix,))
        upper, failed = factorise(matrix.T, lower=0, overwrite_a=1, clean=0)
        factor = upper.T
    elif compat.is_torch_array(matrix):
        import torch

        factor, failed = torch.linalg.cholesky_ex(matrix)
    else:
        try:
            factor = xp.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return shifted(0 * matrix, 1.0), False
    return factor, _is_safe(factor, failed, margin)


def _is_safe(factor: Array, failed: Any, margin: float) -> Any:
    xp = namespace(factor)
    pivots = real_part(xp.linalg.diagonal(factor))
    pivots = pivots * xp.abs(pivots)  # negative ones, where a library has not told that it failed, stay so
    least = xp.max(pivots, axis=-1) * (margin * factor.shape[-1] * float(xp.finfo(factor.dtype).eps))
    return (xp.min(pivots, axis=-1) > least) & (failed == 0)  # False for NaN too


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Ascending eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    if compat.is_numpy_array(matrix):
        return scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    return namespace(matrix).linalg.eigh(matrix)


def significant(values: Array) -> int:
    """The index of the first of the ascending eigenvalues that is more than rounding."""
    xp = namespace(values)
    n = values.shape[0]
    threshold = float(values[n - 1]) * n * float(np.finfo(np.float64).eps)
    return min(int(xp.sum(xp.astype(values <= threshold, xp.int64))), n - 1)


def divisor_of(values: Array) -> Array:
    """The values, one where they are not positive: where all columns are zero, so are the projections on them."""
    xp = namespace(values)
    return xp.where(values > 0, values, xp.ones_like(values))


def cholesky_solve(factor: Array, right_hand_side: Array) -> Array:
    """Solve ``L Lᴴ z = b`` from the lower factor."""
    if compat.is_numpy_array(factor) and factor.ndim == 2:
        substitute = scipy.linalg.get_lapack_funcs("potrs", (factor, right_hand_side))
        return np.conj(substitute(factor.T, np.conj(right_hand_side), lower=0)[0])  # of Aᵀ, the conjugate of A
    if compat.is_torch_array(factor):
        import torch

        if is_remote(factor) and factor.shape[-1] >= BLOCKS_FROM:
            return _substituted(factor, right_hand_side)
        return torch.cholesky_solve(right_hand_side, factor)
    if compat.is_cupy_array(factor):
        from cupyx.scipy.linalg import solve_triangular

        half = solve_triangular(factor, right_hand_side, lower=True)
        return solve_triangular(factor, half, lower=True, trans="C")
    solve = namespace(factor).linalg.solve
    return solve(adjoint(factor), solve(factor, right_hand_side))


BLOCKS_FROM = 4096
"""Unknowns from which on a GPU is faster with blocks of a triangle than with the triangle."""

CORNER_UNKNOWNS = 512
"""Unknowns that a GPU solves for at once, by a triangle's inverse; one after the other they would take it longer."""


def _substituted(factor: Any, right_hand_side: Any) -> Any:
    """`cholesky_solve` of torch tensors by blocks: inverses of the factor's corners, and products with the rest."""
    corners, half = _corners(factor), right_hand_side.clone()
    for corner, part in corners:
        if part.start:
            half[..., part, :] -= factor[..., part, : part.start] @ half[..., : part.start, :]
        half[..., part, :] = corner @ half[..., part, :]
    return _upwards(factor, half, corners)


def _upwards(factor: Any, half: Any, corners: Sequence[tuple[Any, slice]]) -> Any:
    """Solve ``Lᴴ z = h``."""
    z = half.clone()
    for corner, part in reversed(corners):
        if part.stop < factor.shape[-1]:
            z[..., part, :] -= adjoint(factor[..., part.stop :, part]) @ z[..., part.stop :, :]
        z[..., part, :] = adjoint(corner) @ z[..., part, :]
    return z


def _corners(factor: Any) -> list[tuple[Any, slice]]:
    """The inverses of the blocks on the diagonal of a lower triangle, and where they are."""
    import torch

    n = factor.shape[-1]
    parts = [slice(start, min(start + CORNER_UNKNOWNS, n)) for start in range(0, n, CORNER_UNKNOWNS)]
    one = torch.eye(min(n, CORNER_UNKNOWNS), dtype=factor.dtype, device=factor.device)
    whole = [part for part in parts if part.stop - part.start == one.shape[0]]
    stacked = torch.stack([factor[..., part, part] for part in whole])
    inverses = list(torch.linalg.solve_triangular(stacked, one, upper=False))
    for part in parts[len(whole) :]:
        last = factor[..., part, part]
        inverses.append(torch.linalg.solve_triangular(last, one[: last.shape[-1], : last.shape[-1]], upper=False))
    return list(zip(inverses, parts, strict=True))
