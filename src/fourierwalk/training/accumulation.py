"""Amplitudes from rows that come in parts, at frequencies and a scaling of the inputs that stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fourierwalk.arrays.library import Array, namespace
from fourierwalk.data.rows import Rows
from fourierwalk.model import FourierModel
from fourierwalk.solving.normal_equations import InNormalEquations, NormalEquations
from fourierwalk.training.assembly import Member


@dataclass(frozen=True)
class Accumulation:
    """Sums over all rows seen so far. The sums of two parts of the data add up by ``+``.

    Parameters
    ----------
    equations : sequence of NormalEquations
        For each averaged model, the sums for targets [y | 1] in the scaled units of the first part. The column of ones
        gives the sums of the columns, by which the targets are centred at the mean of all rows.
    target_sum : array of shape (q,)
        Σwy, in the same units.
    lowest, highest : array of shape (q,)
        The range of the targets in their own units.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.linspace(-3, 3, 400)[:, None]
    >>> y = np.sin(2 * x)
    >>> model = AdaptiveFourierRegressor(8, sampler="descent", random_state=0).fit(x, y).model_
    >>> members = [Member(8, regularization=1e-6)]
    >>> odd, even = (Accumulation.of(model, members, x[i::2], y[i::2]) for i in (0, 1))
    >>> whole = Accumulation.of(model, members, x, y)
    >>> bool(np.allclose((odd + even).solved(model, members).amplitudes, whole.solved(model, members).amplitudes))
    True
    """

    equations: tuple[NormalEquations, ...]
    target_sum: Array
    lowest: Array
    highest: Array

    @classmethod
    def of(
        cls, model: FourierModel, members: Sequence[Member], x: Any, y: Array, weight: Array | None = None
    ) -> Accumulation:
        """The sums over raw rows x and targets y, (n, q), at the frequencies and the scaling of a model."""
        xp, targets = namespace(y), model.scaling.targets.apply(y)
        ones = xp.ones_like(targets[:, :1])
        rows: Rows = replace(model.scaling.rows(x), y=xp.concat((targets, ones), axis=1), weight=weight)
        equations = tuple(_summed(rows, model, part) for part in _parts(members))
        weighted = targets if weight is None else targets * weight[:, None]
        return cls(equations, xp.sum(weighted, axis=0), xp.min(y, axis=0), xp.max(y, axis=0))

    @property
    def weight(self) -> float:
        """The sum of the weights."""
        return float(self.equations[0].weight)

    def __add__(self, other: Accumulation) -> Accumulation:
        xp = namespace(self.lowest)
        return Accumulation(
            tuple(own + others for own, others in zip(self.equations, other.equations, strict=True)),
            self.target_sum + other.target_sum,
            xp.minimum(self.lowest, other.lowest),
            xp.maximum(self.highest, other.highest),
        )

    def times(self, factor: float) -> Accumulation:
        """The sums with every weight multiplied by a factor; the range of the targets stays."""
        equations = tuple(NormalEquations(*(factor * part for part in _fields(each))) for each in self.equations)
        return replace(self, equations=equations, target_sum=factor * self.target_sum)

    def moved(self, move: Callable[[Array], Array]) -> Accumulation:
        """The same sums with each array moved."""
        equations = tuple(
            NormalEquations(move(each.gram), move(each.moment), move(each.target_energy), float(each.weight))
            for each in self.equations
        )
        return Accumulation(equations, move(self.target_sum), move(self.lowest), move(self.highest))

    def solved(self, model: FourierModel, members: Sequence[Member], margin: float = 0.0) -> FourierModel:
        """The model with amplitudes for all rows seen.

        Targets are centred at their mean, unless the model does not scale. Bounds, if there are any, are widened to the
        range of the targets and `margin` times its length on each side.
        """
        first, xp = model.scaling.targets, namespace(self.target_sum)
        mean = self.target_sum / self.weight
        if model.scaling.kind == "none":
            mean = xp.zeros_like(mean)
        parts = [self._amplitudes(i, model, member, mean) for i, member in enumerate(members)]
        amplitudes = xp.concat(parts, axis=0) * first.scale[None, :] / len(members)
        room, bounds = margin * (self.highest - self.lowest), None
        if model.bounds is not None:
            bounds = xp.stack((self.lowest - room, self.highest + room))
        return replace(model, amplitudes=amplitudes, offset=first.center + first.scale * mean, bounds=bounds)

    def _amplitudes(self, i: int, model: FourierModel, member: Member, mean: Array) -> Array:
        """The amplitudes of one of the averaged models, in the scaled units of the first part."""
        equations = self.equations[i]
        moment = equations.moment[:, :-1] - equations.moment[:, -1:] * mean[None, :]
        system = replace(equations, moment=moment).system(model.features)
        if math.isinf(member.regularization):  # a constant model
            return namespace(moment).zeros_like(model.features.amplitudes(system.right_hand_side))
        return model.features.amplitudes(system.solved(member.regularization * system.weight)[0])


def _summed(rows: Rows, model: FourierModel, part: slice) -> NormalEquations:
    frequencies = model.frequencies[part, :]
    term = InNormalEquations(model.features, frequencies)
    return rows.sum(term, model.features.n_columns * int(frequencies.shape[0]))


def _parts(members: Sequence[Member]) -> list[slice]:
    """The frequencies of each of the averaged models."""
    ends = [sum(member.n_frequencies for member in members[: i + 1]) for i in range(len(members))]
    return [slice(end - member.n_frequencies, end) for member, end in zip(members, ends, strict=True)]


def _fields(equations: NormalEquations) -> tuple[Any, ...]:
    return equations.gram, equations.moment, equations.target_energy, equations.weight
