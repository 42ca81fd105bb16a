"""What is chosen on held-out rows or by leave-one-out: λ, and the best of some states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.complexes import real_part, squared_modulus
from fourierwalk.arrays.library import Array, namespace, to_host
from fourierwalk.arrays.products import matmul
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.temperature import CERTAIN_SCALE, best_temperature, log_losses

CONDITION = 1e7
"""λ is never so small that the equations' condition number exceeds this."""


def choose_regularization(eigensystem: Eigensystem) -> float:
    """λ by generalised cross-validation: the minimiser of (RSS/N) / (1 − trace/N)² on a logarithmic path.

    Good for λ at fixed frequencies only: it cannot see that the frequencies were fitted on the same rows.
    """
    path = regularization_path(eigensystem).tolist()
    return path[int(np.argmin([gcv(eigensystem, value) for value in path]))]


def by_leave_one_out(problem: LeastSquares, frequencies: Array, regularization: float | None = None) -> Candidate:
    """The candidate at λ, by leave-one-out if none is given: for frequencies that were not fitted to these rows."""
    eigensystem = problem.eigensystem(frequencies)
    path = regularization_path(eigensystem) if regularization is None else np.array([regularization])
    errors = leave_one_out(problem, eigensystem, frequencies, path)
    best = int(np.argmin(errors))
    look = Look(0, float(errors[best]), float(path[best]), "leave-one-out")
    return Candidate(look, frequencies, eigensystem.amplitudes(look.regularization))


def regularization_path(eigensystem: Eigensystem, n_values: int = 25) -> np.ndarray:
    """From the floor that bounds the condition number up to the largest eigenvalue itself."""
    largest = float(eigensystem.values[eigensystem.values.shape[0] - 1]) / eigensystem.weight
    largest = largest if largest > 0 else 1.0
    return largest * np.geomspace(1 / CONDITION, 1.0, n_values)


def gcv(eigensystem: Eigensystem, regularization: float) -> float:
    """The generalised cross-validation score at λ."""
    freedom = 1.0 - eigensystem.degrees_of_freedom(regularization) / eigensystem.weight
    return eigensystem.residual(regularization) / eigensystem.weight / max(freedom, 1e-12) ** 2


def leave_one_out(
    problem: LeastSquares, eigensystem: Eigensystem, frequencies: Array, regularizations: np.ndarray
) -> np.ndarray:
    """Σwᵢ|rᵢ/(1 − hᵢ)|²/Σw at each λ, exactly, by one more sum over the rows.

    hᵢ is the leverage of one unit of weight, so that whole weights equal repeated rows.
    """
    features = problem.features
    divisors = [eigensystem.divisor(value) for value in regularizations.tolist()]

    def squares(block: Block) -> Array:
        rotated = matmul(features.matrix(features.columns(block, frequencies)), eigensystem.basis)
        xp, power = namespace(rotated), squared_modulus(rotated)
        totals = []
        for divisor in divisors:
            leverage = power @ (1.0 / divisor)
            residual = rotated @ (eigensystem.projections / divisor[:, None]) - block.y
            per_row = xp.sum(squared_modulus(residual), axis=1) / xp.clip(1.0 - leverage, 1e-9, 2.0) ** 2
            totals.append(xp.sum(per_row if block.weight is None else per_row * block.weight))
        return xp.stack(totals)

    width = 2 * features.n_columns * int(frequencies.shape[0])
    return to_host(problem.rows.sum(squares, width)) / problem.rows.total_weight


def left_out_values(problem: LeastSquares, frequencies: Array, regularization: float) -> np.ndarray:
    """What the real part would be at each row if one unit of its weight had been left out: y + r/(1 − h), (n, q)."""
    eigensystem, features = problem.eigensystem(frequencies), problem.features
    divisor = eigensystem.divisor(regularization)
    found = []
    for block in problem.rows.blocks(2 * features.n_columns * int(frequencies.shape[0])):
        rotated = matmul(features.matrix(features.columns(block, frequencies)), eigensystem.basis)
        leverage = squared_modulus(rotated) @ (1.0 / divisor)
        residual = real_part(rotated @ (eigensystem.projections / divisor[:, None])) - block.y
        found.append(to_host(block.y + residual / namespace(residual).clip(1.0 - leverage, 1e-9, 2.0)[:, None]))
    return np.concatenate(found)


class Look(NamedTuple):
    """What was seen of a state: its error on held-out rows, with amplitudes of its own λ."""

    step: int
    error: float
    regularization: float
    phase: str = "walk"


class Candidate(NamedTuple):
    """A state that may be kept, with its own amplitudes."""

    look: Look
    frequencies: Array
    amplitudes: Array

    @property
    def is_constant(self) -> bool:
        """Whether nothing better than the mean of the targets was found."""
        return math.isinf(self.look.regularization)


def _chosen(candidates: Sequence[Candidate], tie: float) -> Candidate:
    """The best; of those as good as it the one of the largest λ."""
    bar = (1 + tie) * min(each.look.error for each in candidates)
    return max((each for each in candidates if each.look.error <= bar), key=lambda each: each.look.regularization)


PATH = tuple(10.0**power for power in range(-8, 2))
"""The λ that a look tries."""


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
        λ; none means the best of a path on the held-out rows, at each look.
    shares : array of shape (q,), optional
        The classes' shares, where targets are one-hot less these: errors are then log losses at the best temperature,
        which follow the rate of misclassification much closer than squares do.
    tie : float
        Errors that differ by less, as a share of the best, are the same: the larger λ is taken.
    """

    minimize: LeastSquares
    held_out: Rows
    regularization: float | None = None
    shares: Array | None = None
    tie: float = DEFAULT.tie

    def look(
        self, step: int, frequencies: Array, phase: str = "walk", path: Sequence[float] | None = None
    ) -> Candidate:
        """Solve for the amplitudes that belong to these frequencies and measure them."""
        tried = self._tried(step, frequencies, phase, PATH if path is None else path)
        if not tried:  # every λ was too small: the largest one, by minimum norm
            amplitudes = replace(self.minimize, regularization=PATH[-1])(frequencies).amplitudes
            tried = self._measured(step, frequencies, phase, [(PATH[-1], amplitudes)])
        return _chosen(tried, self.tie)

    def look_near(self, before: Look, step: int, frequencies: Array, phase: str) -> Candidate:
        """A look along the neighbours of an earlier look's λ, and on from there while that is better."""
        if self.regularization is not None or before.regularization not in PATH:
            return self.look(step, frequencies, phase)
        low = high = PATH.index(before.regularization)
        tried: list[Candidate] = []
        fresh = range(max(0, low - 1), min(len(PATH), high + 2))
        while fresh:
            low, high = min(low, fresh.start), max(high, fresh.stop - 1)
            tried += self._tried(step, frequencies, phase, PATH[fresh.start : fresh.stop])
            if not tried:
                return self.look(step, frequencies, phase)
            best = _chosen(tried, self.tie).look.regularization
            down, up = best == PATH[low] and low > 0, best == PATH[high] and high + 1 < len(PATH)
            fresh = range(low - 1, low) if down else range(high + 1, high + 2) if up else range(0)
        return _chosen(tried, self.tie)

    def _tried(self, step: int, frequencies: Array, phase: str, path: Sequence[float]) -> list[Candidate]:
        """The frequencies with amplitudes of each λ that is not too small, and their errors."""
        if self.regularization is not None:
            found = [(self.regularization, replace(self.minimize, regularization=self.regularization)(frequencies)[0])]
        else:
            found = list(self.minimize.along(frequencies, path))
        return self._measured(step, frequencies, phase, found) if found else []

    def _measured(
        self, step: int, frequencies: Array, phase: str, found: Sequence[tuple[float, Array]]
    ) -> list[Candidate]:
        errors = self.errors(frequencies, [amplitudes for _, amplitudes in found])
        return [
            Candidate(Look(step, error, regularization, phase), frequencies, amplitudes)
            for error, (regularization, amplitudes) in zip(errors, found, strict=True)
        ]

    def refined(self, candidate: Candidate) -> Candidate:
        """The candidate with its λ from a finer path."""
        if self.regularization is not None:
            return candidate
        step, _, regularization, phase = candidate.look
        path = [regularization * 10.0 ** (power / 4) for power in range(-3, 4)]
        finer = self.look(step, candidate.frequencies, phase, path)
        return finer if finer.look.error < candidate.look.error else candidate

    def errors(self, frequencies: Array, amplitudes: Sequence[Array]) -> list[float]:
        """Errors of the real parts on the held-out rows, for each of the amplitudes; infinite where they are no number.

        Weighted means of squares, or log losses.
        """
        features, q = self.minimize.features, int(amplitudes[0].shape[1])
        coefficients = namespace(frequencies).concat([features.coefficients(each) for each in amplitudes], axis=1)
        width = features.n_columns * int(frequencies.shape[0]) + q * len(amplitudes)
        joined = values_at(self.held_out, features, frequencies, coefficients, width)
        xp, weight = namespace(joined), self.held_out.weight
        rows = self._row_errors(xp.stack([joined[:, i * q : (i + 1) * q] for i in range(len(amplitudes))]))
        total = xp.sum(rows if weight is None else rows * weight, axis=1)
        found = to_host(total) / self.held_out.total_weight
        return np.where(np.isfinite(found), found, np.inf).tolist()

    def gains(self, candidate: Candidate) -> np.ndarray:
        """How much smaller each held-out row's error is than that of the constant model, times the row's weight."""
        features, weight = self.minimize.features, self.held_out.weight
        values = values_at(self.held_out, features, candidate.frequencies, features.coefficients(candidate.amplitudes))
        xp = namespace(values)
        errors = self._row_errors(xp.stack((xp.zeros_like(values), values)))
        gains = errors[0, :] - errors[1, :]
        return to_host(gains if weight is None else gains * weight)

    def _row_errors(self, values: Array) -> Array:
        """The errors (n, n_rows) of (n, n_rows, q) values."""
        targets: Any = self.held_out.y
        if self.shares is None:
            return namespace(values).sum((values - targets) ** 2, axis=2)
        values, targets = values + self.shares, targets + self.shares
        scale, _ = best_temperature(values, targets, self.held_out.weight, CERTAIN_SCALE)
        return log_losses(values, targets, scale)


def values_at(
    rows: Rows, features: Features, frequencies: Array, coefficients: Array, width: int | None = None
) -> Array:
    """A model's real part at some rows, block by block."""
    blocks = rows.blocks(features.n_columns * int(frequencies.shape[0]) if width is None else width)
    found = [matmul(features.columns(block, frequencies), coefficients) for block in blocks]
    return found[0] if len(found) == 1 else namespace(found[0]).concat(found, axis=0)
