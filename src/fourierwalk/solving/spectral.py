"""The spectral path, for data of low dimension: once the rows are spread onto a grid, solves do not touch them.

The entries of SᴴS are the data's characteristic function ρ̂(ω) = Σₙ wₙ exp(iω·xₙ) at differences of frequencies (and,
for cosine-sine pairs, at sums too); all that a step needs are non-uniform FFTs of a grid.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.features import ComplexExponentials, Features
from fourierwalk.solving.budget import Budget, in_words
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.fourier_space import FourierSpace
from fourierwalk.solving.grid import Grid
from fourierwalk.solving.rates import Rates
from fourierwalk.solving.solver import Solver
from fourierwalk.solving.system import System

WEIGHTS = slice(0, 1)
"""The place of the weights among the columns of a grid."""


@dataclass(frozen=True)
class Spectral:
    """Normal equations SᴴWS β = SᴴWy of Fourier features, in double precision, from a grid in place of the rows.

    Parameters
    ----------
    space : FourierSpace
        The rows' Fourier space.
    features : ComplexExponentials or CosineSine
        The kind of columns.
    frequencies : array of shape (K, d)
        Where the amplitudes are asked for.
    bandwidth : ndarray of shape (d,)
        The bandwidth that these frequencies need.
    """

    space: FourierSpace
    features: Features
    frequencies: Array
    bandwidth: np.ndarray
    name: ClassVar[str] = "spectral"

    def seconds(self, with_gradient: bool) -> float:
        """The rough time of a solve, and of its gradient if there is one."""
        rates, (k, d) = Rates.of(self.space.rows), self.frequencies.shape
        points = rates.window * k**2 * (0.5 if self.features.n_unknowns == 1 else 1.0) * rates.window_points**d
        factorisation, n_arrays = (
            rates.factorisation * (self.features.n_unknowns * k) ** 3 / 3,
            1 + self.space.n_targets,
        )
        solve = rates.start + points + factorisation + self.space.transform_seconds(self.bandwidth, n_arrays)
        if not with_gradient:
            return solve
        # A gradient transforms the arrays of a solve once more for each input, at twice the points.
        transforms = self.space.transform_seconds(self.bandwidth, d * n_arrays)
        return solve + rates.start + 1.5 * d * points + transforms

    def bytes(self) -> float:
        """The bytes of the grid."""
        return self.space.needed_bytes(self.bandwidth)

    def fits(self) -> bool:
        """Whether the grid fits in the memory that it may take."""
        return self.bytes() <= self.space.max_bytes

    def announce(self, solver: Solver, budget: Budget) -> None:
        """Raise a `MemoryError` if the grid does not fit."""
        if not self.fits():
            raise MemoryError(
                f"solver='spectral' needs {in_words(self.bytes())} for a grid of these frequencies, and a quarter of "
                f"max_memory allows {in_words(self.space.max_bytes)}: smaller frequencies, another solver, or a larger "
                "max_memory."
            )

    def precisions(self, solver: Solver, regularization: float) -> tuple[str, ...]:
        """Always double."""
        return ("double",)

    def system(self, precision: str) -> System:
        """The normal equations, equal to those from sums over the rows."""
        rows = self.space.rows
        return System(*self._equations(rows.total_weight), rows.target_energy, rows.total_weight)

    def covered(self) -> Any:
        """Whether the grid is fine enough for these frequencies; the answer stays on their device."""
        return self._grid.covers(self.frequencies)

    def eigensystem(self) -> Eigensystem:
        """The problem in the basis of its eigenvectors."""
        return Eigensystem.of(self.system("double"), self.features)

    def gradient(self, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d)."""
        slopes = self._slopes(amplitudes)
        xp = namespace(slopes)
        total = -xp.imag(xp.sum(amplitudes.T[:, None, :] * slopes, axis=0)).T
        return total * (2.0 / self.space.rows.total_weight)

    @property
    def _grid(self) -> Grid:
        return self.space.grid_for(self.bandwidth)

    def _equations(self, total: float) -> tuple[Array, Array]:
        grid, frequencies, xp = self._grid, self.frequencies, namespace(self.frequencies)
        pairs, moments = self.space.pairs(frequencies), grid.sums(frequencies, slice(1, 1 + self.space.n_targets)).T
        points = pairs.combined(frequencies, operator.sub)
        if isinstance(self.features, ComplexExponentials):
            differences = grid.sums(points, WEIGHTS)[0, :]
            return pairs.matrix(xp.conj(differences), differences, total), xp.conj(moments)
        n_differences = points.shape[0]
        points = xp.concat((points, pairs.combined(frequencies, operator.add), 2 * frequencies))
        sums = grid.sums(points, WEIGHTS)[0, :]  # in one call, because each call repeats the FFT of the grid
        gram = pairs.cosines_and_sines(sums[:n_differences], sums[n_differences:], total)
        return gram, xp.concat((moments.real, moments.imag))

    def _slopes(self, amplitudes: Array) -> Array:
        """Σₙ wₙ conj(rₙ) exp(iωₖ·xₙ) xₙ of the residuals r at the amplitudes, (q, d, K): the gradient's sums.

        For cosine-sine pairs r is real: half the amplitudes at differences, half at sums of frequencies.
        """
        grid, frequencies, xp = self._grid, self.frequencies, namespace(self.frequencies)
        (n, d), q = frequencies.shape, self.space.n_targets
        inputs, products = slice(1 + q, 1 + q + d), slice(1 + q + d, 1 + q + d + q * d)
        amplitudes = xp.astype(amplitudes, xp.complex128, copy=False)

        def weighed(sums: Array, weights: Array) -> Array:
            return xp.reshape(matmul(xp.reshape(sums, (d * n, n)), weights), (d, n, q))

        differences = xp.reshape(frequencies[:, None, :] - frequencies[None, :, :], (-1, d))
        if isinstance(self.features, ComplexExponentials):
            model = weighed(grid.sums(differences, inputs), xp.conj(amplitudes))
        else:
            pairs = xp.reshape(frequencies[:, None, :] + frequencies[None, :, :], (-1, d))
            sums = grid.sums(xp.concat((differences, pairs)), inputs)
            minus, plus = sums[:, : n * n], sums[:, n * n :]
            model = (weighed(minus, xp.conj(amplitudes)) + weighed(plus, amplitudes)) / 2
        return xp.permute_dims(model, (2, 0, 1)) - xp.reshape(grid.sums(frequencies, products), (q, d, n))
