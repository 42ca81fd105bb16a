"""A least squares problem at fixed frequencies in the basis of its eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fourierwalk.arrays.complexes import adjoint, squared_modulus
from fourierwalk.arrays.factorisation import divisor_of, eigh, significant
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.data.features import Features
from fourierwalk.solving.system import System, require_finite


@dataclass(frozen=True)
class Eigensystem:
    """A least squares problem at fixed frequencies in the basis of its eigenvectors.

    One decomposition gives the amplitudes, the residual and the degrees of freedom at every λ.
    """

    values: Array  # eigenvalues of SᴴWS
    basis: Array  # its eigenvectors
    projections: Array  # SᴴWy in that basis
    target_energy: float
    weight: float
    features: Features

    @classmethod
    def of(cls, system: System, features: Features) -> Eigensystem:
        """The eigensystem of normal equations."""
        require_finite(system.matrix)
        values, basis = eigh(system.matrix)
        keep = significant(values)
        values, basis = values[keep:], basis[:, keep:]
        projections = adjoint(basis) @ system.right_hand_side
        return cls(values, basis, projections, float(system.target_energy), float(system.weight), features)

    def divisor(self, regularization: float) -> Array:
        """The eigenvalues plus λN; one in place of a sum that is not positive."""
        return divisor_of(self.values + regularization * self.weight)

    def amplitudes(self, regularization: float) -> Array:
        """The amplitudes (K, q) at λ."""
        unknowns = self.basis @ (self.projections / self.divisor(regularization)[:, None])
        return self.features.amplitudes(unknowns)

    def residual(self, regularization: float) -> float:
        """Σw|Sβ − y|² at λ."""
        xp = namespace(self.values)
        shift = regularization * self.weight
        shares = (self.values + 2 * shift) / self.divisor(regularization) ** 2
        explained = squared_modulus(self.projections) * shares[:, None]
        return max(self.target_energy - float(xp.sum(explained)), self.target_energy * np.finfo(np.float64).eps)

    def degrees_of_freedom(self, regularization: float) -> float:
        """The effective degrees of freedom: the trace of the hat matrix, which maps y to the fitted values."""
        shares = self.values / self.divisor(regularization)
        return float(namespace(self.values).sum(shares))
