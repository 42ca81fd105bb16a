"""The residual as what descends: N⁻¹|Sβ − y|² of the ridge's amplitudes β, without the ridge's own λ|β|².

Where many frequencies follow few rows λ must be large, its penalty is most of the projected loss, and descent on that
shortens the amplitudes rather than follow the targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fourierwalk._arrays import Array, namespace, scalar
from fourierwalk.least_squares import LeastSquares, Solution


@dataclass(frozen=True)
class Residual(LeastSquares):
    """A `LeastSquares` with the same amplitudes, whose loss is their residual alone.

    Its gradient takes in how the amplitudes change with the frequencies: they do not minimise the residual.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk.features import CosineSine
    >>> from fourierwalk.rows import Rows
    >>> x = np.linspace(-3, 3, 50)[:, None]
    >>> residual = Residual(Rows(x, np.cos(2 * x)), CosineSine(), regularization=0.5)
    >>> round(residual(np.array([[2.0]])).loss, 3)
    0.125
    """

    @classmethod
    def of(cls, problem: LeastSquares) -> Residual:
        """The residual of a problem, in double precision: it is small where the penalty is large."""
        solver = replace(problem.solver, precision="double")
        return cls(problem.rows, problem.features, problem.regularization, solver, problem.spectral, problem.latest)

    def _solution(self, *posed: Any) -> Solution:
        """The minimiser of the penalised loss, and its residual."""
        solution = super()._solution(*posed)
        xp = namespace(solution.amplitudes)
        penalty = self.regularization * xp.sum(xp.abs(solution.amplitudes) ** 2, axis=(-2, -1))
        return solution._replace(loss=solution.loss - scalar(penalty))

    def gradient(self, frequencies: Array, amplitudes: Array) -> Array:
        """∂/∂ωₖ of the residual, (K, d), at the amplitudes of these frequencies.

        −λ|β|² changes with ω like 2 Re uᴴSᴴ(Sβ − y)/N at fixed β and u = λN(SᴴS + λN)⁻¹β, what amplitudes gain by being
        solved for twice. That is how N⁻¹|Sβ − y|² changes along u. Its gradient at fixed amplitudes is a square in
        them, so that a central difference along u is exact.
        """
        gain, fixed = self.twice(frequencies) - amplitudes, super().gradient
        along = fixed(frequencies, amplitudes + gain) - fixed(frequencies, amplitudes - gain)
        return fixed(frequencies, amplitudes) + 0.5 * along
