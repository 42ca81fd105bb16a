"""Factorisations of symmetric and Hermitian matrices, and solutions of linear equations, in every array library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg

from fourierwalk.arrays.complexes import adjoint, real_part
from fourierwalk.arrays.library import Array, all_true, is_remote, namespace


def shifted(matrix: Array, ridge: Any) -> Array:
    """A copy of the matrix with the ridge added to its diagonal."""
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
    """The lower Cholesky factor, or None if the matrix is not safely positive definite."""
    factor, is_safe = factorised(matrix)
    return factor if all_true(is_safe) else None


def solved(matrix: Array, ridge: float, right_hand_side: Array, unit: float = 2.0**-53) -> tuple[Array, Any]:
    """The solution of ``(A + ridge) z = b``, and whether A + ridge is safely positive definite.

    The host does not wait for a device. For torch on a GPU the bordered matrix [A + ridge, b; bᴴ, c] is factorised: the
    last rows of its factor solve L h = b, which saves a slow substitution. With c above bᴴb/ridge the bordered matrix
    is positive definite if A + ridge is. `unit` is the relative rounding error of the entries of A, if it is larger
    than that of their type.
    """
    margin = max(1.0, 2.0 * unit / float(namespace(matrix).finfo(matrix.dtype).eps))
    if not is_remote(matrix) or not compat.is_torch_array(matrix) or not ridge > 0:
        factor, is_safe = factorised(shifted(matrix, ridge), margin)
        return cholesky_solve(factor, right_hand_side), is_safe
    return _by_border(matrix, ridge, right_hand_side, margin)


def _by_border(
    matrix: Any, ridge: float, right_hand_side: Any, margin: float = 1.0, blocks_from: int | None = None
) -> tuple[Any, Any]:
    """`solved` for torch tensors, by the factor of the bordered matrix; by blocks from so many unknowns on."""
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
    if n < (BLOCKS_FROM if blocks_from is None else blocks_from):
        return torch.linalg.solve_triangular(adjoint(corner), half, upper=True), _is_safe(corner, failed, margin)
    return _upwards(corner, half, _corners(corner)), _is_safe(corner, failed, margin)


def factorised(matrix: Array, margin: float = 1.0) -> tuple[Array, Any]:
    """The lower Cholesky factor, and whether the matrix is safely positive definite; the host does not wait.

    Only the lower triangle of the factor may be read. A NumPy matrix is overwritten: its transpose is in LAPACK's
    order, and Aᵀ = UᴴU means A = LLᴴ with L = Uᵀ, so nothing is copied. With ``margin=0``
    every matrix that has a factor counts as safe.
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
    pivots = pivots * xp.abs(pivots)  # squares that keep the sign: some libraries fail silently, with negative pivots
    least = xp.max(pivots, axis=-1) * (margin * factor.shape[-1] * float(xp.finfo(factor.dtype).eps))
    return (xp.min(pivots, axis=-1) > least) & (failed == 0)  # False for NaN too


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Ascending eigenvalues and eigenvectors of a symmetric or Hermitian matrix."""
    if compat.is_numpy_array(matrix):
        return scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
    return namespace(matrix).linalg.eigh(matrix)


def significant(values: Array) -> int:
    """The index of the first of the ascending eigenvalues that is larger than rounding errors."""
    xp = namespace(values)
    n = values.shape[0]
    threshold = float(values[n - 1]) * n * float(np.finfo(np.float64).eps)
    return min(int(xp.sum(xp.astype(values <= threshold, xp.int64))), n - 1)


def divisor_of(values: Array) -> Array:
    """The values as divisors: one in place of those that are not positive. What is divided by these is zero."""
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
"""The least number of unknowns for which a GPU solves a triangular system faster by blocks."""

CORNER_UNKNOWNS = 512
"""The unknowns of a block on the diagonal. A GPU applies its inverse faster than it substitutes one by one."""


def _substituted(factor: Any, right_hand_side: Any) -> Any:
    """`cholesky_solve` for torch tensors by blocks: inverses of the blocks on the diagonal, products with the rest."""
    corners, half = _corners(factor), right_hand_side.clone()
    for corner, part in corners:
        if part.start:
            half[..., part, :] -= factor[..., part, : part.start] @ half[..., : part.start, :]
        half[..., part, :] = corner @ half[..., part, :]
    return _upwards(factor, half, corners)


def _upwards(factor: Any, half: Any, corners: Sequence[tuple[Any, slice]]) -> Any:
    """Solve ``Lᴴ z = h`` by blocks, from the last to the first."""
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
