"""Whether conditions determine the function, and how much their residuals say about its error.

Among smooth functions v of root mean square one, the least weighted residual κ of the conditions at v bounds the error
of a solution: a function that satisfies the conditions up to a residual r is within r/κ of the solution. If κ is zero,
some v can be added to any solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fourierwalk.data.rows import Block
from fourierwalk.operators.condition import Condition
from fourierwalk.operators.operator import d, identity
from fourierwalk.operators.posed import Posed

MOST_POINTS = 400
"""The most points of a condition at which smooth functions are compared."""

N_WAVES = 96
"""The waves that smooth functions are made of."""

SPREAD = 2.0
"""The standard deviation of their frequencies, for inputs scaled to [−1, 1]."""

LEAST_SINGULAR_VALUE = 1e-3
"""Combinations of waves whose values are below this share of the largest are left out: they are all but zero."""


@dataclass(frozen=True)
class Stability:
    """The conditions' residuals of smooth functions of root mean square one.

    Parameters
    ----------
    grams : array of shape (n_conditions, m, m)
        For each condition, the mean products of its operator of m functions, in units of its size squared.
    """

    grams: np.ndarray

    @classmethod
    def of(cls, posed: Posed, sizes: np.ndarray) -> Stability:
        """The residuals at some points of each condition."""
        features, rng = posed.features, np.random.default_rng(0)
        chosen = [np.arange(min(len(one.points), MOST_POINTS)) for one in posed.conditions]
        some = posed.take([_spread_out(part, len(one.points)) for part, one in zip(chosen, posed.conditions, strict=True)])
        frequencies = SPREAD * rng.standard_normal((N_WAVES, features.n_inputs))
        frequencies[0] = 0.0
        values = np.concatenate([features.waves(Block(block), frequencies) for block in some.blocks])
        _, size, basis = np.linalg.svd(values / np.sqrt(len(values)), full_matrices=False)
        keep = size > LEAST_SINGULAR_VALUE * size[0]
        one = (basis[keep] / size[keep, None]).T
        functions = np.kron(np.eye(features.n_outputs), one)
        operated = [features.columns(Block(block), frequencies) @ functions for block in some.blocks]
        grams = [part.T @ part / len(part) / size**2 for part, size in zip(operated, sizes.tolist(), strict=True)]
        return cls(np.stack(grams))

    def least(self, weights: np.ndarray) -> float:
        """κ for weights of the conditions: the least root mean square residual of a function of size one."""
        values = np.linalg.eigvalsh(np.tensordot(weights, self.grams, axes=1))
        return float(np.sqrt(max(values[0], 0.0)))


def _spread_out(chosen: np.ndarray, n: int) -> np.ndarray:
    """As many indices, evenly spaced among n: points may be sorted by face."""
    return np.linspace(0, n - 1, chosen.size).astype(np.int64)
