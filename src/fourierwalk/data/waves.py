"""Fourier features: complex exponentials, and pairs of cosine and sine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fourierwalk.arrays.complexes import complex_of, hermitian
from fourierwalk.arrays.cosines import cos_sin
from fourierwalk.arrays.library import Array, float64, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Block

MOST_MOMENTS = 64
"""The most outputs times inputs for which a gradient is one product with the columns.

Otherwise, or with few columns, it takes a temporary matrix of the size of the columns."""


class _Waves:
    """The part that the two Fourier kinds share: f(x) = Re Σ βₖ exp(iωₖ·x) = Σ Re βₖ cos(ωₖ·x) − Im βₖ sin(ωₖ·x)."""

    n_columns: ClassVar[int] = 2
    is_complex: ClassVar[bool]

    def dimension(self, n_features: int) -> int:
        return n_features

    def columns(self, block: Block, frequencies: Array) -> Array:
        shape = self._shape(block, frequencies)
        return block.columns(self, frequencies, lambda: cos_sin(block.projector(frequencies), shape))

    def single_columns(self, block: Block, frequencies: Array, precision: str) -> Array:
        """The columns in single precision, from phases in double; torch tensors are rounded to bf16 for "bf16"."""
        phases, shape = block.projector(frequencies, precision), self._shape(block, frequencies)
        return cos_sin(phases, shape, precision, interleaved=self.is_complex)

    def _shape(self, block: Block, frequencies: Array) -> tuple[int, int]:
        return int(block.x.shape[-2]), int(frequencies.shape[-2])

    def coefficients(self, amplitudes: Array) -> Array:
        xp = namespace(amplitudes)
        return xp.concat((xp.real(amplitudes), -xp.imag(amplitudes)), axis=-2)

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """Half of ∂/∂ωₖ of the block's Σw|f − y|² at fixed amplitudes, (K, d): Σₙ r·∂f/∂φₖ xₙ."""
        columns, xp, n = self.columns(block, frequencies), namespace(frequencies), frequencies.shape[0]
        residual = matmul(columns, self.coefficients(amplitudes)) - block.y
        if self.is_complex:  # the imaginary part of the model is a residual too
            turned = -1j * amplitudes
            residual = xp.concat((residual, matmul(columns, self.coefficients(turned))), axis=1)
            amplitudes = xp.concat((amplitudes, turned), axis=1)
        if block.weight is not None:
            residual = residual * block.weight[:, None]
        cosine_share, sine_share = xp.imag(amplitudes), xp.real(amplitudes)  # ∂f/∂φ = −Re β sin φ − Im β cos φ
        if block.center is None and residual.shape[1] * frequencies.shape[1] <= min(MOST_MOMENTS, 2 * n):
            moments = block.moments(columns, residual)
            return -xp.sum(
                sine_share[:, :, None] * moments[n:, ...] + cosine_share[:, :, None] * moments[:n, ...], axis=1
            )
        pull = (residual @ sine_share.T) * columns[:, n:] + (residual @ cosine_share.T) * columns[:, :n]
        return -block.gather(pull)

    def slopes(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """∂f/∂φₖ at each row, (n, K), of one output f = Re Σ βₖ exp(iφₖ) with amplitudes (K,)."""
        columns, xp, n = self.columns(block, frequencies), namespace(frequencies), frequencies.shape[0]
        return -(xp.real(amplitudes)[None, :] * columns[:, n:] + xp.imag(amplitudes)[None, :] * columns[:, :n])


@dataclass(frozen=True)
class ComplexExponentials(_Waves):
    """The paper's features, S_nk = exp(iωₖ·xₙ), with complex amplitudes."""

    name: ClassVar[str] = "complex"
    is_complex: ClassVar[bool] = True
    n_unknowns: ClassVar[int] = 1

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """SᴴS and Sᴴy from the sums over cosines and sines; complex sums are SᴴS and Sᴴy already."""
        if namespace(gram).isdtype(gram.dtype, "complex floating"):
            return gram, moment
        n = moment.shape[-2] // 2
        return hermitian(gram), complex_of(moment[..., :n, :], -moment[..., n:, :])

    def matrix(self, columns: Array) -> Array:
        """S itself."""
        n = columns.shape[-1] // 2
        return complex_of(columns[..., :n], columns[..., n:])

    def amplitudes(self, unknowns: Array) -> Array:
        """The unknowns are the amplitudes."""
        return unknowns


@dataclass(frozen=True)
class CosineSine(_Waves):
    """Pairs aₖ cos(ωₖ·x) + bₖ sin(ωₖ·x) with real amplitudes; βₖ = aₖ − i bₖ, so ``|βₖ|² = aₖ² + bₖ²``."""

    name: ClassVar[str] = "cos-sin"
    is_complex: ClassVar[bool] = False
    n_unknowns: ClassVar[int] = 2

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums, unchanged."""
        return gram, moment

    def matrix(self, columns: Array) -> Array:
        """The columns, unchanged."""
        return columns

    def amplitudes(self, unknowns: Array) -> Array:
        """β = a − ib."""
        n = unknowns.shape[-2] // 2
        return complex_of(unknowns[..., :n, :], -unknowns[..., n:, :])


@dataclass(frozen=True)
class RoundedCosineSine(CosineSine):
    """Cosines and sines of dense NumPy rows in single precision: half the time, for steps that need not be exact."""

    def columns(self, block: Block, frequencies: Array) -> Array:
        """The columns in single precision."""
        return block.columns(self, frequencies, lambda: self.single_columns(block, frequencies, "single"))

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums in double precision, for the solve."""
        return float64(gram), float64(moment)

    def matrix(self, columns: Array) -> Array:
        """The columns in double precision, for the dual form."""
        return float64(columns)

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """The gradient, computed in single precision and returned in double."""
        return float64(super().gradient(block.single(), frequencies, amplitudes.astype(np.complex64)))
