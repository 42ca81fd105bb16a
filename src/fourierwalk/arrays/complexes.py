"""Complex numbers and conjugate transposes; most functions take real arrays too."""

from __future__ import annotations

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import Array, namespace


def complex_of(real: Array, imaginary: Array) -> Array:
    """``real + i·imaginary``."""
    xp = namespace(real)
    dtype = xp.complex64 if real.dtype == xp.float32 else xp.complex128
    if compat.is_numpy_array(real):
        values = np.empty(real.shape, dtype)
        values.real, values.imag = real, imaginary
        return values
    if compat.is_torch_array(real):
        import torch

        return torch.complex(real, imaginary)
    return xp.astype(real, dtype) + 1j * xp.astype(imaginary, dtype)


def hermitian(gram: Array) -> Array:
    """SᴴS = (CᵀC + DᵀD) + i(CᵀD − DᵀC) from the Gram matrix of the real columns [C | D], S = C + iD."""
    n = gram.shape[-1] // 2
    cosines, sines, mixed, turned = gram[..., :n, :n], gram[..., n:, n:], gram[..., :n, n:], gram[..., n:, :n]
    if not compat.is_numpy_array(gram):
        return complex_of(cosines + sines, mixed - turned)
    matrix = np.empty(cosines.shape, np.complex64 if gram.dtype == np.float32 else np.complex128)
    np.add(cosines, sines, out=matrix.real)
    np.subtract(mixed, turned, out=matrix.imag)
    return matrix


def real_part(values: Array) -> Array:
    """The real part; real values are returned as they are."""
    xp = namespace(values)
    return xp.real(values) if xp.isdtype(values.dtype, "complex floating") else values


def adjoint(matrix: Array) -> Array:
    """The conjugate transpose."""
    xp = namespace(matrix)
    return transposed(xp.conj(matrix) if xp.isdtype(matrix.dtype, "complex floating") else matrix)


def squared_modulus(values: Array) -> Array:
    """``|values|²``, elementwise."""
    xp = namespace(values)
    if xp.isdtype(values.dtype, "complex floating"):
        return xp.real(values) ** 2 + xp.imag(values) ** 2
    return values**2


def transposed(matrix: Array) -> Array:
    """The transpose; with leading axes, of each matrix."""
    return matrix.T if matrix.ndim == 2 else namespace(matrix).matrix_transpose(matrix)
