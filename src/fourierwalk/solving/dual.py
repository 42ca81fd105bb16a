"""The dual path: one equation per row instead of one per unknown, for more columns than rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from fourierwalk.arrays.complexes import adjoint
from fourierwalk.arrays.factorisation import divisor_of, eigh, significant
from fourierwalk.arrays.library import Array, namespace
from fourierwalk.arrays.products import matmul, outer_gram
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.solving.budget import OVERHEAD_BYTES, Budget, in_words
from fourierwalk.solving.direct import Direct
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.normal_equations import weighted
from fourierwalk.solving.rates import Rates
from fourierwalk.solving.solver import Solver
from fourierwalk.solving.system import System, require_finite


@dataclass(frozen=True)
class Dual:
    """(SSᴴ + λN) z = y and β = Sᴴz, in double precision. It pays with more columns than rows; rows are one block.

    Parameters
    ----------
    rows, features : Rows and Features
        As in `LeastSquares`.
    frequencies : array of shape (K, d)
        Where the amplitudes are asked for.
    """

    rows: Rows
    features: Features
    frequencies: Array
    name: ClassVar[str] = "dual"

    def seconds(self, with_gradient: bool) -> float:
        """The rough time of a solve, and of its gradient if there is one."""
        rates, n, k = Rates.of(self.rows), len(self.rows), int(self.frequencies.shape[-2])
        width, unknowns = self.features.n_columns * k, self.features.n_unknowns * k
        columns = rates.columns(self.rows, width)
        sums = columns + rates.product * n**2 * width**2 / unknowns
        return sums + rates.factorisation * n**3 / 3 + with_gradient * columns / 2

    def bytes(self) -> float:
        """The rough bytes of a solve: the columns, S and its adjoint, and three matrices (n, n)."""
        n, width = len(self.rows), self.features.n_columns * int(self.frequencies.shape[-2])
        stacked = math.prod(self.rows.x.shape[:-2])
        return 8.0 * stacked * (3.0 * n * width + 3.0 * n**2) + OVERHEAD_BYTES

    def announce(self, solver: Solver, budget: Budget) -> None:
        """Raise a `MemoryError` if the equations do not fit in memory."""
        needed = self.bytes()
        allowed, whose = budget.allowed(needed, solver, self.rows.anchor)
        if needed > allowed:
            raise MemoryError(
                f"{len(self.rows)} rows and {self.frequencies.shape[-2]} frequencies need {in_words(needed)} for the "
                f"dual equations, and {whose} {in_words(allowed)}: fewer, another solver, or a larger max_memory."
            )

    def precisions(self, solver: Solver, regularization: float) -> tuple[str, ...]:
        """Always double."""
        return ("double",)

    def system(self, precision: str) -> System:
        """(SSᴴ + λN) z = y, and Sᴴ, which takes z to the unknowns."""
        self.rows.kept.forget()
        matrix, y = self._whole()
        targets = namespace(matrix).astype(y, matrix.dtype, copy=False)
        energy, weight = self.rows.target_energy, self.rows.total_weight
        return System(outer_gram(matrix), targets, energy, weight, adjoint(matrix))

    def covered(self) -> bool:
        """Always true: sums over rows are right for any frequencies."""
        return True

    def eigensystem(self) -> Eigensystem:
        """The problem in the basis of its eigenvectors."""
        matrix, y = self._whole()
        xp, gram = namespace(matrix), outer_gram(matrix)
        require_finite(gram)
        values, left = eigh(gram)
        keep = significant(values)
        values, left = values[keep:], left[:, keep:]
        basis = matmul(adjoint(matrix), left) / xp.sqrt(divisor_of(values))[None, :]
        projections = xp.sqrt(xp.clip(values, 0.0))[:, None] * (adjoint(left) @ xp.astype(y, left.dtype))
        return Eigensystem(values, basis, projections, float(xp.sum(y * y)), self.rows.total_weight, self.features)

    def gradient(self, amplitudes: Array) -> Array:
        """The gradient of the direct path: it is a sum over the rows in both forms."""
        return Direct(self.rows, self.features, self.frequencies).gradient(amplitudes)

    def _whole(self) -> tuple[Array, Array]:
        """S and y of all rows, multiplied by the square roots of the weights."""
        block = self.rows.whole().part(slice(0, len(self.rows)))
        columns, y = weighted(block, self.features, self.frequencies)
        return self.features.matrix(columns), y
