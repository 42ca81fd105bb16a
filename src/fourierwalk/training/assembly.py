"""The end of a fit: final amplitudes on all rows, the model in the user's units, history and calibration."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.chunks.rows import ChunkedRows
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Scaling
from fourierwalk.model import FourierModel, mean_squared_gradients
from fourierwalk.sampling.sampler import Info
from fourierwalk.solving.eigensystem import Eigensystem
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.system import System, in_double
from fourierwalk.solving.together import systems
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.ensemble import Ensemble, averaged, for_average
from fourierwalk.training.evidence import Evidence, some_of
from fourierwalk.training.followed import Resume
from fourierwalk.training.history import Decision, Event, History
from fourierwalk.training.panel import RowsPanel
from fourierwalk.training.selection import Candidate, choose_regularization, left_out_values, values_at
from fourierwalk.training.task import Task
from fourierwalk.training.watching import Watched
from fourierwalk.uncertainty.error_bars import ErrorBars
from fourierwalk.uncertainty.posterior import MOST_COLUMNS, Posterior, factor_of_eigensystem, factor_of_system

MOST_LEFT_OUT = 1000
"""Without validation rows, a calibration uses leave-one-out up to this many rows, and the rows of the fit beyond."""

NEW_ROWS = 4
"""With this many times as many rows as in the sample that chose the frequencies, λ is chosen anew on all rows."""

GRADIENT_ROWS = 2000
"""The most rows at which the slopes of the model are measured for the importance of the inputs."""


class Calibration(NamedTuple):
    """Values of the final model at rows that it was not fitted to, their targets and weights, as NumPy arrays."""

    values: np.ndarray
    targets: np.ndarray
    weight: np.ndarray | None


class Member(NamedTuple):
    """One of the models that are averaged: the number of its frequencies, and its λ (infinite: it is constant)."""

    n_frequencies: int
    regularization: float


class Fit(NamedTuple):
    """The result of a fit; `interrupted` says whether the user pressed Ctrl-C."""

    model: FourierModel
    regularization: float
    history: History
    total_weight: float
    resume: Resume
    calibration: Calibration | None
    interrupted: bool = False
    members: tuple[Member, ...] = ()
    error_bars: ErrorBars | None = None


@dataclass(frozen=True)
class Assembly:
    """The parts of a fit, and how the model is put together from them.

    Parameters
    ----------
    task : Task
        The settings and the data of the fit.
    scaling : Scaling
        The scaling of inputs and targets.
    panel : RowsPanel
        The rows that the search has used.
    """

    task: Task
    scaling: Scaling
    panel: RowsPanel

    @property
    def features(self) -> Features:
        """The kind of columns."""
        return self.task.features

    @property
    def has_error_bars(self) -> bool:
        """Whether error bars are wanted and can be had: leave-one-out does not know groups."""
        knows_groups = self.task.data.groups is None or self.panel.split_by is not None
        return self.task.settings.error_bars and knows_groups

    @property
    def regularization(self) -> float | None:
        """The user's λ. None: chosen by the search, or by generalised cross-validation."""
        return self.task.start.regularization

    @cached_property
    def raw(self) -> Rows:
        """The scaled rows with all input columns; the search may have used fewer, or coordinates of the rows' span."""
        is_raw = self.panel.span is None and not self.panel.rows.in_chunks
        return self.panel.rows if is_raw else self.scaling.rows(*self.task.data[:3])

    @cached_property
    def all_rows(self) -> Rows | None:
        """All rows in chunks, with all input columns, if `raw` is a sample of them. None: the panel has all rows."""
        rows, whole = self.panel.rows, self.task.data.whole
        if isinstance(rows, ChunkedRows) and rows.preparation.held_out is None:
            return rows
        if whole is None or (whole.is_in_sample and not rows.in_chunks):
            return None
        return whole.rows(self.scaling)

    @property
    def whole(self) -> LeastSquares:
        """The least squares problem on all rows, in double precision."""
        rows = self.panel.rows if self.all_rows is None else self.all_rows
        return LeastSquares(rows, self.features, 0.0, replace(self.task.solver, precision="double", batch_size=None))

    def fit(self, watched: Watched) -> Fit:
        """The model of a finished search, with history, calibration and what a warm start needs."""
        ensemble, events = watched.ensemble, list(watched.events)
        solved = self._finals(for_average(ensemble.final), events)
        members = [member for member, _ in solved]
        self._warn_if_constant(members)
        model = self._model(members)
        sampler, step = getattr(self.task.search, "sampler", self.task.search), ensemble.final[0].look.step
        resume = Resume(ensemble.state, sampler, self.task.seed, step, model.frequencies, self.scaling.kind)
        regularization = self.regularization
        if regularization is None:  # one number for several members: the geometric mean
            regularization = float(np.exp(np.mean([np.log(member.look.regularization) for member in members])))
        in_memory = self.whole if self.all_rows is None else replace(self.whole, rows=self.raw)
        calibration = (
            _calibration(in_memory, ensemble, members, self.scaling) if not self.task.settings.scale_targets else None
        )
        history = History.of([*events, *_solves(events)])
        weight = self.whole.rows.total_weight
        parts = tuple(Member(int(each.frequencies.shape[0]), float(each.look.regularization)) for each in members)
        bars = self._error_bars(in_memory, ensemble, solved) if self.has_error_bars else None
        return Fit(model, regularization, history, weight, resume, calibration, watched.interrupted, parts, bars)

    def _error_bars(
        self, whole: LeastSquares, ensemble: Ensemble, solved: Sequence[tuple[Candidate, np.ndarray | None]]
    ) -> ErrorBars | None:
        """What the error bars need; None if no row is new to the frequencies, or if the factors are too large."""
        factors = [factor for _, factor in solved if factor is not None]
        if len(factors) < len(solved):
            return None
        targets = self.scaling.targets
        bounds = None if self.task.bounds is None else targets.apply(self.task.bounds)
        members, split_by = [member for member, _ in solved], self.panel.split_by
        n_folds = 0 if split_by is None or self.panel.validation is not None else len(split_by)
        evidence = Evidence(whole, ensemble, members, Posterior(tuple(factors)), bounds, n_folds)
        return evidence.error_bars(to_host(targets.scale))

    def _finals(self, members: Sequence[Candidate], events: list[Event]) -> list[tuple[Candidate, np.ndarray | None]]:
        """The members with amplitudes solved for on all rows; rows in chunks are read once for all members."""
        posed: Iterator[System | None] = repeat(None)
        if self.all_rows is not None:
            lifted = [self.panel.lifted(member.frequencies) for member in members if not member.is_constant]
            posed = iter(systems(self.whole, lifted))
        return [self._final(member, None if member.is_constant else next(posed), events) for member in members]

    def _final(
        self, member: Candidate, system: System | None, events: list[Event]
    ) -> tuple[Candidate, np.ndarray | None]:
        """The member with amplitudes from the equations of all rows, and the factor of their covariance.

        λ is the user's, or was chosen on the validation rows. Generalised cross-validation chooses it if there are
        none, or if the frequencies were chosen on a small sample: nearly all rows are then new to them.
        """
        look, features = member.look, self.features
        n_columns, factor = features.n_columns * int(member.frequencies.shape[0]), None
        if member.is_constant:
            return member, np.zeros((1, n_columns))
        keeps = self.has_error_bars and n_columns <= MOST_COLUMNS
        chosen = look.regularization if self.regularization is None else self.regularization
        is_small = not self.panel.rows.in_chunks and len(self.whole.rows) >= NEW_ROWS * len(self.raw)
        is_open = self.regularization is None and (is_small or math.isnan(look.error))
        if is_open and system is None:
            eigensystem = self.whole.eigensystem(member.frequencies)
            chosen = choose_regularization(eigensystem)
            amplitudes = eigensystem.amplitudes(chosen)
            if keeps:
                factor = factor_of_eigensystem(eigensystem, features, chosen * eigensystem.weight, n_columns)
        else:
            system = self.whole.system(member.frequencies) if system is None else system
            chosen = choose_regularization(Eigensystem.of(system, features)) if is_open else chosen
            z, _ = system.solved(chosen * system.weight)
            amplitudes = features.amplitudes(in_double(system.unknowns(z)))
            if keeps:
                factor = factor_of_system(system, features, chosen * system.weight, n_columns)
        if is_open:
            where = "at these frequencies" if self.all_rows is None else "on all rows"
            events.append(Decision(f"regularization {chosen:.3g} by generalised cross-validation {where}"))
        return member._replace(look=look._replace(regularization=chosen), amplitudes=amplitudes), factor

    def _warn_if_constant(self, members: Sequence[Candidate]) -> None:
        y, xp = self.raw.y, namespace(self.raw.y)
        varies = bool(xp.any(xp.max(y, axis=0) > xp.min(y, axis=0)))  # constant targets have a constant model
        if isinstance(self.task.search, Automatic) and varies and all(member.is_constant for member in members):
            warnings.warn(
                "Nothing was found that predicts the targets better than their mean: the model is constant. More rows, "
                "other inputs or less noise may help.",
                UserWarning,
                stacklevel=2,
            )

    def _model(self, members: Sequence[Candidate]) -> FourierModel:
        """The average of the members, in the inputs' and the targets' units."""
        frequencies, amplitudes = averaged(members)
        frequencies, importances, n = self.panel.lifted(frequencies), None, len(self.raw)
        if self.features.slopes is not None:
            some = self.raw.take(np.linspace(0, n - 1, min(n, GRADIENT_ROWS)).astype(np.int64))
            squares = mean_squared_gradients(some, self.features, frequencies, amplitudes)
            is_fixed = self.task.data.is_fixed
            if is_fixed is not None:  # columns that were not scaled: as if their variance were one
                squares = squares * like(np.where(is_fixed, np.var(to_host(some.x), axis=0), 1.0), squares)
            importances = _relevance(squares)
        targets = self.scaling.targets
        in_units = amplitudes * targets.scale[None, :]
        return FourierModel(
            frequencies, in_units, targets.center, self.features, self.scaling, self.task.bounds, importances
        )


def _relevance(squares: Array) -> Array:
    """The squares divided by their sum; equal shares if the sum is zero."""
    xp = namespace(squares)
    total = xp.sum(squares)
    alike = xp.ones_like(squares) / squares.shape[0]
    return xp.where(total > 0, squares / xp.where(total > 0, total, xp.ones_like(total)), alike)


def _calibration(whole: LeastSquares, ensemble: Ensemble, final: Sequence[Candidate], scaling: Scaling) -> Calibration:
    """The members' values at their validation rows; without validation rows, see `_own_values`."""
    if ensemble.judges[0] is None:
        parts = [_own_values(whole, final)]
    else:
        judged = zip(ensemble.judges, ensemble.members, strict=True)
        seen = [(member, judge.held_out) for judge, member in judged if judge is not None]
        parts = [(member.values(rows, whole.features), rows) for member, rows in seen]
    shares = to_host(scaling.targets.center)
    values = np.concatenate([to_host(value) for value, _ in parts]) + shares
    targets = np.concatenate([to_host(rows.y) for _, rows in parts]) + shares
    if whole.rows.weight is None:
        return Calibration(values, targets, None)
    weights = [np.ones(len(rows)) if rows.weight is None else to_host(rows.weight) for _, rows in parts]
    return Calibration(values, targets, np.concatenate(weights))


def _own_values(whole: LeastSquares, final: Sequence[Candidate]) -> tuple[Any, Rows]:
    """Values at the rows of the fit: by leave-one-out if there are few rows and one member."""
    rows = whole.rows
    if len(final) == 1 and rows.total_weight <= MOST_LEFT_OUT:
        return left_out_values(whole, final[0].frequencies, final[0].look.regularization), rows
    rows = some_of(rows, 10 * MOST_LEFT_OUT)  # evenly spaced, because rows may be sorted by class
    frequencies, amplitudes = averaged(final)
    return values_at(rows, whole.features, frequencies, whole.features.coefficients(amplitudes)), rows


def _solves(events: Sequence[Event]) -> Iterator[Decision]:
    """Decisions that count the solves by path and precision, and those that were repeated or singular."""
    solves = [event.solve for event in events if isinstance(event, Info) and event.solve is not None]
    for path, precision in sorted({(solve.path, solve.precision) for solve in solves}):
        n = sum((solve.path, solve.precision) == (path, precision) for solve in solves)
        yield Decision(f"{n} steps solved on the {path} path in {precision} precision")
    raised, fallen = sum(solve.raised for solve in solves), sum(solve.fallback for solve in solves)
    if raised:
        yield Decision(
            f"{raised} of them repeated in a higher precision, because the one asked for could not be trusted"
        )
    if fallen:
        yield Decision(f"{fallen} of them singular: solved for the minimum norm")
