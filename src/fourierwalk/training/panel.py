"""The scaled rows of a fit, with one train-validation split for each member of the average."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourierwalk.arrays.library import Array, float64, to_host
from fourierwalk.data.columns import Columns
from fourierwalk.data.rows import Rows
from fourierwalk.data.span import Span
from fourierwalk.training.exploring import explore, mean_error, relevant, sample_size
from fourierwalk.training.folds import Folds
from fourierwalk.training.policy import Policy
from fourierwalk.training.split import Split
from fourierwalk.training.starts import Shape

SPANNING_ROWS = 2000
"""The most rows whose span wide rows are projected to."""


@dataclass(frozen=True)
class RowsPanel:
    """The scaled rows of a fit, split by folds or by the user's own validation rows.

    Parameters
    ----------
    rows : Rows
        All rows, scaled.
    validation : Rows, optional
        The user's own validation rows.
    split_by : Folds, optional
        Which rows are held out, and the random order of the rows. None: no row is, and rows keep their order.
    make : callable
        ``make(training_rows, validation_rows)`` returns a `Split`.
    n_together : int
        The number of members whose validation errors are averaged when the width is chosen.
    shapes : tuple of Shape
        The distribution of the first frequencies, for each member; further members take the first one.
    span : Span or Columns, optional
        The subspace whose coordinates the rows have. None: they have all inputs.
    without : callable, optional
        ``without(mask)`` returns all rows, scaled, with inputs that do not depend on the targets of the rows in the
        mask. It is needed if inputs are mean targets. None: inputs do not depend on targets.
    center : array of shape (q,), optional
        The constant beside the kernels: targets should be measured from it. None: it is zero.
    """

    rows: Rows
    validation: Rows | None
    split_by: Folds | None
    make: Callable[[Rows, Rows | None], Split]
    n_together: int = 1
    shapes: tuple[Shape, ...] = ()
    span: Span | Columns | None = None
    without: Callable[[np.ndarray], Rows] | None = None
    center: np.ndarray | None = None

    @property
    def n_inputs(self) -> int:
        """The number of columns, or of coordinates if there is a span."""
        return int(self.rows.x.shape[1])

    @property
    def n_columns(self) -> int:
        """The number of all inputs, which is that of the components of a final frequency."""
        return self.n_inputs if self.span is None else self.span.n_inputs

    def narrowed(self, spanning_rows: int = SPANNING_ROWS) -> RowsPanel:
        """The same; rows with more columns than rows become coordinates of the span of at most 2,000 of them."""
        if self.n_inputs <= len(self.rows) or self.rows.is_streamed:
            return self
        some = np.arange(len(self.rows))
        if self.split_by is not None:
            some = self.split_by.shuffled(some)
        return self.within(Span.of(self.rows.take(some[:spanning_rows])))

    def lifted(self, frequencies: Array) -> Array:
        """Frequencies of the coordinates as frequencies of the inputs."""
        return frequencies if self.span is None else self.span.lift(frequencies)

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""
        return len(self.rows) if self.split_by is None else self.split_by.n_rows

    @property
    def holds_out(self) -> bool:
        """Whether there are validation rows."""
        return self.validation is not None or self.split_by is not None

    def parts(self, member: int) -> tuple[Rows, Rows | None]:
        """The training rows of a member, in random order, and its validation rows."""
        if self.split_by is None:
            return self.rows, self.validation
        if self.validation is not None:
            return self.rows.take(self.split_by.shuffled(np.arange(len(self.rows)))), self.validation
        mask = self.split_by.mask(member)
        seen, held_out = (self.split_by.shuffled(np.flatnonzero(part)) for part in (~mask, mask))
        rows = self.rows if self.without is None else self.without(mask)
        return rows.take(seen), rows.take(held_out)

    def split(self, member: int) -> Split:
        """The train-validation split of a member."""
        split = self.make(*self.parts(member))
        if not self.shapes:
            return split
        return split._replace(shape=self.shapes[member if member < len(self.shapes) else 0])

    def unsplit(self) -> Split | None:
        """All rows. None: validation rows are the user's own."""
        return None if self.validation is not None else self.make(self.rows, None)

    def explored(
        self, policy: Policy, are_classes: bool = False, deadline: float = math.inf
    ) -> tuple[RowsPanel, float]:
        """The same with distributions of the first frequencies, and the mean validation error of the kernels.

        Inputs that no kernel needs are left out; the kernels are then fitted again to the others.
        """
        n = np.arange(sample_size(self.n_columns, self.n_together, policy))
        samples: Any = [  # the parts of one member at a time: each is a copy of all rows
            tuple(rows.take(n[: len(rows)]) for rows in self.parts(member) if rows is not None)
            for member in range(self.n_together)
        ]
        explorations = explore(samples, policy, are_classes, deadline)
        error = mean_error(explorations)
        shapes = tuple(exploration.shape for exploration in explorations)
        center = np.mean([to_host(float64(exploration.fit.center)) for exploration in explorations], axis=0)
        panel = replace(self, shapes=shapes, center=center if np.any(center) else None)
        if self.span is not None or self.rows.is_streamed or time.monotonic() >= deadline:
            return panel, error
        kept = np.unique(np.concatenate([relevant(exploration, policy) for exploration in explorations]))
        if kept.size == self.n_inputs:
            return panel, error
        fewer, error_of_fewer = self.within(Columns(kept, self.n_inputs)).explored(policy, are_classes, deadline)
        return (fewer, error_of_fewer) if error_of_fewer <= error else (panel, error)

    def within(self, span: Span | Columns) -> RowsPanel:
        """The same with rows as coordinates of a subspace."""
        validation = None if self.validation is None else span.rows(self.validation)
        own = self.without
        without = None if own is None else lambda held_out: span.rows(own(held_out))
        return replace(self, rows=span.rows(self.rows), validation=validation, span=span, without=without)
