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
from fourierwalk.training.automatic import Ensemble
from fourierwalk.training.selection import Candidate, values_at
from fourierwalk.uncertainty import noise
from fourierwalk.uncertainty.conformal import Conformal
from fourierwalk.uncertainty.error_bars import ErrorBars, standard_error
from fourierwalk.uncertainty.posterior import Posterior

MOST_ROWS = 5000
"""The most rows that error bars are learnt from. A coverage is then known to 0.5 %."""

LEAST_FREEDOM = 1e-3
"""The least 1 − h of a row of leverage h, for members that have seen their held-out rows in the last solve."""

LEAST_LEFT_OUT = 1e-9
"""The same where leave-one-out decides: a model that follows its rows closely has a 1 − h of 1e-5."""

N_PARTS = 5
"""Parts of a cross-validation of the noise if the rows have no folds of their own."""


class Unseen(NamedTuple):
    """What is known at some rows that a member has not seen; scaled units."""

    residual: np.ndarray  # of the member, (n, q)
    leverage: np.ndarray  # the variance of the amplitudes' part at unit noise, without the row itself, (n,)
    spread: np.ndarray  # the squared standard error of the members' mean, (n, q)
    waves: np.ndarray  # the columns of the noise model
    weight: np.ndarray  # (n,)


@dataclass(frozen=True)
class Evidence:
    """The members of a fit, and the rows that each has not seen.

    Parameters
    ----------
    whole : LeastSquares
        The problem on all rows.
    found : Found
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
        if self.ensemble.judges[0] is None and any(member.look.step > 0 for member in self.ensemble.members):
            return None
        sizes = tuple(int(each.frequencies.shape[0]) for each in self.final)
        frequencies = namespace(self.final[0].frequencies).concat([each.frequencies for each in self.final], axis=0)
        waves = noise.slowest(to_host(frequencies))
        slow = namespace(frequencies).take(frequencies, like(waves, frequencies), axis=0)
        unseen = [self._unseen(member, slow) for member in range(len(sizes))]
        residual, leverage, spread, columns, weight = (np.concatenate(parts) for parts in zip(*unseen, strict=True))
        member = np.concatenate([np.full(len(part.weight), i) for i, part in enumerate(unseen)])
        n_parts = min(len(sizes), self.n_folds)
        fold = (member % n_parts if n_parts > 1 else _places(columns)) % N_PARTS
        squares = residual**2 / (1.0 + leverage[:, None])
        learnt = noise.learn(waves, columns, noise.Residuals(squares, weight, fold))
        variance = learnt.variance * (1.0 + leverage[:, None]) + spread
        scores = np.abs(residual) / np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))
        conformal = Conformal(scores, weight, member, len(sizes) / max(1, n_parts))
        without = self.final if self.ensemble.judges[0] is None else self.ensemble.members
        folds = np.concatenate([to_host(each.amplitudes) for each in without]) * scale
        return ErrorBars(sizes, self.posterior, learnt.model.scaled(scale), conformal, folds)

    def _unseen(self, member: int, slow: Array) -> Unseen:
        judge, own = self.ensemble.judges[member], self.ensemble.members[member]
        rows = _some(self.whole.rows if judge is None else judge.held_out, MOST_ROWS // len(self.final))
        values, leverage = self._evaluated(rows, is_inside=judge is None or self.n_folds > 0)
        targets = to_host(rows.y)
        if (
            judge is None
        ):  # leave-one-out: the residual over 1 − h, and 1/(1 − h) is one plus the variance without the row
            residual = (targets - values[:, member, :]) * (1.0 + leverage[:, None])
        else:
            residual = targets - self._clipped(values_at(rows, self.features, own.frequencies, self._coefficients(own)))
        weight = np.ones(len(rows)) if rows.weight is None else to_host(rows.weight)
        columns = [to_host(self.features.columns(block, slow)) for block in rows.blocks(_width(self.features, slow))]
        return Unseen(residual, leverage, standard_error(values), np.concatenate(columns), weight)

    @property
    def features(self) -> Features:
        """The kind of columns."""
        return self.whole.features

    def _coefficients(self, member: Candidate) -> Array:
        return self.features.coefficients(member.amplitudes)

    def _evaluated(self, rows: Rows, is_inside: bool) -> tuple[np.ndarray, np.ndarray]:
        """The final members' values, (n, M, q), and the mean of their variances at unit noise, (n,).

        If the last solve has seen the rows, one unit of the row's weight is left out: h becomes h/(1 − h).
        """
        values, leverages = [], []
        least = LEAST_LEFT_OUT if self.ensemble.judges[0] is None else LEAST_FREEDOM
        for member, each in enumerate(self.final):
            parts = []
            for block in rows.blocks(_width(self.features, each.frequencies)):
                columns = self.features.columns(block, each.frequencies)
                variance = to_host(self.posterior.variance(member, columns))
                parts.append((self._clipped(matmul(columns, self._coefficients(each))), variance))
            values.append(np.concatenate([value for value, _ in parts]))
            leverage = np.concatenate([variance for _, variance in parts])
            leverages.append(leverage / np.maximum(1.0 - leverage, least) if is_inside else leverage)
        return np.stack(values, axis=1), np.mean(leverages, axis=0)

    def _clipped(self, values: Array) -> np.ndarray:
        host = to_host(values)
        return host if self.bounds is None else np.clip(host, *to_host(self.bounds))


def _width(features: Features, frequencies: Array) -> int:
    return features.n_columns * int(frequencies.shape[0])


def _places(columns: np.ndarray) -> np.ndarray:
    """A number for each row; equal rows have the same one."""
    mixed = columns @ np.random.default_rng(0).standard_normal(columns.shape[1])
    return np.unique(np.round(mixed, 9), return_inverse=True)[1].reshape(-1)


def _some(rows: Rows, most: int) -> Rows:
    """At most so many rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows.take(np.linspace(0, len(rows) - 1, most).astype(np.int64))
