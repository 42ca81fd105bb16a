"""The linear equations of the unknowns: solved by Cholesky or, if they are singular, for the minimum norm."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from fourierwalk.arrays.complexes import adjoint, real_part
from fourierwalk.arrays.factorisation import (
    cholesky,
    cholesky_solve,
    divisor_of,
    eigh,
    shifted,
    significant,
    solved,
)
from fourierwalk.arrays.library import Array, all_true, is_remote, namespace, scalar
from fourierwalk.arrays.products import UNITS, matmul

TRUSTED_RESIDUAL = 1e-3
"""The relative residual up to which a solve in single precision is trusted."""


class System(NamedTuple):
    """Equations (A + ridge) z = b, from which the unknowns follow.

    In the normal equations A = SᴴWS, b = SᴴWy, and z are the unknowns. In the dual form A = SSᴴ, b = y, and Sᴴz are the
    unknowns; there S and y are multiplied by the square roots of the weights.
    """

    matrix: Array  # A
    right_hand_side: Array  # b
    target_energy: Array  # Σw|y|²
    weight: float  # Σw
    back: Array | None = None  # Sᴴ in the dual form; None: z are the unknowns

    def unknowns(self, z: Array) -> Array:
        """The unknowns that belong to a solution z."""
        return z if self.back is None else matmul(self.back, z)

    def loss(self, unknowns: Array) -> Any:
        """The minimum of ``N⁻¹|Sβ − y|² + λ|β|²``, which is ``N⁻¹(|y|² − Re βᴴSᴴy)``."""
        xp, moment = namespace(unknowns), in_double(self.unknowns(self.right_hand_side))
        if _is_complex(unknowns):
            moment = xp.conj(moment)
        explained = xp.sum(real_part(moment * in_double(unknowns)), axis=(-2, -1))
        return scalar(xp.clip(self.target_energy - explained, 0.0, None) / self.weight)

    def tried(self, ridge: float, precision: str) -> tuple[Array, Any]:
        """The solution by one factorisation, and whether it can be trusted; the host does not wait for a device."""
        xp = namespace(self.matrix)
        unit = UNITS["double" if precision == "double" else "single"]
        z, trusted = solved(self.matrix, ridge, self.right_hand_side, unit)
        if precision != "double" and not is_remote(self.matrix):
            norm, both = xp.linalg.vector_norm, (-2, -1)
            residual = in_double(matmul(self.matrix, z) + ridge * z - self.right_hand_side)
            right = norm(in_double(self.right_hand_side), axis=both)  # squares may overflow in single precision
            trusted = trusted & (norm(residual, axis=both) <= TRUSTED_RESIDUAL * right)
        return z, trusted

    def factorised(self, ridge: float) -> Array | None:
        """The solution by Cholesky; None if the matrix is not safely positive definite."""
        factor = cholesky(shifted(self.matrix, ridge))
        return None if factor is None else cholesky_solve(factor, self.right_hand_side)

    def solved(self, ridge: float) -> tuple[Array, bool]:
        """The solution, and whether it is the minimum norm solution of singular equations (with a warning)."""
        z = self.factorised(ridge)
        if z is not None:
            return z, False
        if self.matrix.ndim == 2:
            return self._of_minimum_norm(ridge), True
        alone = [self._one_of_several(i).solved(ridge)[0] for i in range(self.matrix.shape[0])]
        return namespace(self.matrix).stack(alone), True

    def in_double(self) -> System:
        """The same equations in double precision."""
        return self._replace(matrix=in_double(self.matrix), right_hand_side=in_double(self.right_hand_side))

    def _one_of_several(self, i: int) -> System:
        return self._replace(matrix=self.matrix[i, ...], right_hand_side=self.right_hand_side[i, ...])

    def _of_minimum_norm(self, ridge: float) -> Array:
        require_finite(self.matrix)
        warnings.warn(
            "The equations for the amplitudes are singular to working precision; the solution of minimum norm is used. "
            "A larger regularization, or fewer frequencies, makes them regular.",
            RuntimeWarning,
            stacklevel=2,
        )
        values, basis = eigh(self.matrix)
        keep = significant(values)
        values, basis = divisor_of(values[keep:] + ridge), basis[:, keep:]
        shares = namespace(self.matrix).astype(values, self.matrix.dtype)[:, None]
        return basis @ (adjoint(basis) @ self.right_hand_side / shares)


def require_finite(matrix: Array) -> None:
    """Raise a `ValueError` if an entry is NaN or infinite."""
    if not all_true(namespace(matrix).isfinite(matrix)):
        raise ValueError(
            "The columns that the features make of the inputs and these frequencies must be finite numbers, got NaN "
            "or infinity."
        )


def in_double(values: Array) -> Array:
    """The values in double precision; no copy if they already are."""
    xp = namespace(values)
    return xp.astype(values, xp.complex128 if _is_complex(values) else xp.float64, copy=False)


def _is_complex(values: Array) -> bool:
    return bool(namespace(values).isdtype(values.dtype, "complex floating"))
