"""Screening: the waves of one or two inputs that correlate with the targets, and how steep they are along each input.

A kernel of one width sees no fine detail in a few of many inputs, and no faint term beside strong ones. A single wave
does: on random targets its power |Σ y exp(iω·x)|²/Σ y² is exponentially distributed with mean one.
"""

from __future__ import annotations

import math

import numpy as np

from fourierwalk.arrays.factorisation import cholesky_solve, factorised, shifted
from fourierwalk.arrays.library import Array, float64, like, namespace, to_host

STEP = 0.75
"""The difference between neighbouring lengths of waves, for an input of unit variance."""

FEWEST, MOST = 4, 32
"""The least number of lengths that is worth a try, and the most."""

SIZE = 1200
"""The inputs times their lengths, at most: time grows as the square of it. With several outputs there are fewer."""

CHANCE = 0.05
"""The probability that random targets have any wave that is heard."""

RIDGE = 1e-2
"""λ of the amplitudes of the waves."""


def heard(x: Array, y: Array, weight: Array | None = None) -> np.ndarray:
    """The waves that correlate with the targets more than random ones would, at most half as many as rows, (m, d).

    All pairs of inputs are screened, and each input alone, at the same lengths in units of its own spread.
    """
    xp, (n, d), q = namespace(x), x.shape, y.shape[1]
    n_lengths = min(MOST, int(SIZE / (d * math.sqrt(q))))
    if n_lengths < FEWEST:
        return np.zeros((0, d))
    singles = np.kron(np.eye(d), STEP * np.arange(1, n_lengths + 1)[:, None])
    spread = to_host(float64(xp.std(x, axis=0)))
    waves = np.concatenate((np.zeros((1, d)), singles)) / np.where(spread > 0, spread, 1.0)
    powers = _powers(*_cos_sin(x, waves), y if weight is None else y * weight[:, None])
    owner = np.concatenate(([-1], np.repeat(np.arange(d), n_lengths)))
    powers[:, owner[:, None] >= owner[None, :]] = 0.0  # each pair once, and no wave with another of its own input
    sign, one, other = np.nonzero(powers > math.log(powers.size / CHANCE))
    some = np.random.default_rng(0).permutation(sign.size)[: n // 2]
    return (waves[other] + np.where(sign == 0, 1.0, -1.0)[:, None] * waves[one])[some]


def _powers(cos: Array, sin: Array, y: Array) -> np.ndarray:
    """The power of the sum and of the difference of every two waves, (2, m, m), summed over the outputs."""
    xp, plus, minus = namespace(y), 0.0, 0.0
    for i in range(y.shape[1]):
        target = y[:, i : i + 1]
        even, odd, mixed = cos.T @ (cos * target), sin.T @ (sin * target), cos.T @ (sin * target)
        plus = plus + (even - odd) ** 2 + (mixed + mixed.T) ** 2
        minus = minus + (even + odd) ** 2 + (mixed - mixed.T) ** 2
    return to_host(xp.stack((plus, minus))) / max(float(xp.sum(y * y)), 1e-30)


def steepness(x: Array, y: Array, waves: np.ndarray) -> np.ndarray:
    """The mean squared slope along each input of a ridge regression on the waves, (d,): Σₖ |βₖ|² ωₖ²."""
    xp, m = namespace(x), waves.shape[0]
    columns = xp.concat(_cos_sin(x, waves), axis=1)
    factor, _ = factorised(shifted(columns @ columns.T, RIDGE * m * x.shape[0]), margin=0.0)
    squares = to_host(float64(xp.sum((columns.T @ cholesky_solve(factor, y)) ** 2, axis=1)))
    return (squares[:m] + squares[m:]) @ waves**2


def _cos_sin(x: Array, waves: np.ndarray) -> tuple[Array, Array]:
    phases = x @ like(waves.T.astype(np.float32), x)
    return namespace(x).cos(phases), namespace(x).sin(phases)
