"""Functions that are observed inside: the training of the regressors, on rows of conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array
from fourierwalk.data.rows import Rows
from fourierwalk.operators.posed import Posed
from fourierwalk.solving.least_squares import LeastSquares
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.ensemble import Searching
from fourierwalk.training.exploring import explore
from fourierwalk.training.policy import DEFAULT
from fourierwalk.training.selection import Selection
from fourierwalk.training.split import WALK_REGULARIZATION, Split
from fourierwalk.training.starts import Shape, Start

N_PARTS = 5
"""The parts of the points; each member of the average holds out another one."""


def is_observed(posed: Posed) -> bool:
    """Whether the function itself is given inside, at no fewer points than anything else."""
    counts = [len(one.points) for one in posed.conditions]
    return any(counts[i] == max(counts) for i in _values(posed))


def _values(posed: Posed) -> list[int]:
    """The conditions that give values of the function, at points of which most are inside."""
    d, ensemble = posed.features.n_inputs, []
    for i, (one, block) in enumerate(zip(posed.conditions, posed.blocks, strict=True)):
        is_inside = np.mean(np.max(np.abs(block[:, :d]), axis=1) < 1) > 0.5
        if one.operator.order == 0 and len(one.operator.terms) == 1 and is_inside:
            ensemble.append(i)
    return ensemble


class PointParts(NamedTuple):
    """Indices of the points of each condition that a member sees, and of those that it does not."""

    seen: list[np.ndarray]
    unseen: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class ConditionsPanel:
    """Conditions with one split of their points for each member of the average: a `Panel` of the training.

    Parameters
    ----------
    posed : Posed
        The conditions.
    reference : array
        An array in the library and on the device that computes.
    n_together : int
        The number of members whose residuals choose the width together.
    """

    posed: Posed
    reference: Array
    n_together: int = 1
    holds_out: bool = True

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(len(one.points) for one in self.posed.conditions)

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return self.posed.features.n_inputs

    @property
    def n_columns(self) -> int:
        """The number of inputs."""
        return self.n_inputs

    def parts(self, member: int) -> PointParts:
        """The points of a member; conditions with equal numbers of points are split alike."""
        parts: list[Any] = []
        for one in self.posed.conditions:
            order = np.random.default_rng(0).permutation(len(one.points))
            part = np.arange(order.size) % N_PARTS == member % N_PARTS
            seen = order if np.all(part) else order[~part]  # a single point is seen by every member
            parts.append((seen, order[part] if np.any(part) else order[:1]))
        return PointParts(*map(list, zip(*parts, strict=True)))

    def split(self, member: int) -> Split:
        """The problem of a member, its unseen rows, and the distribution of the first frequencies."""
        seen, unseen = (
            self.posed.take(part).rows(self.sizes, self.reference).take(_shuffled(part)) for part in self.parts(member)
        )
        problem = LeastSquares(seen, self.posed.features, WALK_REGULARIZATION)
        return Split(problem, Selection(problem, unseen), self.shape)

    def unsplit(self) -> None:
        """Frequencies stay as the search has found them."""

    @cached_property
    def shape(self) -> Shape:
        """The distribution of frequencies that a kernel finds in the values of the first output that has some."""
        d, i = self.n_inputs, _values(self.posed)[0]
        rows = []
        for part in self.parts(0):
            some = part[i][: DEFAULT.sample]
            rows.append(Rows(self.posed.blocks[i][some, :d], self.posed.conditions[i].values[some, None]))
        return explore([(rows[0], rows[1])], DEFAULT)[0].shape

    @cached_property
    def sizes(self) -> np.ndarray:
        """The sizes of the conditions, for such frequencies."""
        return self.posed.sizes(np.sqrt(self.shape.relevance))

    def run(self, n_frequencies: int | None, rng: np.random.Generator) -> Searching:
        """The training of the regressors."""
        start = Start(n_frequencies, self.n_inputs, self.n_inputs)
        return Automatic().search(self, start, rng)


def _shuffled(parts: list[np.ndarray]) -> np.ndarray:
    """A random order of all rows: training may take the first ones only."""
    return np.random.default_rng(1).permutation(sum(part.size for part in parts))
