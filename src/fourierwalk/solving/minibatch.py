"""Solves on a random minibatch of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.draws import mark, restore
from fourierwalk.arrays.library import Array
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.solving.solution import Solution


@dataclass(frozen=True)
class Minibatch:
    """``minimize`` on a new random minibatch at every call, for walks over many more rows than unknowns.

    Parameters
    ----------
    problem : LeastSquares
        The problem on all rows; ``problem.solver.batch_size`` rows are drawn.
    rng : numpy.random.Generator
        The source of the random rows.
    """

    problem: LeastSquares
    rng: np.random.Generator

    def __call__(self, frequencies: Array) -> Solution:
        """The minimiser on a new minibatch, or on all rows if there are no more than the batch size."""
        n_rows, size = len(self.problem.rows), self.problem.solver.batch_size
        if size is None or size >= n_rows:
            return self.problem(frequencies)
        drawn = np.sort(self.rng.choice(n_rows, size, replace=False, shuffle=False))
        solver = replace(self.problem.solver, path="direct", batch_size=None)
        return replace(self.problem, rows=self.problem.rows.take(drawn), solver=solver)(frequencies)

    def mark(self) -> list[Any]:
        """The states of the generator and of the problem, for `restore`."""
        return [mark(self.rng), self.problem.mark()]

    def restore(self, marks: list[Any]) -> None:
        """Go back to the states that `mark` gave."""
        restore(self.rng, marks[0])
        self.problem.restore(marks[1])
