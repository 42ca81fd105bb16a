"""The direct path: normal equations, summed over blocks of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import array_api_compat as compat

from fourierwalk.arrays.library import Array, is_remote
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving.budget import Budget, in_words, most_columns, needed_bytes
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.normal_equations import InNormalEquations
from fourierwalk.solving.rates import Rates
from fourierwalk.solving.solver import Solver, ladder
from fourierwalk.solving.system import System

ROUNDED_FROM = 1e11
"""The least number of multiplications in a solve for which precision "auto" goes below double on a GPU.

Smaller solves take no longer in double precision."""


@dataclass(frozen=True)
class Direct:
    """Normal equations SᴴWS β = SᴴWy, summed over blocks of rows: for any rows and features, in any precision.

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
    name: ClassVar[str] = "direct"

    @property
    def width(self) -> int:
        """The number of real columns."""
        return self.features.n_columns * int(self.frequencies.shape[-2])

    def seconds(self, with_gradient: bool) -> float:
        """The rough time of a solve, and of its gradient if there is one."""
        rates, unknowns = Rates.of(self.rows), self.features.n_unknowns * int(self.frequencies.shape[-2])
        columns = rates.columns(self.rows, self.width)
        sums = columns + rates.product * len(self.rows) * self.width**2
        return sums + rates.factorisation * unknowns**3 / 3 + with_gradient * columns / 2  # it reuses the columns

    def bytes(self) -> float:
        """An upper bound of the bytes of the equations."""
        stacked = math.prod(self.rows.x.shape[:-2])
        own = needed_bytes(len(self.rows), self.width, self.rows.block_height(self.width))
        return stacked * (own + 8.0 * self.width**2 * (self.rows.n_sums - 2))

    def announce(self, solver: Solver, budget: Budget) -> None:
        """Raise a `MemoryError` if the equations do not fit in memory."""
        parts = self._parts_bytes() if solver.precision in ("auto", "bf16") else 0.0
        needed = self.bytes() + parts
        allowed, whose = budget.allowed(needed, solver, self.rows.anchor)
        if needed <= allowed:
            return
        most = most_columns(len(self.rows), allowed - parts) // self.features.n_columns
        raise MemoryError(
            f"{self.width // self.features.n_columns} frequencies need {in_words(needed)} for their normal equations, "
            f"and {whose} {in_words(allowed)}: at most {most} would fit."
        )

    def _parts_bytes(self) -> float:
        """The bytes of the 16-bit parts of inputs and targets on a GPU, three of each."""
        on_gpu: list[Any] = [values for values in (self.rows.x, self.rows.y) if is_remote(values)]
        return sum(2.0 * math.prod(values.shape[:-1]) * (3 * values.shape[-1] + 7) for values in on_gpu)

    def precisions(self, solver: Solver, regularization: float) -> tuple[str, ...]:
        """The precisions to try, one after the other."""
        if solver.precision != "auto":
            return ladder(solver.precision, self.rows.total_weight, self.width, regularization)
        anchor = self.rows.anchor
        may_round = compat.is_torch_array(anchor) and is_remote(anchor) and self.features.single_columns is not None
        if not may_round or float(len(self.rows)) * self.width**2 < ROUNDED_FROM:
            return ("double",)
        rungs = ladder("bf16", self.rows.total_weight, self.width, regularization)
        return tuple(rung for rung in rungs if rung != "single")  # on such a GPU double is as fast as single

    def system(self, precision: str) -> System:
        """The normal equations."""
        term = InNormalEquations(self.features, self.frequencies, precision)
        return self.rows.sum(term, self.width).system(self.features)

    def covered(self) -> bool:
        """Always true: sums over rows are right for any frequencies."""
        return True

    def eigensystem(self) -> Eigensystem:
        """The problem in the basis of its eigenvectors."""
        return Eigensystem.of(self.system("double"), self.features)

    def gradient(self, amplitudes: Array) -> Array:
        """∂/∂ωₖ of N⁻¹|Sβ − y|² at fixed amplitudes, (K, d)."""
        if self.features.gradient is None:
            raise TypeError(f"descent needs features with a gradient, got {self.features.name!r}.")
        term = InGradient(self.features, self.frequencies, amplitudes)
        return self.rows.sum(term, self.width, beside=self.width) * (2.0 / self.rows.total_weight)


@dataclass(frozen=True)
class InGradient:
    """The share of a block in the gradient of Σw|Sβ − y|². It travels to where the rows are."""

    features: Features
    frequencies: Array
    amplitudes: Array

    def __call__(self, block: Block) -> Array:
        """Half of the gradient over the block, (K, d)."""
        return self.features.gradient(block, self.frequencies, self.amplitudes)  # type: ignore[misc]
