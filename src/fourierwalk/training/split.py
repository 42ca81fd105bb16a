"""A train-validation split of the rows, as the problem that is solved and the looks that judge it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from fourierwalk.arrays.library import to_host
from fourierwalk.data.features import Features
from fourierwalk.data.rows import Rows
from fourierwalk.data.waves import CosineSine, RoundedCosineSine
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.policy import Policy
from fourierwalk.training.selection import Candidate, Selection
from fourierwalk.training.starts import Shape

MANY_INPUTS = 10
"""With more inputs than this, frequencies are learnt from more rows."""

WALK_REGULARIZATION = 0.01
"""λ of the steps of a walk if the user gives none."""


class Split(NamedTuple):
    """A train-validation split, and the distribution of the first frequencies."""

    problem: LeastSquares  # on the training rows
    selection: Selection | None  # with the validation rows; None: there are none
    shape: Shape | None = None

    def sample(self, policy: Policy) -> Split:
        """The same with the training rows to learn from: the first ones, because rows are in random order."""
        rows = self.problem.rows
        n_rows = rows_to_learn_from(int(rows.x.shape[1]), len(rows), policy)
        if n_rows >= len(rows) or self.selection is None:
            return self
        return self._posed(rows.take(np.arange(n_rows)), self.problem.features)

    def rounded(self) -> Split:
        """The same in single precision where that is faster: for cosine-sine features of dense NumPy rows."""
        if self.problem.features != CosineSine() or not isinstance(self.problem.rows.x, np.ndarray):
            return self
        return self._posed(self.problem.rows, RoundedCosineSine())

    def _posed(self, rows: Rows, features: Features) -> Split:
        """A split with other training rows or features; the problem and the looks share their equations."""
        problem, selection = LeastSquares(rows, features, self.problem.regularization, self.problem.solver), None
        if self.selection is not None:
            selection = replace(self.selection, minimize=replace(problem, solver=self.selection.minimize.solver))
        return Split(problem, selection, self.shape)

    def shaped_by(self, member: Candidate) -> Split:
        """The same with new frequencies drawn from the covariance of a trained member's, weighted by ``|βₖ|²``.

        By Parseval this is the mean outer product of the member's own gradients. It has seen more rows than the
        kernel's.
        """
        if self.shape is None:
            return self
        weights = np.sum(np.abs(to_host(member.amplitudes)) ** 2, axis=1)
        roots = np.sqrt(weights / max(float(np.sum(weights)), 1e-300))
        n_inputs = self.shape.root.shape[1]
        return self._replace(shape=self.shape._replace(root=roots[:, None] * to_host(member.frequencies)[:, :n_inputs]))


class Panel(Protocol):
    """The rows of a fit, with one train-validation split for each member of the average."""

    @property
    def n_together(self) -> int:
        """The number of members whose validation errors are averaged when the width is chosen."""

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""

    @property
    def n_inputs(self) -> int:
        """The number of columns, or of coordinates if the rows are narrowed."""

    @property
    def n_columns(self) -> int:
        """The number of all inputs."""

    @property
    def holds_out(self) -> bool:
        """Whether there are validation rows."""

    def split(self, member: int) -> Split:
        """The train-validation split of a member."""

    def unsplit(self) -> Split | None:
        """All rows, for the last steps of a single member. None: there are none that it has not seen."""


def rows_to_learn_from(n_inputs: int, n_rows: int, policy: Policy) -> int:
    """The number of rows that frequencies are learnt from; more if there are many inputs."""
    return min(n_rows, policy.rows_per_input * max(MANY_INPUTS, n_inputs))


def least_error(splits: Sequence[Split], policy: Policy) -> float:
    """A floor for comparisons of log losses, so that a few rows do not decide; zero for squared errors."""
    judges = [split.selection for split in splits]
    n_rows = sum(len(judge.held_out) for judge in judges if judge is not None and judge.shares is not None)
    return policy.sure_rows / n_rows if n_rows else 0.0
