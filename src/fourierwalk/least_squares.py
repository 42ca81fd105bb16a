"""Frequencies ↦ amplitudes: the minimiser of N⁻¹|Sβ − y|² + λ|β|², through sums over the rows that can be merged."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fourierwalk._arrays import Array, adjoint, cholesky, cholesky_solve, namespace, real_part, squared_modulus
from fourierwalk.features import Features
from fourierwalk.rows import Block, Rows

PATHS = ("auto", "direct", "dual")


class SolveInfo(NamedTuple):
    """What happened inside a solve: the path taken, and whether the minimum-norm fallback was needed."""

    path: str
    fallback: bool


class Solution(NamedTuple):
    """Amplitudes (K, q), the value of N⁻¹|Sβ − y|² + λ|β|² there, and what happened inside."""

    amplitudes: Array
    loss: float
    info: SolveInfo


@dataclass(frozen=True)
class NormalEquations:
    """Sums over rows: ΦᵀWΦ, ΦᵀWy, Σw|y|² and Σw for real columns Φ. Two parts of the data add up with ``+``."""

    gram: Array
    moment: Array
    target_energy: Array
    weight: float

    def __add__(self, other: NormalEquations) -> NormalEquations:
        return NormalEquations(
            self.gram + other.gram,
            self.moment + other.moment,
            self.target_energy + other.target_energy,
            self.weight + other.weight,
        )

    @classmethod
    def of_block(cls, block: Block, features: Features, frequencies: Array) -> NormalEquations:
        """One block's share."""
        columns, y = _weighted(block, features, frequencies)
        xp = namespace(columns)
        weight = float(columns.shape[0]) if block.weight is None else float(xp.sum(block.weight))
        return cls(columns.T @ columns, columns.T @ y, xp.sum(y * y), weight)


@dataclass(frozen=True)
class Eigensystem:
    """The least squares problem at fixed frequencies in its own basis: every λ for the price of one decomposition."""

    values: Array  # eigenvalues of SᴴWS
    basis: Array  # its eigenvectors
    projections: Array  # SᴴWy in that basis
    target_energy: float
    weight: float
    features: Features

    def amplitudes(self, regularization: float) -> Array:
        """The amplitudes (K, q) at λ."""
        unknowns = self.basis @ (self.projections / _divisor(self.values + regularization * self.weight)[:, None])
        return self.features.amplitudes(unknowns)

    def residual(self, regularization: float) -> float:
        """Σw|Sβ − y|² at λ."""
        xp = namespace(self.values)
        shift = regularization * self.weight
        explained = (
            squared_modulus(self.projections)
            * ((self.values + 2 * shift) / _divisor(self.values + shift) ** 2)[:, None]
        )
        return max(self.target_energy - float(xp.sum(explained)), self.target_energy * np.finfo(np.float64).eps)

    def degrees_of_freedom(self, regularization: float) -> float:
        """The trace of the matrix that takes y to its fit."""
        shares = self.values / _divisor(self.values + regularization * self.weight)
        return float(namespace(self.values).sum(shares))


@dataclass(frozen=True)
class LeastSquares:
    """``minimize(frequencies) -> Solution``: the one thing that a sampler sees of the data.

    Parameters
    ----------
    rows : Rows
        The data.
    features : Features
        How inputs and frequencies become columns.
    regularization : float
        λ ≥ 0 of N⁻¹|Sβ − y|² + λ|β|².
    path : {"auto", "direct", "dual"}
        "direct": the normal equations, one row and column per unknown. "dual": one per data row. "auto": the smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.features import ComplexExponentials
    >>> from fourierwalk.rows import Rows
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> minimize = LeastSquares(Rows(x, np.cos(2 * x)), ComplexExponentials(), regularization=1e-9)
    >>> minimize(np.array([[-2.0], [2.0]])).amplitudes.real.round(6).ravel()
    array([0.5, 0.5])
    """

    rows: Rows
    features: Features
    regularization: float
    path: str = "auto"

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser at these frequencies."""
        return self._dual(frequencies) if self.is_dual(frequencies) else self.solve(self.equations(frequencies))

    def is_dual(self, frequencies: Array) -> bool:
        """Whether these frequencies are solved for in the dual form."""
        if self.path == "auto":
            return len(self.rows) < self.features.n_unknowns * frequencies.shape[0]
        return self.path == "dual"

    def equations(self, frequencies: Array) -> NormalEquations:
        """The sums over all rows."""
        width = self.features.n_columns * frequencies.shape[0]
        return self.rows.sum(lambda block: NormalEquations.of_block(block, self.features, frequencies), width)

    def eigensystem(self, frequencies: Array) -> Eigensystem:
        """The problem in its own basis."""
        if self.is_dual(frequencies):
            matrix, y = self._whole(frequencies)
            xp = namespace(matrix)
            values, left = xp.linalg.eigh(matrix @ adjoint(matrix))
            keep = _significant(values)
            values, left = values[keep:], left[:, keep:]
            basis = adjoint(matrix) @ left / xp.sqrt(_divisor(values))[None, :]
            projections = xp.sqrt(xp.clip(values, 0.0))[:, None] * (adjoint(left) @ xp.astype(y, left.dtype))
            energy, weight = float(xp.sum(y * y)), self.rows.total_weight
        else:
            equations = self.equations(frequencies)
            system, right_hand_side = self.features.system(equations.gram, equations.moment)
            xp = namespace(system)
            values, basis = xp.linalg.eigh(system)
            keep = _significant(values)
            values, basis = values[keep:], basis[:, keep:]
            projections = adjoint(basis) @ right_hand_side
            energy, weight = float(equations.target_energy), equations.weight
        return Eigensystem(values, basis, projections, energy, weight, self.features)

    def solve(self, equations: NormalEquations) -> Solution:
        """The minimiser from sums that are already there."""
        matrix, right_hand_side = self.features.system(equations.gram, equations.moment)
        unknowns, fallback = _solve(matrix, right_hand_side, self.regularization * equations.weight)
        loss = _loss(equations.target_energy, right_hand_side, unknowns, equations.weight)
        return Solution(self.features.amplitudes(unknowns), loss, SolveInfo("direct", fallback))

    def _dual(self, frequencies: Array) -> Solution:
        """β = Sᴴ(SSᴴ + λN)⁻¹y."""
        matrix, y = self._whole(frequencies)
        xp = namespace(matrix)
        weight = self.rows.total_weight
        kernel, y_kind = matrix @ adjoint(matrix), xp.astype(y, matrix.dtype, copy=False)
        multipliers, fallback = _solve(kernel, y_kind, self.regularization * weight)
        unknowns = adjoint(matrix) @ multipliers
        loss = _loss(xp.sum(y * y), adjoint(matrix) @ y_kind, unknowns, weight)
        return Solution(self.features.amplitudes(unknowns), loss, SolveInfo("dual", fallback))

    def _whole(self, frequencies: Array) -> tuple[Array, Array]:
        columns, y = _weighted(self.rows.whole(), self.features, frequencies)
        return self.features.matrix(columns), y


def _weighted(block: Block, features: Features, frequencies: Array) -> tuple[Array, Array]:
    """Columns and targets times the root of the weights."""
    columns, y = features.columns(block, frequencies), block.y
    if y is None:
        raise ValueError("rows need targets y to solve for amplitudes, got none.")
    if block.weight is None:
        return columns, y
    root = namespace(columns).sqrt(block.weight)[:, None]
    return columns * root, y * root


def _loss(energy: Array, right_hand_side: Array, unknowns: Array, weight: float) -> float:
    """The minimum of N⁻¹|Sβ − y|² + λ|β|² is N⁻¹(|y|² − Re βᴴSᴴy)."""
    xp = namespace(unknowns)
    explained = xp.sum(
        real_part(xp.conj(right_hand_side) * unknowns) if _is_complex(unknowns) else right_hand_side * unknowns
    )
    return max(0.0, float(energy - explained)) / weight


def _is_complex(values: Array) -> bool:
    return bool(namespace(values).isdtype(values.dtype, "complex floating"))


def _solve(matrix: Array, right_hand_side: Array, ridge: float) -> tuple[Array, bool]:
    """Solve (matrix + ridge) z = b by Cholesky; of minimum norm, and with a warning, where that is not safe."""
    xp = namespace(matrix)
    identity = xp.eye(matrix.shape[0], dtype=matrix.dtype, device=matrix.device)
    factor = cholesky(matrix + ridge * identity)
    if factor is not None:
        return cholesky_solve(factor, right_hand_side), False
    warnings.warn(
        "The equations for the amplitudes are singular to working precision; the solution of minimum norm is used. "
        "A larger regularization, or fewer frequencies, makes them regular.",
        RuntimeWarning,
        stacklevel=2,
    )
    values, basis = xp.linalg.eigh(matrix)
    keep = _significant(values)
    values, basis = _divisor(values[keep:] + ridge), basis[:, keep:]
    return basis @ (adjoint(basis) @ right_hand_side / xp.astype(values, matrix.dtype)[:, None]), True


def _significant(values: Array) -> int:
    """The index of the first of the ascending eigenvalues that is more than rounding."""
    xp = namespace(values)
    n = values.shape[0]
    threshold = float(values[n - 1]) * n * float(np.finfo(np.float64).eps)
    return min(int(xp.sum(xp.astype(values <= threshold, xp.int64))), n - 1)


def _divisor(values: Array) -> Array:
    """The values, one where they are not positive: where all columns are zero, so are the projections on them."""
    xp = namespace(values)
    return xp.where(values > 0, values, xp.ones_like(values))
