"""All pairs of frequencies, and the symmetric matrices that are made of one number for each pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from fourierwalk.arrays.library import Array, namespace


class Pairs(NamedTuple):
    """The pairs k < l of n frequencies, as flat indices of an (n, n) matrix, on the frequencies' device."""

    n: int
    above: Array  # entries above the diagonal
    below: Array  # their mirror images below it, in the same order

    @classmethod
    def of(cls, frequencies: Array) -> Pairs:
        """The pairs of as many frequencies."""
        n, xp, device = int(frequencies.shape[0]), namespace(frequencies), compat.device(frequencies)
        above = xp.asarray(np.flatnonzero(np.triu(np.ones((n, n), dtype=bool), 1)), device=device)
        return cls(n, above, above % n * n + above // n)

    def combined(self, frequencies: Array, operation: Callable[..., Any]) -> Array:
        """Differences or sums of all pairs, (n(n−1)/2, d)."""
        columns = [operation(axis[:, None], axis[None, :]).reshape(-1)[self.above] for axis in frequencies.T]
        return namespace(frequencies).stack(columns, axis=1) if len(columns) > 1 else columns[0][:, None]

    def matrix(self, above: Array, below: Array, diagonal: Any) -> Array:
        """The (n, n) matrix with these entries above, below and on the diagonal."""
        values = namespace(above).empty((self.n, self.n), dtype=above.dtype, device=compat.device(above))
        flat = values.reshape(-1)
        flat[self.above], flat[self.below] = above, below
        flat[:: self.n + 1] = diagonal
        return values

    def cosines_and_sines(self, differences: Array, sums: Array, total: float) -> Array:
        """[CᵀC, CᵀD; DᵀC, DᵀD] of cosines C and sines D, by cos·cos = (cos(−) + cos(+))/2 and its like.

        `differences` holds Σ exp(iω·x) at the differences of all pairs. `sums` holds it at their sums, and after these
        at twice each frequency.
        """
        n, n_pairs, xp = self.n, self.n * (self.n - 1) // 2, namespace(sums)
        minus, plus, double = differences / 2, sums[:n_pairs] / 2, sums[n_pairs:]
        gram = xp.empty((2 * n, 2 * n), dtype=xp.float64, device=compat.device(sums))
        cosines, sines = plus.real + minus.real, minus.real - plus.real
        gram[:n, :n] = self.matrix(cosines, cosines, (total + double.real) / 2)
        gram[n:, n:] = self.matrix(sines, sines, (total - double.real) / 2)
        # cos a sin b = (sin(a + b) − sin(a − b))/2, and a − b changes sign across the diagonal.
        gram[:n, n:] = self.matrix(plus.imag - minus.imag, plus.imag + minus.imag, double.imag / 2)
        gram[n:, :n] = gram[:n, n:].T
        return gram
