"""The rows of every member of a model: scaled, and split into those to learn from and those held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fourierwalk.arrays.library import Array
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.data.streaming import Streamed
from fourierwalk.training.automatic import Split
from fourierwalk.training.folds import Folds
from fourierwalk.training.policy import Policy
from fourierwalk.training.starts import Shape, explore, sample_size

SPANNING_ROWS = 2000
"""Rows whose span wide rows are projected to, at most."""


@dataclass(frozen=True)
class RowsPanel:
    """The rows of every member: scaled, and split by folds or by the user's own validation rows.

    Parameters
    ----------
    rows : Rows
        All rows, scaled.
    validation : Rows, optional
        The user's own rows to choose by.
    split_by : Folds, optional
        Which rows are held out, and the random order of rows; none: nothing is, and rows stay as they come.
    make : callable
        Rows to learn from and rows held out to a `Split`.
    n_together : int
        Members whose held-out rows decide together.
    shapes : tuple of Shape
        The shapes of the starts, by member; the first one holds for those that have none.
    span : Span, optional
        What the rows' coordinates are of, where they are not the inputs themselves.
    without : callable, optional
        A mask of rows to all rows, scaled, whose inputs do not depend on the targets of those in the mask. None: inputs
        depend on no targets.
    """

    rows: Rows
    validation: Rows | None
    split_by: Folds | None
    make: Callable[[Rows, Rows | None], Split]
    n_together: int = 1
    shapes: tuple[Shape, ...] = ()
    span: Span | None = None
    without: Callable[[np.ndarray], Rows] | None = None

    @property
    def n_inputs(self) -> int:
        """The columns of the rows: of wide ones, their coordinates."""
        return int(self.rows.x.shape[1])

    def narrowed(self) -> RowsPanel:
        """The same with wide rows in coordinates of their span, or of some of them."""
        if self.n_inputs <= len(self.rows) or isinstance(self.rows.x, Streamed):
            return self
        some = np.arange(len(self.rows))
        if self.split_by is not None:
            some = self.split_by.shuffled(some)
        span = Span.of(self.rows.take(some[:SPANNING_ROWS]))
        validation = None if self.validation is None else span.rows(self.validation)
        without = None if self.without is None else partial(_projected, span, self.without)
        return replace(self, rows=span.rows(self.rows), validation=validation, span=span, without=without)

    def lifted(self, frequencies: Array) -> Array:
        """Frequencies of these rows as frequencies of the inputs."""
        return frequencies if self.span is None else self.span.lift(frequencies)

    @property
    def n_rows(self) -> int:
        """The distinct rows."""
        return len(self.rows) if self.split_by is None else self.split_by.n_rows

    @property
    def holds_out(self) -> bool:
        """Whether there are rows to choose by."""
        return self.validation is not None or self.split_by is not None

    def parts(self, member: int) -> tuple[Rows, Rows | None]:
        """Rows to learn from, in a random order, and rows held out."""
        if self.split_by is None:
            return self.rows, self.validation
        if self.validation is not None:
            return self.rows.take(self.split_by.shuffled(np.arange(len(self.rows)))), self.validation
        mask = self.split_by.mask(member)
        seen, held_out = (self.split_by.shuffled(np.flatnonzero(part)) for part in (~mask, mask))
        rows = self.rows if self.without is None else self.without(mask)
        return rows.take(seen), rows.take(held_out)

    def split(self, member: int) -> Split:
        """The rows of a member."""
        split = self.make(*self.parts(member))
        if not self.shapes:
            return split
        return split._replace(shape=self.shapes[member if member < len(self.shapes) else 0])

    def explored(self, policy: Policy) -> tuple[RowsPanel, float]:
        """The same with shapes of starts, and the mean held-out error of the exploring kernels."""
        found = []
        n = np.arange(sample_size(self.n_inputs, policy))
        for member in range(self.n_together):
            train, held_out = (rows.take(n[: len(rows)]) for rows in self.parts(member) if rows is not None)
            found.append(explore(train, held_out, policy))
        panel = replace(self, shapes=tuple(each.shape for each in found))
        return panel, float(np.mean([each.fit.error for each in found]))


def _projected(span: Span, without: Callable[[np.ndarray], Rows], held_out: np.ndarray) -> Rows:
    return span.rows(without(held_out))
