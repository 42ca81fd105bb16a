"""What is chosen from data: λ at fixed frequencies, the rows that the walk does not see, and the best state on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fourierwalk._arrays import Array, namespace, to_host
from fourierwalk.least_squares import Eigensystem, LeastSquares
from fourierwalk.rows import Block, Rows

MIN_DISTINCT_ROWS = 100
"""Below this no rows are held out: too few to choose by."""

CONDITION = 1e7
"""λ is never so small that the equations' condition number exceeds this."""


def choose_regularization(eigensystem: Eigensystem) -> float:
    """λ by generalised cross-validation: the minimiser of (RSS/N) / (1 − trace/N)² on a logarithmic path.

    Good for λ at fixed frequencies only: it cannot see that the frequencies were fitted on the same rows.
    """
    path = regularization_path(eigensystem).tolist()
    return path[int(np.argmin([gcv(eigensystem, value) for value in path]))]


def regularization_path(eigensystem: Eigensystem, n_values: int = 25) -> np.ndarray:
    """From the floor that bounds the condition number up to the largest eigenvalue itself."""
    largest = float(eigensystem.values[eigensystem.values.shape[0] - 1]) / eigensystem.weight
    largest = largest if largest > 0 else 1.0
    return largest * np.geomspace(1 / CONDITION, 1.0, n_values)


def gcv(eigensystem: Eigensystem, regularization: float) -> float:
    """The generalised cross-validation score at λ."""
    freedom = 1.0 - eigensystem.degrees_of_freedom(regularization) / eigensystem.weight
    return eigensystem.residual(regularization) / eigensystem.weight / max(freedom, 1e-12) ** 2


class Check(NamedTuple):
    """One look at a state: its held-out mean squared error with amplitudes solved for at its own λ."""

    step: int
    error: float
    regularization: float
    frequencies: Array


@dataclass(frozen=True)
class Selection:
    """Looks at states of a walk through rows that the walk does not see.

    Parameters
    ----------
    minimize : LeastSquares
        The problem on the rows of the walk.
    held_out : Rows
        The rows that it does not see.
    regularization : float, optional
        λ; none means chosen by `choose_regularization` at each look.
    """

    minimize: LeastSquares
    held_out: Rows
    regularization: float | None = None

    def check(self, step: int, frequencies: Array) -> Check:
        """Solve for the amplitudes that belong to these frequencies and measure them."""
        if self.regularization is None:
            eigensystem = self.minimize.eigensystem(frequencies)
            regularization = choose_regularization(eigensystem)
            amplitudes = eigensystem.amplitudes(regularization)
        else:
            regularization = self.regularization
            amplitudes = self.minimize(frequencies).amplitudes
        return Check(step, self.error(frequencies, amplitudes), regularization, frequencies)

    def error(self, frequencies: Array, amplitudes: Array) -> float:
        """Weighted mean squared error of the real part on the held-out rows."""
        features = self.minimize.features
        coefficients = features.coefficients(amplitudes)

        def squares(block: Block) -> Any:
            residual = features.columns(block, frequencies) @ coefficients - block.y
            xp = namespace(residual)
            per_row = xp.sum(residual * residual, axis=1)
            return xp.sum(per_row if block.weight is None else per_row * block.weight)

        width = features.n_columns * frequencies.shape[0]
        return float(self.held_out.sum(squares, width)) / self.held_out.total_weight


def row_hash(x: Any, seed: int) -> np.ndarray:
    """A seeded 64-bit hash of each row's contents: equal rows have equal hashes, wherever they stand."""
    keys = np.random.default_rng(seed).integers(1, 2**63, size=x.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )
    if scipy.sparse.issparse(x):
        x = scipy.sparse.csr_array(x, copy=True)
        x.sum_duplicates()
        mixed = _mix(_bits(x.data) * keys[x.indices])
        total = np.zeros(x.shape[0], dtype=np.uint64)
        np.add.at(total, np.repeat(np.arange(x.shape[0]), np.diff(x.indptr)), mixed)
        return _mix(total)
    total = np.zeros(x.shape[0], dtype=np.uint64)
    for start in range(0, x.shape[0], 4096):
        part = slice(start, min(start + 4096, x.shape[0]))
        total[part] = np.sum(_mix(_bits(to_host(x[part, :])) * keys[None, :]), axis=1, dtype=np.uint64)
    return _mix(total)


def held_out_mask(x: Any, fraction: float, seed: int) -> np.ndarray | None:
    """Which rows the walk does not see; None where there are too few distinct ones to spare any."""
    hashes = row_hash(x, seed)
    if np.unique(hashes).size < MIN_DISTINCT_ROWS:
        return None
    mask = hashes < np.uint64(fraction * 2**64)
    return mask if 0 < mask.sum() < mask.size else None


def _bits(values: np.ndarray) -> np.ndarray:
    """The bits of doubles, 0 for either zero, so that absent entries of a sparse row count as its zeros."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mix(values: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64; it keeps 0."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
