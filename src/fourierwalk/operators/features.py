"""Waves under an operator: the columns of the least squares problem that conditions pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fourierwalk.arrays.complexes import complex_of
from fourierwalk.arrays.cosines import cos_sin
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Block
from fourierwalk.operators.operator import Derivative


@dataclass(frozen=True)
class OperatedWaves:
    """Columns L cos(ωₖ·x) and L sin(ωₖ·x) for the operator L = Σₜ cₜ(x) Dₜ of each row.

    A row is [x | c₁ … c_T]: its inputs, and its coefficients of all derivatives Dₜ of the problem. With the symbols
    mₜ(ω), L exp(iω·x) = Σₜ cₜ(x) mₜ(ω) exp(iω·x), so rows with any operators are made of the same waves.

    Parameters
    ----------
    n_inputs : int
        The inputs d.
    derivatives : tuple of Derivative
        D₁ … D_T.
    n_outputs : int
        The outputs q. All their amplitudes are unknowns of one problem with one target per row.
    """

    n_inputs: int
    derivatives: tuple[Derivative, ...]
    n_outputs: int = 1
    name: ClassVar[str] = "operated waves"
    slopes: ClassVar[None] = None
    single_columns: ClassVar[None] = None

    @property
    def n_columns(self) -> int:
        """Two for each output."""
        return 2 * self.n_outputs

    @property
    def n_unknowns(self) -> int:
        """Two for each output."""
        return 2 * self.n_outputs

    def dimension(self, n_features: int) -> int:
        """The components of a frequency."""
        return self.n_inputs

    def columns(self, block: Block, frequencies: Array) -> Array:
        """For each output, L cos(ωₖ·x) and then L sin(ωₖ·x), (n, 2qK)."""
        waves, n = self.waves(block, frequencies), int(frequencies.shape[0])
        xp, cosine, sine, parts = namespace(waves), waves[:, :n], waves[:, n:], []
        for output in range(self.n_outputs):
            real, imaginary = self._symbols(block, frequencies, output)
            if imaginary is None:
                parts += [real * cosine, real * sine]
            else:
                parts += [real * cosine - imaginary * sine, real * sine + imaginary * cosine]
        return xp.concat(parts, axis=1)

    def waves(self, block: Block, frequencies: Array) -> Array:
        """cos(ωₖ·x) and sin(ωₖ·x), (n, 2K); a gradient takes those of the solve before it."""
        x, turned = block.x[:, : self.n_inputs], namespace(frequencies).asarray(frequencies.T, copy=True)
        shape = int(x.shape[0]), int(frequencies.shape[0])
        return block.columns(self, frequencies, lambda: cos_sin(lambda part: x[part, :] @ turned, shape))

    def gradient(self, block: Block, frequencies: Array, amplitudes: Array) -> Array:
        """Half of ∂/∂ωₖ of the block's Σw(Lf − y)² at fixed amplitudes, (K, d).

        ∂/∂ωⱼ of mₜ(ω) exp(iω·x) is (∂mₜ/∂ωⱼ + i xⱼ mₜ) exp(iω·x): sums of waves, weighted by residuals, coefficients
        and inputs.
        """
        waves, n, d = self.waves(block, frequencies), int(frequencies.shape[0]), self.n_inputs
        xp, x, coefficients = namespace(waves), block.x[:, :d], block.x[:, d:]
        turned = [one.symbol(frequencies) * amplitudes[:, one.output] for one in self.derivatives]
        stacked = xp.stack(turned, axis=1)
        values = matmul(waves, xp.concat((xp.real(stacked), -xp.imag(stacked)), axis=0))
        residual = xp.sum(coefficients * values, axis=1) - block.y[:, 0]  # type: ignore[index]
        if block.weight is not None:
            residual = residual * block.weight
        pulls = residual[:, None] * coefficients
        weights = xp.concat((pulls, *(pulls * x[:, j : j + 1] for j in range(d))), axis=1)
        sums = matmul(waves.T, weights)
        moments = xp.reshape(complex_of(sums[:n, :], sums[n:, :]), (n, 1 + d, len(self.derivatives)))
        total = xp.zeros_like(frequencies)
        for t, one in enumerate(self.derivatives):
            slopes = one.slopes(frequencies) * moments[:, :1, t] * amplitudes[:, one.output, None]
            total = total + xp.real(slopes + 1j * turned[t][:, None] * moments[:, 1:, t])
        return total

    def system(self, gram: Array, moment: Array) -> tuple[Array, Array]:
        """The sums, unchanged."""
        return gram, moment

    def matrix(self, columns: Array) -> Array:
        """The columns, unchanged."""
        return columns

    def amplitudes(self, unknowns: Array) -> Array:
        """β = a − ib of each output, (K, q)."""
        xp, q = namespace(unknowns), self.n_outputs
        parts = xp.permute_dims(xp.reshape(unknowns, (q, 2, -1)), (1, 2, 0))
        return complex_of(parts[0, ...], -parts[1, ...])

    def coefficients(self, amplitudes: Array) -> Array:
        """What multiplies the columns, (2qK, 1)."""
        xp = namespace(amplitudes)
        stacked = xp.stack((xp.real(amplitudes), -xp.imag(amplitudes)))
        return xp.reshape(xp.permute_dims(stacked, (2, 0, 1)), (-1, 1))

    def _symbols(self, block: Block, frequencies: Array, output: int) -> tuple[Array, Array | None]:
        """Real and imaginary part of Σₜ cₜ(x) mₜ(ωₖ) of an output, (n, K) each; None: it is zero everywhere."""
        xp, at = namespace(frequencies), self.n_inputs
        chosen = [t for t, one in enumerate(self.derivatives) if one.output == output]
        symbols = [self.derivatives[t].symbol(frequencies) for t in chosen]
        coefficients = xp.stack([block.x[:, at + t] for t in chosen], axis=1)
        real, imaginary = (coefficients @ xp.stack([part(one) for one in symbols]) for part in (xp.real, xp.imag))
        return real, None if _are_even([self.derivatives[t] for t in chosen]) else imaginary


def _are_even(derivatives: Sequence[Derivative]) -> bool:
    """Whether all symbols are real: derivatives of even order at the points themselves."""
    return all(len(one.inputs) % 2 == 0 and not one.shift for one in derivatives)
