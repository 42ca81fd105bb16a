"""What is chosen from data: λ at fixed frequencies, the rows that the walk does not see, and the best state on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fourierwalk._arrays import Array, blas_threads, in_threads, namespace, real_part, squared_modulus, to_host
from fourierwalk.eigensystem import Eigensystem
from fourierwalk.features import Features
from fourierwalk.least_squares import LeastSquares
from fourierwalk.products import matmul
from fourierwalk.rows import Block, Rows
from fourierwalk.streaming import Streamed
from fourierwalk.temperature import CERTAIN_SCALE, best_temperature, log_losses

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


def beats_the_mean_left_out(problem: LeastSquares, candidate: Candidate) -> bool:
    """Whether a candidate is better than the constant model in squares and in the median, by leave-one-out."""
    values = left_out_values(problem, candidate.frequencies, candidate.look.regularization)
    targets = to_host(problem.rows.y)
    weight = None if problem.rows.weight is None else to_host(problem.rows.weight)
    total = problem.rows.total_weight
    constant = -targets / max(total - 1.0, 1.0)  # the mean of the others
    squares = [np.sum((each - targets) ** 2, axis=1) for each in (values, constant)]
    typical = [typical_error(each, targets, None, weight) for each in (values, constant)]
    return is_gain(squares[1] - squares[0], weight, *SURE_LEFT_OUT) and typical[0] <= MOST_TYPICAL * typical[1]


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


TIE = 1e-3
"""Errors that differ by less, as a share of the best, are the same."""


def _chosen(candidates: Sequence[Candidate]) -> Candidate:
    """The best; of those as good as it the one of the largest λ."""
    bar = (1 + TIE) * min(each.look.error for each in candidates)
    return max((each for each in candidates if each.look.error <= bar), key=lambda each: each.look.regularization)


QUIET = 0.02
"""Of the mean's error: below there is hardly any noise left."""

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
    """

    minimize: LeastSquares
    held_out: Rows
    regularization: float | None = None
    shares: Array | None = None

    def look(
        self, step: int, frequencies: Array, phase: str = "walk", path: Sequence[float] | None = None
    ) -> Candidate:
        """Solve for the amplitudes that belong to these frequencies and measure them."""
        tried = self._tried(step, frequencies, phase, PATH if path is None else path)
        if not tried:  # every λ was too small: the largest one, by minimum norm
            amplitudes = replace(self.minimize, regularization=PATH[-1])(frequencies).amplitudes
            tried = self._measured(step, frequencies, phase, [(PATH[-1], amplitudes)])
        return _chosen(tried)

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
            best = _chosen(tried).look.regularization
            down, up = best == PATH[low] and low > 0, best == PATH[high] and high + 1 < len(PATH)
            fresh = range(low - 1, low) if down else range(high + 1, high + 2) if up else range(0)
        return _chosen(tried)

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

    @cached_property
    def mean_error(self) -> float:
        """The error of the constant model, whose values are zero."""
        targets: Any = self.held_out.y
        rows, weight = self._row_errors(0.0 * targets[None, ...])[0, :], self.held_out.weight
        return float(namespace(rows).sum(rows if weight is None else rows * weight)) / self.held_out.total_weight

    def is_quiet(self, error: float) -> bool:
        """Whether a model of such an error has left hardly any noise to follow; log losses do not tell."""
        return self.shares is None and error < QUIET * self.mean_error

    def beats_the_mean(self, frequencies: Array, amplitudes: Array) -> bool:
        """Whether a model is better than the constant one, and not worse where most rows are.

        Squares are ruled by the largest errors; a model that wins on those alone has followed outliers.
        """
        features = self.minimize.features
        values = values_at(self.held_out, features, frequencies, features.coefficients(amplitudes))
        xp, rows = namespace(values), self.held_out
        both = xp.stack((values, xp.zeros_like(values)))
        errors, constants = to_host(self._row_errors(both))
        shares, weight = (None if part is None else to_host(part) for part in (self.shares, rows.weight))
        typical = [typical_error(each, to_host(rows.y), shares, weight) for each in to_host(both)]
        return is_gain(constants - errors, weight, *SURE) and typical[0] <= MOST_TYPICAL * typical[1]

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


MOST_TYPICAL = 1.02
SURE, SURE_LEFT_OUT = (2.0, 10.0), (1.0, 50.0)
"""How sure a gain over the mean must be: what is judged is the best of many on the same rows."""


def is_gain(gains: np.ndarray, weight: np.ndarray | None, sure: float, few: float) -> bool:
    """Whether the mean of the rows' gains is more than `sure` (1 + few/n) standard errors."""
    mean = np.average(gains, weights=weight)
    variance = np.average((gains - mean) ** 2, weights=weight)
    n_rows = gains.size if weight is None else float(np.sum(weight))
    return bool(mean > sure * (1 + few / n_rows) * np.sqrt(variance / n_rows))


def typical_error(
    values: np.ndarray, targets: np.ndarray, shares: np.ndarray | None, weight: np.ndarray | None = None
) -> float:
    """The (lower) median of the rows' absolute errors; of classes the rate of misclassification."""
    if shares is not None:
        is_wrong = np.argmax(values + shares, axis=1) != np.argmax(targets + shares, axis=1)
        return float(np.average(is_wrong, weights=weight))
    errors = np.sqrt(np.sum((values - targets) ** 2, axis=1))
    order = np.argsort(errors)
    up_to = np.cumsum(np.ones(errors.size) if weight is None else weight[order])
    return float(errors[order[np.searchsorted(up_to, 0.5 * up_to[-1])]])


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

    def add(rows: range) -> None:
        for start in range(rows.start, rows.stop, 512):
            part = slice(start, min(start + 512, rows.stop))
            values = x.on_host(part) if isinstance(x, Streamed) else to_host(x[part, :])
            total[part] = np.sum(_mix(_bits(values) * keys[None, :]), axis=1, dtype=np.uint64)

    n_threads = blas_threads()
    in_threads(add, [x.shape[0] * i // n_threads for i in range(n_threads + 1)], x.shape[0] * x.shape[1] > 2**20)
    return _mix(total)


def has_repeats(rows: Rows) -> bool:
    """Whether a tenth of the rows are repeated, by weights or as they are: leave-one-out sees the copies that stay."""
    return np.unique(row_hash(rows.x, 0)).size < 0.9 * rows.total_weight


def held_out_mask(
    x: Any, fraction: float, seed: int, labels: np.ndarray | None = None, fold: int = 0
) -> np.ndarray | None:
    """Which rows the walk does not see; None where there are too few distinct ones to spare any.

    Equal rows stay together. With labels the share is that of each class; a class of few distinct rows keeps them all.
    Different folds are disjoint, until all rows have been held out once.
    """
    distinct, first, group = np.unique(row_hash(x, seed), return_index=True, return_inverse=True)
    if distinct.size < MIN_DISTINCT_ROWS:
        return None
    classes = np.zeros(distinct.size, dtype=np.int64)
    if labels is not None:
        classes = labels[first].astype(np.int64)
        np.minimum.at(classes, group, labels)  # rows that differ in their label alone: any rule, but one of contents
    chosen = np.zeros(distinct.size, dtype=bool)
    for name in np.unique(classes):
        members = np.flatnonzero(classes == name)  # in the order of their hashes
        n = int(fraction * members.size + 0.5)
        chosen[members[(fold * n + np.arange(n)) % members.size]] = True
    mask = chosen[group]
    return mask if 0 < mask.sum() < mask.size else None


def _bits(values: np.ndarray) -> np.ndarray:
    """The bits of doubles, 0 for either zero, so that absent entries of a sparse row count as its zeros."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def _mix(values: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64; it keeps 0."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
