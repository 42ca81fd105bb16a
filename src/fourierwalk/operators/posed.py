"""Conditions as one least squares problem: scaled rows with the coefficients of their operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fourierwalk.arrays.library import Array, like
from fourierwalk.data.affine import Affine
from fourierwalk.data.rows import Rows
from fourierwalk.operators.condition import Condition
from fourierwalk.operators.features import OperatedWaves
from fourierwalk.operators.operator import Derivative

N_WAVES = 256
"""The waves by which the sizes of operators are measured."""


@dataclass(frozen=True, eq=False)
class Posed:
    """Conditions in scaled inputs, as rows [x | coefficients].

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions.
    scaling : Affine
        The scaling of the inputs, as NumPy arrays.
    features : OperatedWaves
        Their derivatives, in scaled inputs.
    """

    conditions: tuple[Condition, ...]
    scaling: Affine
    features: OperatedWaves

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Posed:
        """The conditions; their box of points is scaled to [−1, 1]."""
        points = np.concatenate([condition.points for condition in conditions])
        low, high = np.min(points, axis=0), np.max(points, axis=0)
        half = (high - low) / 2
        scaling = Affine((low + high) / 2, np.where(half > 0, half, 1.0))
        terms = [term.derivative for condition in conditions for term in condition.operator.terms]
        derivatives = tuple(dict.fromkeys(_scaled(one, scaling) for one in terms))
        n_outputs = max(condition.operator.n_outputs for condition in conditions)
        return cls(tuple(conditions), scaling, OperatedWaves(points.shape[1], derivatives, n_outputs))

    @cached_property
    def blocks(self) -> tuple[np.ndarray, ...]:
        """[x | coefficients] of each condition, (n, d + T)."""
        return tuple(self._block(condition) for condition in self.conditions)

    def _block(self, condition: Condition) -> np.ndarray:
        coefficients = np.zeros((len(condition.points), len(self.features.derivatives)))
        for term in condition.operator.terms:
            factor = np.prod([1.0 / self.scaling.scale[j] for j in term.derivative.inputs])
            place = self.features.derivatives.index(_scaled(term.derivative, self.scaling))
            coefficients[:, place] += factor * term.at(condition.points)
        return np.concatenate((self.scaling.apply(condition.points), coefficients), axis=1)

    def take(self, chosen: Sequence[np.ndarray]) -> Posed:
        """The conditions at some of their points."""
        some = (condition.take(part) for condition, part in zip(self.conditions, chosen, strict=True))
        return replace(self, conditions=tuple(some))

    def sizes(self, spread: float | np.ndarray) -> np.ndarray:
        """The size of each condition's operator, (n_conditions,), for frequencies N(0, spread²).

        The spread is a number, or one for each input.

        It is the root of the summed squares of its terms, because terms may cancel in a solution.
        """
        d, rng = self.features.n_inputs, np.random.default_rng(0)
        omega = spread * rng.standard_normal((N_WAVES, d))
        symbols = [np.mean(np.abs(one.symbol(omega)) ** 2) for one in self.features.derivatives]
        squares = [np.mean(block[:, d:] ** 2, axis=0) @ np.array(symbols) for block in self.blocks]
        return np.sqrt(np.maximum(squares, 1e-300))

    def rows(self, sizes: np.ndarray, reference: Array) -> Rows:
        """Scaled rows in which every condition has the same total weight, with residuals in units of its size."""
        x, y, weight = [], [], []
        n = sum(len(condition.points) for condition in self.conditions)
        for condition, block, size in zip(self.conditions, self.blocks, sizes.tolist(), strict=True):
            x.append(block)
            y.append(condition.values[:, None])
            weight.append(np.full(len(block), n / (len(self.conditions) * len(block) * size**2)))
        return Rows(*(like(np.concatenate(part), reference) for part in (x, y, weight)))

    def parts(self, values: np.ndarray) -> list[np.ndarray]:
        """The part of each condition in an array with one entry for each row, (n,)."""
        ends = np.cumsum([len(condition.points) for condition in self.conditions])
        return np.split(values, ends[:-1])


def _scaled(derivative: Derivative, scaling: Affine) -> Derivative:
    """The derivative in scaled inputs: a shift is divided by the scale."""
    if not derivative.shift:
        return derivative
    return derivative._replace(shift=tuple(np.asarray(derivative.shift) / scaling.scale))
