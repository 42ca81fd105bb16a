"""The members' values, the leverage and the noise at a block of rows: exactly, or faster in single precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from fourierwalk.arrays.library import Array, is_foreign, like, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.data.rows import Block
from fourierwalk.data.scaling import Affine
from fourierwalk.data.wave_sum import WaveSum
from fourierwalk.data.waves import ComplexExponentials, CosineSine
from fourierwalk.model import FourierModel
from fourierwalk.uncertainty.noise import NoiseModel
from fourierwalk.uncertainty.posterior import ROUNDING, Posterior

PHASES_PER_SLICE = 2**15
"""The number of phases in a slice of the members' sums: more than for `predict`, of which one row may be asked."""


class Ingredients(NamedTuple):
    """What error bars are made of, at some rows."""

    members: Array  # values of the members, not clipped, (n, M, q)
    leverage: Array  # variance of the amplitudes' part at unit noise, (n,)
    noise: Array  # variance of the noise, (n, q)


class Evaluation(Protocol):
    """How the parts are computed."""

    def __call__(self, block: Block) -> Ingredients:
        """The parts at a block of scaled rows."""

    def members(self, block: Block) -> Array:
        """The members' values alone, not clipped, (n, M, q)."""


def places(sizes: Sequence[int]) -> list[slice]:
    """The places of each member's frequencies among all.

    Examples
    --------
    >>> places((2, 3))
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(start, stop) for start, stop in pairwise(np.cumsum((0, *sizes)).tolist())]


@dataclass(frozen=True)
class Exact:
    """All in double precision, for every kind of features, rows and array library.

    Parameters
    ----------
    model : FourierModel
        The average of the members.
    sizes : tuple of int
        The number of frequencies of each member.
    posterior : Posterior
        The covariance of the amplitudes.
    noise : NoiseModel
        The variance of the noise.
    """

    model: FourierModel
    sizes: tuple[int, ...]
    posterior: Posterior
    noise: NoiseModel

    def __call__(self, block: Block) -> Ingredients:
        """The parts at a block of scaled rows."""
        leverage, values = 0.0, []
        for member, part in enumerate(places(self.sizes)):
            columns, value = self._columns_and_value(block, part)
            leverage = leverage + self.posterior.variance(member, columns)
            values.append(value)
        frequencies = self.model.frequencies
        waves = namespace(frequencies).take(frequencies, like(self.noise.waves, frequencies), axis=0)
        noise = self.noise.variance(self.model.features.columns(block, waves))
        return Ingredients(self._stacked(values), leverage / len(self.sizes), noise)

    def members(self, block: Block) -> Array:
        """The members' values alone, not clipped, (n, M, q)."""
        return self._stacked([self._columns_and_value(block, part)[1] for part in places(self.sizes)])

    def _columns_and_value(self, block: Block, part: slice) -> tuple[Array, Array]:
        """The columns of the member with these frequencies, and its values without the offset."""
        model = self.model
        columns = model.features.columns(block, model.frequencies[part, :])
        coefficients = model.features.coefficients(len(self.sizes) * model.amplitudes[part, :])
        return columns, matmul(columns, coefficients)

    def _stacked(self, values: list[Array]) -> Array:
        return namespace(self.model.frequencies).stack(values, axis=1) + self.model.offset


@dataclass(frozen=True)
class Rounded:
    """Values in double precision; leverage and noise from columns in single precision, in half of the time.

    It is for waves of dense NumPy rows. Blocks in which rounding could be seen are left to `exact`.
    """

    exact: Exact

    @classmethod
    def suits(cls, exact: Exact, x: Any) -> bool:
        """Whether all parts are there in single precision."""
        model = exact.model
        has_waves = isinstance(model.features, CosineSine | ComplexExponentials) and not is_foreign(model.frequencies)
        return isinstance(x, np.ndarray) and has_waves and exact.posterior.is_single

    def __call__(self, block: Block) -> Ingredients:
        """The parts at a block of scaled rows."""
        if not self._is_short(block):
            return self.exact(block)
        exact, leverage, n_members = self.exact, 0.0, len(self.exact.sizes)
        x, exponent = block.x.astype(np.float32), 0.0
        for member, turned in enumerate(self._turned):
            columns = _columns(x, turned)
            if exact.noise.waves.size:
                exponent = exponent + columns @ self._slopes[member]
            leverage = leverage + exact.posterior.variance(member, columns)
        noise = exact.noise.of_exponent(np.broadcast_to(exponent, (len(x), exact.noise.constant.size)))
        return Ingredients(self.members(block), np.asarray(leverage, dtype=np.float64) / n_members, noise)

    def members(self, block: Block) -> np.ndarray:
        """The members' values alone, not clipped, (n, M, q)."""
        if self._has_one_output:
            return self._waves[0](block.x)[:, :, None]
        return np.stack([waves(block.x) for waves in self._waves], axis=1)

    def _is_short(self, block: Block) -> bool:
        """Whether phases are so short that rounding them changes no standard deviation by 1 % of the noise.

        Errors of the columns count as independent: with the covariance ε²I they change |F s(x)| by ε|F|.
        """
        longest = math.sqrt(float(np.max(np.einsum("ij,ij->i", block.x, block.x), initial=0.0)))
        return float(np.finfo(np.float32).eps) * max(longest * self._longest, 1.0) * self._largest < ROUNDING

    @cached_property
    def _longest(self) -> float:
        return float(np.max(np.linalg.norm(self.exact.model.frequencies, axis=1)))

    @cached_property
    def _largest(self) -> float:
        return max(float(np.linalg.norm(factor)) for factor in self.exact.posterior.factors)

    @cached_property
    def _turned(self) -> list[np.ndarray]:
        """The frequencies of each member in single precision, (d, K)."""
        frequencies = self.exact.model.frequencies
        return [np.ascontiguousarray(frequencies[part].T, dtype=np.float32) for part in places(self.exact.sizes)]

    @cached_property
    def _slopes(self) -> list[np.ndarray]:
        """The noise model's coefficients of each member's columns, zero for waves that it does not have."""
        noise, n = self.exact.noise, sum(self.exact.sizes)
        cosines, sines = np.zeros((2, n, noise.constant.size), dtype=np.float32)
        cosines[noise.waves], sines[noise.waves] = np.split(noise.slopes, 2)
        return [np.concatenate((cosines[part], sines[part])) for part in places(self.exact.sizes)]

    @cached_property
    def _waves(self) -> list[WaveSum]:
        """The members' sums: all in one for one output, else one for each member."""
        model, sizes = self.exact.model, self.exact.sizes
        n_inputs = model.frequencies.shape[1]
        same, amplitudes = Affine(np.zeros(n_inputs), np.ones(n_inputs)), len(sizes) * model.amplitudes
        if self._has_one_output:
            return [WaveSum.of(model.frequencies, amplitudes, model.offset, same).split(sizes, PHASES_PER_SLICE)]
        return [WaveSum.of(model.frequencies[part], amplitudes[part], model.offset, same) for part in places(sizes)]

    @property
    def _has_one_output(self) -> bool:
        return bool(self.exact.model.amplitudes.shape[1] == 1)


def _columns(x: np.ndarray, turned: np.ndarray) -> np.ndarray:
    """The columns [cos φ | sin φ] in single precision."""
    phases, n = x @ turned, turned.shape[1]
    columns = np.empty((len(x), 2 * n), dtype=np.float32)
    np.cos(phases, out=columns[:, :n])
    np.sin(phases, out=columns[:, n:])
    return columns
