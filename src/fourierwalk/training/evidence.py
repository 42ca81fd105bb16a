"""Residuals at rows that the frequencies have not seen, and the error bars that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.arrays.products import matmul
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.ensemble import Ensemble, averaged
from fourierwalk.training.selection import Candidate
from fourierwalk.uncertainty import noise
from fourierwalk.uncertainty.conformal import Conformal
from fourierwalk.uncertainty.error_bars import ErrorBars, standard_error
from fourierwalk.uncertainty.posterior import Posterior

MOST_ROWS = 5000
"""The most rows that error bars are learnt from. A coverage is then known to 0.5 %."""

LEAST_FREEDOM = 0.05
"""The least 1 − h of a row of leverage h, for members whose last solve has seen the row. h may be rounded."""

LEAST_LEFT_OUT = 1e-9
"""The same where leave-one-out decides: a model that follows its rows closely has a 1 − h of 1e-5."""

N_PARTS = 5
"""Parts of a cross-validation of the noise if the rows have no folds of their own."""


class Members(NamedTuple):
    """The members at some rows; scaled units."""

    targets: np.ndarray  # (n, q)
    weight: np.ndarray  # (n,)
    before: np.ndarray  # values before the last solve, (n, M, q)
    final: np.ndarray  # values after it, (n, M, q)
    left_out: np.ndarray  # values after it, without the row, (n, M, q)
    leverage: np.ndarray  # the mean variance of the amplitudes' part at unit noise, without the row, (n,)
    waves: np.ndarray  # the columns of the noise model


class Unseen(NamedTuple):
    """What is known at some rows that a member has not seen; scaled units."""

    residual: np.ndarray  # of the member, (n, q)
    others: np.ndarray  # of other members of the model, whose amplitudes alone do not know the row, (n, M − 1, q)
    leverage: np.ndarray  # the variance of the amplitudes' part at unit noise, without the row itself, (n,)
    spread: np.ndarray  # the squared standard error of the members' mean, (n, q)
    before: np.ndarray  # the same of the members before the last solve, whose λ may be another
    waves: np.ndarray  # the columns of the noise model
    weight: np.ndarray  # (n,)


@dataclass(frozen=True)
class Evidence:
    """The members of a fit, and the rows that each has not seen.

    Parameters
    ----------
    whole : LeastSquares
        The problem on all rows.
    ensemble : Ensemble
        The members before the last solve, with their validation rows.
    final : sequence of Candidate
        The members after it.
    posterior : Posterior
        The covariance of the final amplitudes.
    bounds : array of shape (2, q), optional
        The range that predictions are clipped to, scaled.
    n_folds : int
        The number of disjoint folds; zero if the validation rows are the user's own, the same for all members.
    """

    whole: LeastSquares
    ensemble: Ensemble
    final: Sequence[Candidate]
    posterior: Posterior
    bounds: Array | None
    n_folds: int

    def error_bars(self, scale: np.ndarray) -> ErrorBars | None:
        """The error bars in the targets' units; None if there are no rows that the frequencies have not seen."""
        if self._is_left_out and any(member.look.step > 0 for member in self.ensemble.members):
            return None
        sizes = tuple(int(each.frequencies.shape[0]) for each in self.final)
        frequencies, _ = averaged(self.final)
        waves = noise.slowest(to_host(frequencies))
        slow = namespace(frequencies).take(frequencies, like(waves, frequencies), axis=0)
        unseen = self._unseen(slow)
        residual, others, leverage, spread, before, columns, weight = (
            np.concatenate(parts) for parts in zip(*unseen, strict=True)
        )
        average = averaged_residual(residual, others, before, weight)
        member = np.concatenate([np.full(len(part.weight), i) for i, part in enumerate(unseen)])
        n_judged = len(self.ensemble.members)
        n_parts = min(n_judged, self.n_folds)
        fold = (member % n_parts if n_parts > 1 else _places(columns)) % N_PARTS
        squares = average**2 / (1.0 + leverage[:, None])
        learnt = noise.learn(waves, columns, noise.Residuals(squares, weight, fold))
        variance = learnt.variance * (1.0 + leverage[:, None]) + spread
        std, times = np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny)), n_judged / max(1, n_parts)
        plus = Conformal(np.abs(residual) / std, weight, member % len(sizes), times)
        conformal = plus
        if len(sizes) > 1:
            conformal = Conformal(np.abs(average) / std, weight, np.zeros_like(member), times)
        without = self.final if self._is_left_out else self.ensemble.final
        folds = np.concatenate([to_host(each.amplitudes) for each in without]) * scale
        return ErrorBars(sizes, self.posterior, learnt.model.scaled(scale), conformal, plus, folds)

    def _unseen(self, slow: Array) -> list[Unseen]:
        """What is known at the rows of each member. Members of one fold have the same rows: these are computed once."""
        places = [member % self.n_folds if self.n_folds else 0 for member in range(len(self.ensemble.members))]
        rows = {place: self._rows(places.index(place)) for place in set(places)}
        at = {place: self._members(rows[place], slow) for place in rows}
        return [self._unseen_by(member, rows[place], at[place]) for member, place in enumerate(places)]

    def _unseen_by(self, member: int, rows: Rows, at: Members) -> Unseen:
        values = at.final if self._is_left_out else at.before
        others = at.targets[:, None, :] - np.delete(at.left_out, member % len(self.final), axis=1)
        spread, before = standard_error(at.final), standard_error(values)
        own = at.targets - self._own(member, rows, at)
        return Unseen(own, others, at.leverage, spread, before, at.waves, at.weight)

    def _own(self, member: int, rows: Rows, at: Members) -> np.ndarray:
        """The values of a member at rows that its frequencies have not seen, (n, q)."""
        if self._is_left_out:
            return at.left_out[:, member, :]
        judged, kept = self.ensemble.members[member], self.ensemble.final[member : member + 1]
        if kept and kept[0] is judged:
            return at.before[:, member, :]
        return self._clipped(judged.values(rows, self.features))  # it is not in the model, or has moved since

    def _rows(self, member: int) -> Rows:
        """The rows that the member has not seen, or all if rows are left out one by one."""
        judge = self.ensemble.judges[member]
        return some_of(self.whole.rows if judge is None else judge.held_out, MOST_ROWS // len(self.ensemble.members))

    @property
    def _is_left_out(self) -> bool:
        """Whether there are no validation rows: each row is then left out by itself."""
        return self.ensemble.judges[0] is None

    @property
    def features(self) -> Features:
        """The kind of columns."""
        return self.whole.features

    def _coefficients(self, member: Candidate) -> Array:
        return self.features.coefficients(member.amplitudes)

    def _members(self, rows: Rows, slow: Array) -> Members:
        """The members at some rows.

        If the last solve has seen the rows, each is left out of it: the variance h at unit noise becomes h/(1 − h), and
        y − f(x) becomes (y − f(x))/(1 − h). Of a row of weight w one unit of the weight is left out.
        """
        targets, is_inside = to_host(rows.y), self._is_left_out or self.n_folds > 0
        least = LEAST_LEFT_OUT if self._is_left_out else LEAST_FREEDOM
        before, final, left_out, leverages = [], [], [], []
        for member in range(len(self.final)):
            values, leverage = self._values(rows, member)
            value = values[1]
            before.append(self._clipped(values[0]))
            final.append(self._clipped(value))
            if is_inside:
                leverage = leverage / np.maximum(1.0 - leverage, least)
                value = targets - (targets - value) * (1.0 + leverage[:, None])
            left_out.append(self._clipped(value))
            leverages.append(leverage)
        weight = np.ones(len(rows)) if rows.weight is None else to_host(rows.weight)
        waves = [to_host(self.features.columns(block, slow)) for block in rows.blocks(_width(self.features, slow))]
        return Members(
            targets,
            weight,
            np.stack(before, axis=1),
            np.stack(final, axis=1),
            np.stack(left_out, axis=1),
            np.mean(leverages, axis=0),
            np.concatenate(waves),
        )

    def _values(self, rows: Rows, member: int) -> tuple[list[np.ndarray], np.ndarray]:
        """A member's values before the last solve and after it, (n, q) each, and its variance at unit noise, (n,).

        The last solve leaves the frequencies as they are: all are made of the same columns.
        """
        earlier, last = self.ensemble.final[member], self.final[member]
        frequencies = last.frequencies
        coefficients = [self._coefficients(each) for each in (earlier, last)]
        both, parts = namespace(coefficients[0]).concat(coefficients, axis=1), []
        for block in rows.blocks(_width(self.features, frequencies)):
            columns = self.features.columns(block, frequencies)
            parts.append((to_host(matmul(columns, both)), to_host(self.posterior.variance(member, columns))))
        values, variances = (np.concatenate(each) for each in zip(*parts, strict=True))
        return np.split(values, 2, axis=1), variances

    def _clipped(self, values: Array) -> np.ndarray:
        host = to_host(values)
        return host if self.bounds is None else np.clip(host, *to_host(self.bounds))


def averaged_residual(own: np.ndarray, others: np.ndarray, spread: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The residual of the average at rows that the frequencies of one member have not seen, (n, q): an estimate.

    The frequencies of the other members have seen the rows, which makes their residuals too small. How far members lie
    apart depends less on that. So the mean square of the average is taken to be that of the member's own residuals,
    less the part of the variance of the M members that averaging removes: 1 − 1/M. If the residuals of the average at
    hand are smaller, they are multiplied by one factor.

    Parameters
    ----------
    own : array of shape (n, q)
        Residuals of the member that has not seen the row.
    others : array of shape (n, M − 1, q)
        Residuals of the other members, whose amplitudes have not seen the row.
    spread : array of shape (n, q)
        The squared standard error of the members' mean.
    weight : array of shape (n,)
        Weights of the rows.

    Examples
    --------
    Errors of opposite sign cancel in the average.

    >>> averaged_residual(np.array([[2.0], [2.0]]), np.array([[[-2.0]], [[2.0]]]), np.array([[4.0], [0.0]]), np.ones(2))
    array([[0.],
           [2.]])
    """
    n_members = 1 + others.shape[1]
    if n_members == 1:
        return own
    average = (own + np.sum(others, axis=1)) / n_members
    square = weight @ own**2
    least = np.maximum(square - (n_members - 1) * (weight @ spread), square / n_members)
    return average * np.maximum(1.0, np.sqrt(least / np.maximum(weight @ average**2, np.finfo(np.float64).tiny)))


def _width(features: Features, frequencies: Array) -> int:
    return features.n_columns * int(frequencies.shape[0])


def _places(columns: np.ndarray) -> np.ndarray:
    """A number for each row; equal rows have the same one."""
    mixed = columns @ np.random.default_rng(0).standard_normal(columns.shape[1])
    return np.unique(np.round(mixed, 9), return_inverse=True)[1].reshape(-1)


def some_of(rows: Rows, most: int) -> Rows:
    """At most so many rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows.take(np.linspace(0, len(rows) - 1, most).astype(np.int64))
