"""Model selection on validation rows or by leave-one-out: λ, and the best of several states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.complexes import real_part, squared_modulus
from fourierwalk.arrays.library import Array, namespace, to_host
from fourierwalk.arrays.products import matmul
from fourierwalk.data.features import Features
from fourierwalk.data.hashes import row_hash
from fourierwalk.data.rows import Block, Rows
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.temperature import CERTAIN_SCALE, best_temperature, entropies, log_losses

CONDITION = 1e7
"""The largest condition number of the equations: it bounds λ from below."""


def choose_regularization(eigensystem: Eigensystem) -> float:
    """λ by generalised cross-validation: the minimiser of (RSS/N) / (1 − trace/N)² on a logarithmic grid.

    It is valid at fixed frequencies only: it does not know that frequencies were fitted to the same rows.
    """
    path = regularization_path(eigensystem).tolist()
    return path[int(np.argmin([gcv(eigensystem, value) for value in path]))]


def by_leave_one_out(problem: LeastSquares, frequencies: Array, regularization: float | None = None) -> Candidate:
    """The candidate at these frequencies with its leave-one-out error; λ, if not given, is the one of least error.

    The frequencies must not have been fitted to these rows.
    """
    eigensystem = problem.eigensystem(frequencies)
    path = regularization_path(eigensystem) if regularization is None else np.array([regularization])
    errors = leave_one_out(problem, eigensystem, frequencies, path)
    best = int(np.argmin(errors))
    look = Look(0, float(errors[best]), float(path[best]), "leave-one-out")
    return Candidate(look, frequencies, eigensystem.amplitudes(look.regularization))


def regularization_path(eigensystem: Eigensystem, n_values: int = 25) -> np.ndarray:
    """A logarithmic grid of λ, from the largest eigenvalue divided by `CONDITION` up to the largest eigenvalue."""
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
    """The exact leave-one-out error Σwᵢ|rᵢ/(1 − hᵢ)|²/Σw at each λ, by one more sum over the rows.

    rᵢ is the residual, hᵢ the leverage of one unit of weight: a row of weight 2 counts like two equal rows.
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
    """The leave-one-out prediction at each row, y + r/(1 − h), (n, q): one unit of the row's weight is left out."""
    eigensystem, features = problem.eigensystem(frequencies), problem.features
    divisor = eigensystem.divisor(regularization)
    parts = []
    for block in problem.rows.blocks(2 * features.n_columns * int(frequencies.shape[0])):
        rotated = matmul(features.matrix(features.columns(block, frequencies)), eigensystem.basis)
        leverage = squared_modulus(rotated) @ (1.0 / divisor)
        residual = real_part(rotated @ (eigensystem.projections / divisor[:, None])) - block.y
        parts.append(to_host(block.y + residual / namespace(residual).clip(1.0 - leverage, 1e-9, 2.0)[:, None]))
    return np.concatenate(parts)


class Look(NamedTuple):
    """One measurement of the validation error of a state."""

    step: int
    error: float
    regularization: float  # the λ that was chosen for the amplitudes
    phase: str = "walk"


class Candidate(NamedTuple):
    """Frequencies that may be kept, with amplitudes at the λ of their look."""

    look: Look
    frequencies: Array
    amplitudes: Array

    @property
    def is_constant(self) -> bool:
        """Whether nothing better than the mean of the targets was found."""
        return math.isinf(self.look.regularization)

    def values(self, rows: Rows, features: Features) -> Array:
        """The real part of the model at some rows, (n, q)."""
        return values_at(rows, features, self.frequencies, features.coefficients(self.amplitudes))


def _chosen(candidates: Sequence[Candidate], tie: float) -> Candidate:
    """The candidate of the largest λ among those whose error is within the share `tie` of the least."""
    most = (1 + tie) * min(candidate.look.error for candidate in candidates)
    tied = (candidate for candidate in candidates if candidate.look.error <= most)
    return max(tied, key=lambda candidate: candidate.look.regularization)


PATH = tuple(10.0**power for power in range(-8, 2))
"""The grid of λ that a look tries."""


@dataclass(frozen=True)
class Selection:
    """Measures the validation error of frequencies, and chooses λ by it.

    Parameters
    ----------
    minimize : LeastSquares
        The problem on the training rows.
    held_out : Rows
        The validation rows.
    regularization : float, optional
        λ. None: each look chooses the λ of `PATH` with the least validation error.
    shares : array of shape (q,), optional
        For classification, the share of each class in the rows; targets are one-hot minus these shares. Errors are then
        log losses at the best temperature. They follow the rate of misclassification more closely than squared errors.
    tie : float
        Errors within this share of the least error count as equal; among them the largest λ is taken.
    mean : array of shape (q,), optional
        The mean of all targets, which is what a constant model predicts. None: zero.
    """

    minimize: LeastSquares
    held_out: Rows
    regularization: float | None = None
    shares: Array | None = None
    tie: float = DEFAULT.tie
    mean: Array | None = None

    def look(self, step: int, frequencies: Array, phase: str = "walk") -> Candidate:
        """Solve for amplitudes at these frequencies, at each λ of `PATH`, and return the best as a candidate."""
        tried = self.along(step, frequencies, phase, PATH)
        if not tried:  # singular at every λ: the minimum norm solution at the largest one
            amplitudes = replace(self.minimize, regularization=PATH[-1])(frequencies).amplitudes
            tried = self._measured(step, frequencies, phase, [(PATH[-1], amplitudes)])
        return _chosen(tried, self.tie)

    def look_near(self, before: Look, step: int, frequencies: Array, phase: str) -> Candidate:
        """A cheaper look: try the λ of an earlier look and its neighbours, and go on while the best is at the edge."""
        if self.regularization is not None or before.regularization not in PATH:
            return self.look(step, frequencies, phase)
        low = high = PATH.index(before.regularization)
        tried: list[Candidate] = []
        fresh = range(max(0, low - 1), min(len(PATH), high + 2))
        while fresh:
            low, high = min(low, fresh.start), max(high, fresh.stop - 1)
            tried += self.along(step, frequencies, phase, PATH[fresh.start : fresh.stop])
            if not tried:
                return self.look(step, frequencies, phase)
            best = _chosen(tried, self.tie).look.regularization
            down, up = best == PATH[low] and low > 0, best == PATH[high] and high + 1 < len(PATH)
            fresh = range(low - 1, low) if down else range(high + 1, high + 2) if up else range(0)
        return _chosen(tried, self.tie)

    def along(self, step: int, frequencies: Array, phase: str, path: Sequence[float]) -> list[Candidate]:
        """A candidate for each λ of a path at which the equations are not singular."""
        if self.regularization is not None:
            solved = [(self.regularization, replace(self.minimize, regularization=self.regularization)(frequencies)[0])]
        else:
            solved = list(self.minimize.along(frequencies, path))
        return self._measured(step, frequencies, phase, solved) if solved else []

    def _measured(
        self, step: int, frequencies: Array, phase: str, solved: Sequence[tuple[float, Array]]
    ) -> list[Candidate]:
        errors = self.errors(frequencies, [amplitudes for _, amplitudes in solved])
        return [
            Candidate(Look(step, error, regularization, phase), frequencies, amplitudes)
            for error, (regularization, amplitudes) in zip(errors, solved, strict=True)
        ]

    def errors(self, frequencies: Array, amplitudes: Sequence[Array]) -> list[float]:
        """The validation error at each of the amplitudes: a weighted mean of squared errors, or of log losses.

        An error that is not a finite number becomes infinite.
        """
        features, q = self.minimize.features, int(amplitudes[0].shape[1])
        coefficients = namespace(frequencies).concat([features.coefficients(beta) for beta in amplitudes], axis=1)
        width = features.n_columns * int(frequencies.shape[0]) + q * len(amplitudes)
        joined = values_at(self.held_out, features, frequencies, coefficients, width)
        xp, weight = namespace(joined), self.held_out.weight
        rows = self._row_errors(xp.stack([joined[:, i * q : (i + 1) * q] for i in range(len(amplitudes))]))
        total = xp.sum(rows if weight is None else rows * weight, axis=1)
        means = to_host(total) / self.held_out.total_weight
        return np.where(np.isfinite(means), means, np.inf).tolist()

    def gains(self, candidate: Candidate) -> np.ndarray:
        """For each distinct validation row: the error of the constant model minus the candidate's.

        Each is multiplied by the row's weight and divided by the mean weight. Repeated rows are one, with their weights
        together: they are no new evidence.
        """
        values, weight = candidate.values(self.held_out, self.minimize.features), self.held_out.weight
        xp = namespace(values)
        constant = xp.zeros_like(values) if self.mean is None else xp.broadcast_to(self.mean, values.shape)
        errors = self._row_errors(xp.stack((constant, values)))
        gains = errors[0, :] - errors[1, :]
        totals = np.bincount(self._distinct, to_host(gains if weight is None else gains * weight))
        return totals * (totals.size / self.held_out.total_weight)

    @cached_property
    def _distinct(self) -> np.ndarray:
        """The number of each validation row; equal rows have the same one."""
        return np.unique(row_hash(self.held_out.x, 0), return_inverse=True)[1].reshape(-1)

    def _row_errors(self, values: Array) -> Array:
        """The error of each row, (n, n_rows), for n models with values (n, n_rows, q)."""
        targets: Any = self.held_out.y
        if self.shares is None:
            return namespace(values).sum((values - targets) ** 2, axis=2)
        values, targets = values + self.shares, targets + self.shares
        scale, _ = best_temperature(values, targets, self.held_out.weight, CERTAIN_SCALE)
        return log_losses(values, targets, scale) - entropies(targets)  # soft targets: what no model can take off


def refined(members: Sequence[Candidate], judges: Sequence[Any]) -> list[Candidate]:
    """The members with one λ for all, from a finer grid around their own; few validation rows decide together.

    The mean of the members' validation errors decides. They stay as they are if λ is the user's, or if no λ of the grid
    can be had by all.
    """
    own = [member.look.regularization for member in members]
    if any(judge.regularization is not None for judge in judges):
        return list(members)
    low, high = (round(4 * math.log10(value)) for value in (min(own), max(own)))
    path = [10.0 ** (power / 4) for power in range(low - 3, high + 4)]
    at = []
    for judge, (look, frequencies, _) in zip(judges, members, strict=True):
        tried = judge.along(look.step, frequencies, look.phase, path)
        at.append({each.look.regularization: each for each in tried})
    errors = {λ: math.fsum(each[λ].look.error for each in at) for λ in path if all(λ in each for each in at)}
    if not errors:
        return list(members)
    tied = [λ for λ, error in errors.items() if error <= (1 + judges[0].tie) * min(errors.values())]
    return [each[max(tied)] for each in at]


def values_at(
    rows: Rows, features: Features, frequencies: Array, coefficients: Array, width: int | None = None
) -> Array:
    """The real part of a model at some rows, (n, q), computed block by block."""
    blocks = rows.blocks(features.n_columns * int(frequencies.shape[0]) if width is None else width)
    parts = [matmul(features.columns(block, frequencies), coefficients) for block in blocks]
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)
