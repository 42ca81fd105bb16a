"""The posterior of the amplitudes at given frequencies: how uncertain the value of a member is, at unit noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import array_api_compat as compat
import numpy as np
import scipy.linalg

from fourierwalk.arrays.complexes import adjoint, real_part
from fourierwalk.arrays.factorisation import cholesky, divisor_of, eigh, shifted, significant
from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.arrays.products import matmul
from fourierwalk.data.features import Features
from fourierwalk.files.fields import Fields
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.system import System

ROUNDING = 1e-2
"""Factors are kept in single precision if that changes no standard deviation by more than this share of the noise."""

MOST_COLUMNS = 8192
"""Members with more columns keep no factor: it would be larger than half a gigabyte."""


MOST_PANELS, LEAST_HEIGHT = 8, 32
"""A triangle is multiplied in at most this many panels, each of at least this many rows."""


@dataclass(frozen=True)
class Posterior:
    """The variance of each member's value, for noise of variance one.

    A ridge is a Gaussian prior: at given frequencies the amplitudes are normal, with the covariance
    σ²(SᴴWS + λN)⁻¹. With L Lᴴ = SᴴWS + λN, a member's value at x has the variance σ²|L⁻¹ s(x)|².

    Parameters
    ----------
    factors : tuple of arrays, each of shape (r, n_columns · K of the member)
        L⁻¹ of each member, as a real matrix that multiplies the real columns of the features.

    Examples
    --------
    >>> import numpy as np
    >>> Posterior((np.eye(2) / 10,)).variance(0, np.array([[3.0, 4.0]]))
    array([0.25])
    """

    factors: tuple[np.ndarray, ...]

    def variance(self, member: int, columns: Array) -> Array:
        """The variance of the member's value, (n,), from the columns of its features, (n, n_columns · K).

        It is computed in the precision of the columns.
        """
        xp, total = namespace(columns), 0.0
        factor = xp.astype(like(self.factors[member], columns), columns.dtype, copy=False)
        for rows, width in self._panels[member]:
            total = total + _squares(matmul(columns[:, :width], factor[rows, :width].T))
        return total

    def rotated(self, member: int, columns: Array) -> Array:
        """Vectors whose scalar products are the covariances of the member's values at the rows, (n, r)."""
        factor = like(self.factors[member], columns)
        return matmul(namespace(columns).astype(columns, factor.dtype, copy=False), factor.T)

    @property
    def is_single(self) -> bool:
        """Whether all factors are in single precision."""
        return all(factor.dtype == np.float32 for factor in self.factors)

    @cached_property
    def _panels(self) -> list[list[tuple[slice, int]]]:
        return [_panels(factor) for factor in self.factors]

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file."""
        return {str(member): factor for member, factor in enumerate(self.factors)}

    @classmethod
    def from_tables(cls, fields: Fields, widths: list[int]) -> Posterior:
        """The inverse of `to_tables`; the fields are checked."""
        return cls(tuple(fields.array(str(member), None, width) for member, width in enumerate(widths)))


def _panels(factor: np.ndarray) -> list[tuple[slice, int]]:
    """Some rows of the factor at a time, and how many columns they need: of a lower triangle not all.

    Eight panels of a triangle take 9/16 of the multiplications. BLAS's own product with a triangle takes a half, but
    SciPy holds the interpreter's lock in it, so that threads wait for each other.
    """
    height, width = factor.shape
    if height != width or np.any(factor[0, 1:]) or np.any(np.triu(factor, 1)):
        return [(slice(0, height), width)]
    n_panels = min(MOST_PANELS, max(1, height // LEAST_HEIGHT))
    bounds = [height * i // n_panels for i in range(n_panels + 1)]
    return [(slice(start, stop), stop) for start, stop in pairwise(bounds)]


def _squares(values: Array) -> Array:
    """The sum of squares of each row."""
    if compat.is_numpy_array(values):
        return np.einsum("ij,ij->i", values, values)
    return namespace(values).sum(values * values, axis=1)


def factor_of_system(system: System, features: Features, ridge: float, n_columns: int) -> np.ndarray:
    """L⁻¹ as a real matrix, (r, n_columns), for the columns of one member."""
    matrix = system.matrix if system.back is None else matmul(system.back, adjoint(system.back))
    return _factor(matrix, features, ridge, n_columns)


def factor_of_eigensystem(eigensystem: Eigensystem, features: Features, ridge: float, n_columns: int) -> np.ndarray:
    """The same from the eigenvectors. Directions that no row has count too: they have the variance of the prior."""
    basis = eigensystem.basis
    values = namespace(basis).astype(eigensystem.values, basis.dtype)
    return _factor(matmul(basis * values[None, :], adjoint(basis)), features, ridge, n_columns)


def _factor(matrix: Array, features: Features, ridge: float, n_columns: int) -> np.ndarray:
    lower = cholesky(shifted(matrix, ridge))
    if lower is not None:
        return _of_columns(_inverse(lower), features, n_columns)
    values, basis = eigh(matrix)  # next to no ridge: directions that no row has are left out
    keep = significant(values)
    xp, values, basis = namespace(basis), values[keep:] + ridge, basis[:, keep:]
    shares = xp.astype(1.0 / xp.sqrt(divisor_of(values)), basis.dtype)
    return _of_columns(adjoint(basis) * shares[:, None], features, n_columns)


def _of_columns(inverse: Array, features: Features, n_columns: int) -> np.ndarray:
    """A factor of the unknowns as one of the real columns c: with s = c T it is L⁻¹ Tᴴ, real part above imaginary."""
    identity = like(np.eye(n_columns), real_part(inverse))
    factor = to_host(matmul(inverse, adjoint(features.matrix(identity))))
    if np.iscomplexobj(factor):
        factor = np.concatenate((factor.real, factor.imag))
    return _rounded(np.ascontiguousarray(factor, dtype=np.float64))


def _inverse(lower: Array) -> Array:
    """The inverse of a lower triangle, of which only that triangle may be read."""
    if compat.is_numpy_array(lower):
        invert = scipy.linalg.get_lapack_funcs("trtri", (lower,))
        return np.tril(invert(lower.T, lower=0)[0].T)
    xp = namespace(lower)
    return xp.linalg.inv(xp.tril(lower))


def _rounded(factor: np.ndarray) -> np.ndarray:
    """The factor in single precision, unless rounding could then be seen.

    Columns are at most about one, so √n_columns bounds their norm, and ε|F|√n_columns the change of |F s(x)|.
    """
    change = float(np.finfo(np.float32).eps) * float(np.linalg.norm(factor)) * math.sqrt(factor.shape[1])
    return factor.astype(np.float32) if change < ROUNDING else factor
