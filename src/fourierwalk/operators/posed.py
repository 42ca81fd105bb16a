"""Conditions as one least squares problem: scaled rows with the coefficients of their operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fourierwalk.arrays.library import Array, like, to_host
from fourierwalk.data.rows import Rows
from fourierwalk.data.scaling import Affine
from fourierwalk.operators.condition import Condition
from fourierwalk.operators.features import OperatedWaves
from fourierwalk.operators.operator import Derivative


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

    def sizes(self, frequencies: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """The root mean square of each condition's operator of waves, (n_conditions,), for shares (K, q) of the waves."""
        d, found = self.features.n_inputs, []
        for block in self.blocks:
            squares = 0.0
            for output in range(self.features.n_outputs):
                places = [t for t, one in enumerate(self.features.derivatives) if one.output == output]
                if not places:
                    continue
                symbols = np.stack([self.features.derivatives[t].symbol(frequencies) for t in places])
                values = block[:, [d + t for t in places]] @ symbols
                squares += float(np.mean(np.abs(values) ** 2 @ shares[:, output]))
            found.append(np.sqrt(squares))
        return np.array(found)

    def rows(self, sizes: np.ndarray, reference: Array) -> Rows:
        """Scaled rows in which every condition has the same total weight, in units of its size."""
        x, y, weight = [], [], []
        n = sum(len(condition.points) for condition in self.conditions)
        for condition, block, size in zip(self.conditions, self.blocks, sizes.tolist(), strict=True):
            x.append(block)
            y.append(condition.values[:, None])
            weight.append(np.full(len(block), n / (len(self.conditions) * len(block) * size**2)))
        return Rows(*(like(np.concatenate(part), reference) for part in (x, y, weight)))

    def relative(self, residual: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The root mean square of each condition's part of a residual (n,), in units of its size."""
        ends = np.cumsum([len(condition.points) for condition in self.conditions])
        parts = np.split(to_host(residual), ends[:-1])
        return np.array([np.sqrt(np.mean(part**2)) for part in parts]) / sizes


def _scaled(derivative: Derivative, scaling: Affine) -> Derivative:
    """The derivative in scaled inputs: a shift is divided by the scale."""
    if not derivative.shift:
        return derivative
    return derivative._replace(shift=tuple(np.asarray(derivative.shift) / scaling.scale))
