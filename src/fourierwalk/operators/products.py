"""Whether a product of smooth functions of one input each can be added to a solution.

Waves of two inputs cannot vanish on the faces of all other inputs, but products can: sin(πx₀) sin(πx₁) sin(ct) shows
that a wave equation lacks its initial velocities. The factors are polynomials. They are improved in turn: with all
others fixed, the factor that leaves the least residual is an eigenvector of a small matrix. All integrals are exact, so
that no function hides between points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from fourierwalk.operators.operator import Derivative

DEGREE = 14
"""The degree of the factors."""

N_STARTS = 4
N_SWEEPS = 200

LEAST_GAIN = 1e-3
"""Sweeps end once one lowers the squared residual by a smaller share than this."""

STIFFNESS = 1e-4
"""The weight of the mean squared slope of a first factor, beside what is known at the ends of its input."""

NEAR_END = 1e-3
"""Points this near to an end of an input, scaled to [−1, 1], are at its end."""

MOST_PAIRS = 2000
"""Conditions with more pairs of derivatives, on all faces, than this are not looked at."""


class Pair(NamedTuple):
    """Two derivatives that are known on the same face of [−1, 1]ᵈ: the mean of their product, but for a factor."""

    ends: tuple[int, ...]  # −1 or 1 for each input that is at an end on the face, else 0
    one: Derivative
    other: Derivative
    weight: float  # of the face, times both coefficients


@dataclass(frozen=True)
class ProductResidual:
    """The mean square residual of products of functions, as if each condition were known on whole faces of the box.

    Parameters
    ----------
    pairs : sequence of Pair
        The residual is a sum over these.
    n_inputs : int
        The number of inputs.
    n_outputs : int
        The number of outputs; each is the product times a number.
    """

    pairs: Sequence[Pair]
    n_inputs: int
    n_outputs: int

    @classmethod
    def of(
        cls, blocks: Sequence[np.ndarray], sizes: Sequence[float], derivatives: Sequence[Derivative]
    ) -> ProductResidual | None:
        """The residual for rows [x | coefficients] of each condition; None if coefficients depend on x."""
        n_inputs, pairs = blocks[0].shape[1] - len(derivatives), []
        for block, size in zip(blocks, sizes, strict=True):
            x, coefficients = block[:, :n_inputs], block[:, n_inputs:]
            if np.any(np.ptp(coefficients, axis=0) > 1e-9 * np.max(np.abs(coefficients))):
                return None
            known = [(one, c) for one, c in zip(derivatives, coefficients[0].tolist(), strict=True) if c]
            ends = np.where(np.abs(x) > 1 - NEAR_END, np.sign(x), 0).astype(int)
            for pattern, n in zip(*np.unique(ends, axis=0, return_counts=True), strict=True):
                weight = float(n) / (len(x) * len(blocks) * size**2)
                pairs += [
                    Pair(tuple(pattern.tolist()), one, other, weight * c * e) for one, c in known for other, e in known
                ]
        n_outputs = 1 + max(one.output for one in derivatives)
        return cls(pairs, n_inputs, n_outputs) if len(pairs) <= MOST_PAIRS else None

    def least(self) -> float:
        """The least root mean square residual of a product of size one that is found from a few starts."""
        grams = np.array([[_gram(*_at(pair, j)) for j in range(self.n_inputs)] for pair in self.pairs])
        first = [self._vanishing(j) for j in range(self.n_inputs)]
        rng = np.random.default_rng(0)
        return min(self._descended(grams, first, rng, start) for start in range(N_STARTS))

    def _vanishing(self, j: int) -> np.ndarray:
        """Functions of input j that are all but zero where it is known at its ends: the smoothest first, as columns."""
        total = STIFFNESS * _gram(1, 0.0, 1, 0.0, 0)
        for pair in self.pairs:
            if pair.ends[j] and pair.one == pair.other:
                total = total + _gram(*_at(pair, j))
        return np.linalg.eigh(total)[1]

    def _descended(self, grams: np.ndarray, first: Sequence[np.ndarray], rng: np.random.Generator, start: int) -> float:
        """The residual after improving all factors in turn."""
        factors = [basis[:, 0] if not start else basis[:, rng.integers(start + 1)] for basis in first]
        outputs = _unit(1.0 + start * rng.standard_normal(self.n_outputs))
        places = np.array([(pair.one.output, pair.other.output) for pair in self.pairs]).T
        weights = np.array([pair.weight for pair in self.pairs])
        means = np.stack([_means(grams[:, j], factor) for j, factor in enumerate(factors)], axis=1)
        before, value = np.inf, 0.0
        for _ in range(N_SWEEPS):
            for j in range(self.n_inputs):
                numbers = weights * outputs[places[0]] * outputs[places[1]] * np.prod(np.delete(means, j, 1), axis=1)
                value, factor = _least_vector(np.tensordot(numbers, grams[:, j], 1))
                means[:, j] = _means(grams[:, j], factor)
            if self.n_outputs > 1:
                total = np.zeros((self.n_outputs, self.n_outputs))
                np.add.at(total, tuple(places), weights * np.prod(means, axis=1))
                value, outputs = _least_vector(total)
            if value > (1 - LEAST_GAIN) * before:
                break
            before = value
        return float(np.sqrt(max(value, 0.0)))


def _at(pair: Pair, j: int) -> tuple[int, float, int, float, int]:
    """What the matrix of two derivatives of an input depends on: orders, shifts, and the end that it is at."""
    one, other = pair.one, pair.other
    shifts = [each.shift[j] if each.shift else 0.0 for each in (one, other)]
    return one.inputs.count(j), shifts[0], other.inputs.count(j), shifts[1], pair.ends[j]


@cache
def _gram(order: int, shift: float, other_order: int, other_shift: float, end: int) -> np.ndarray:
    """The mean over [−1, 1], or the value at an end, of products of two derivatives of all polynomials."""
    nodes, weights = legendre.leggauss(DEGREE + 1) if not end else (np.array([float(end)]), np.full(1, 2.0))
    left, right = _polynomials(nodes + shift, order), _polynomials(nodes + other_shift, other_order)
    return left.T @ (weights[:, None] / 2 * right)


def _polynomials(x: np.ndarray, order: int) -> np.ndarray:
    """Derivatives of Legendre's polynomials of mean square one, (n, DEGREE + 1)."""
    own = np.diag(np.sqrt(2 * np.arange(DEGREE + 1) + 1.0))
    return legendre.legval(x, legendre.legder(own, order) if order else own).T


def _means(grams: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """The means of products of two derivatives of one factor, (n_pairs,)."""
    return (grams @ factor) @ factor


def _least_vector(matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """The least eigenvalue of the symmetric part of a matrix, and its vector."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return float(values[0]), vectors[:, 0]


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
