"""Amplitudes by an orthogonal factorisation of the columns, for problems without noise.

Normal equations square the condition number: residuals below 1e-8 of the targets are lost in rounding. The factor R of
a QR factorisation keeps them. Factors of parts of the rows are merged by one more factorisation, so they are summed
over blocks of rows as normal equations are.
"""

from __future__ import annotations

from dataclasses import dataclass

import array_api_compat as compat
import scipy.linalg

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving.direct import Direct
from fourierwalk.solving.normal_equations import weighted
from fourierwalk.solving.solution import Solution, SolveInfo


@dataclass(frozen=True)
class Triangle:
    """The factor R of weighted columns and targets, [S | y] = QR. Those of two parts of the rows merge by ``+``."""

    factor: Array

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle(_triangle(namespace(self.factor).concat((self.factor, other.factor))))

    @classmethod
    def of_block(cls, block: Block, features: Features, frequencies: Array) -> Triangle:
        """The factor of one block."""
        columns, y = weighted(block, features, frequencies)
        matrix = features.matrix(columns)
        xp = namespace(matrix)
        return cls(_triangle(xp.concat((matrix, xp.astype(y, matrix.dtype, copy=False)), axis=1)))

    def solved(self, ridge: float, n_targets: int) -> tuple[Array, float]:
        """The minimiser of |Sβ − y|² + ridge |β|², and that minimum."""
        xp, n = namespace(self.factor), int(self.factor.shape[1]) - n_targets
        penalty = ridge**0.5 * xp.eye(n, n + n_targets, dtype=self.factor.dtype, device=compat.device(self.factor))
        factor = _triangle(xp.concat((self.factor, penalty)))
        corner = factor[n:, n:]
        return _substituted(factor[:n, :n], factor[:n, n:]), float(xp.sum(xp.abs(corner) ** 2))


@dataclass(frozen=True)
class Orthogonal:
    """``minimize(frequencies) -> Solution`` by an orthogonal factorisation; the loss is that of `LeastSquares`.

    Parameters
    ----------
    rows, features : Rows and Features
        As in `LeastSquares`.
    regularization : float
        λ > 0 of N⁻¹|Sβ − y|² + λ|β|²; 1e-26 of the mean square of a column is enough for a stable solution.

    See Also
    --------
    LeastSquares : The same by normal equations, which is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.data import CosineSine, Rows
    >>> from fourierwalk.solving import Orthogonal
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> minimize = Orthogonal(Rows(x, np.cos(2 * x)), CosineSine(), regularization=1e-26)
    >>> bool(minimize(np.array([[1.9], [1.95], [2.05], [2.1]])).loss < 1e-9)
    True
    """

    rows: Rows
    features: Features
    regularization: float

    def triangle(self, frequencies: Array) -> Triangle:
        """The factor of all rows."""
        width = 2 * self.features.n_columns * int(frequencies.shape[0])
        return self.rows.sum(lambda block: Triangle.of_block(block, self.features, frequencies), width)

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser at these frequencies."""
        weight, n_targets = self.rows.total_weight, int(self.rows.y.shape[1])  # type: ignore[union-attr]
        unknowns, square = self.triangle(frequencies).solved(self.regularization * weight, n_targets)
        return Solution(self.features.amplitudes(unknowns), square / weight, SolveInfo("orthogonal", False))

    def gradient(self, frequencies: Array, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d)."""
        return Direct(self.rows, self.features, frequencies).gradient(amplitudes)


def _triangle(matrix: Array) -> Array:
    """The upper triangular factor of a matrix; a matrix with fewer rows than columns is padded with zeros."""
    xp, (n, m) = namespace(matrix), matrix.shape
    if n < m:
        padding = xp.zeros((m - n, m), dtype=matrix.dtype, device=compat.device(matrix))
        matrix = xp.concat((matrix, padding))
    if compat.is_numpy_array(matrix):
        return scipy.linalg.qr(matrix, mode="r", overwrite_a=True, check_finite=False)[0][:m, :]
    if compat.is_torch_array(matrix):
        import torch

        return torch.linalg.qr(matrix, mode="r").R
    return xp.linalg.qr(matrix, mode="reduced").R


def _substituted(factor: Array, right_hand_side: Array) -> Array:
    """Solve ``R z = b`` for an upper triangle R."""
    if compat.is_numpy_array(factor):
        return scipy.linalg.solve_triangular(factor, right_hand_side, check_finite=False)
    if compat.is_torch_array(factor):
        import torch

        return torch.linalg.solve_triangular(factor, right_hand_side, upper=True)
    return namespace(factor).linalg.solve(factor, right_hand_side)
