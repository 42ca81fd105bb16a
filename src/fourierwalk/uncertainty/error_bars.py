"""What a fitted regression keeps for its error bars, and the error bars at new rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace, to_host
from fourierwalk.arrays.threads import blas_threads, in_threads, one_thread
from fourierwalk.data.rows import Block
from fourierwalk.files.fields import Fields
from fourierwalk.model import FourierModel
from fourierwalk.uncertainty import tails
from fourierwalk.uncertainty.conformal import Conformal
from fourierwalk.uncertainty.evaluation import Evaluation, Exact, Ingredients, Rounded, places
from fourierwalk.uncertainty.noise import NoiseModel
from fourierwalk.uncertainty.posterior import Posterior

CACHED = 8
"""Blocks have this many times fewer rows than memory allows: their columns then stay in the cache."""

METHODS = ("average", "plus")
"""How intervals are made: from residuals of the average, or from those of its members (cross-validation+)."""


class Bars(NamedTuple):
    """Values and variances at some rows."""

    mean: Array  # of the model, (n, q)
    noise: Array  # variance of the noise, (n, q)
    leverage: Array  # variance of the amplitudes' part at unit noise, (n,)
    members: Array  # values of the members, (n, M, q)

    @property
    def variance(self) -> Array:
        """Noise, amplitudes, and the squared standard error of the members' mean, (n, q)."""
        return self.noise * (1.0 + self.leverage[:, None]) + standard_error(self.members)


def standard_error(members: Array) -> Array:
    """The squared standard error of the mean of the members' values (n, M, q), (n, q); zero for one member."""
    xp, n_members = namespace(members), int(members.shape[1])
    return xp.var(members, axis=1) / max(n_members - 1, 1)


def _bars(model: FourierModel, parts: Ingredients) -> Bars:
    mean = model.bounded(namespace(parts.members).mean(parts.members, axis=1))
    return Bars(mean, parts.noise, parts.leverage, model.bounded(parts.members))


@dataclass(frozen=True)
class ErrorBars:
    """The error bars of a regression. All arrays are NumPy arrays, in the targets' units.

    Parameters
    ----------
    sizes : tuple of int
        The number of frequencies of each averaged model; the model's frequencies are those of all, in this order.
    posterior : Posterior
        The covariance of the amplitudes.
    noise : NoiseModel
        The variance of the noise.
    conformal : Conformal
        The scores of the average.
    plus : Conformal
        The scores of the members at rows that their frequencies have not seen, for cross-validation+.
    folds : array of shape (K, q)
        The amplitudes of the members as they were before the last solve: without their held-out rows. But a single
        member that took its last steps on all rows has those of all rows.

    Notes
    -----
    The standard deviation s of a target at x has three parts: s² = n(x)(1 + u(x)) + v(x)/M. n is the variance of the
    noise, n·u that of the amplitudes, and v the variance of the M members' values.
    """

    sizes: tuple[int, ...]
    posterior: Posterior
    noise: NoiseModel
    conformal: Conformal
    plus: Conformal
    folds: np.ndarray

    def mean_and_std(self, model: FourierModel, x: Any) -> Array:
        """The values of the model and their standard deviations, side by side, (n, 2q)."""
        evaluation = self._evaluation(model, x)

        def evaluated(block: Block) -> Array:
            bars = _bars(model, evaluation(block))
            xp = namespace(bars.mean)
            return xp.concat((bars.mean, xp.sqrt(bars.variance)), axis=1)

        return self._joined(model, x, evaluated)

    def interval(self, model: FourierModel, x: Any, levels: Sequence[float], method: str = "average") -> Array:
        """Prediction intervals, (n, 2 · q · n_levels): the axes output, bound and level are flattened."""
        evaluation, in_folds = self._evaluation(model, x), self._in_folds(model, x)

        def evaluated(block: Block) -> Array:
            bars = _bars(model, evaluation(block))
            std = np.sqrt(to_host(bars.variance))
            if method == "plus":
                folds = model.bounded(in_folds.members(block))
                intervals = self.plus.interval(to_host(folds), std, levels)
            else:
                intervals = self.conformal.interval(to_host(bars.mean)[:, None, :], std, levels)
            return like(intervals.reshape(intervals.shape[0], -1), bars.mean)

        return self._joined(model, x, evaluated)

    def sample(self, model: FourierModel, x: Any, n_samples: int, rng: np.random.Generator) -> Array:
        """Draws of targets, (n, q · n_samples); the draws at all rows share their amplitudes and members."""
        n_members, n_outputs = len(self.sizes), int(model.amplitudes.shape[1])
        shape = (n_outputs, n_samples)
        draws = [rng.standard_normal((factor.shape[0], *shape)) for factor in self.posterior.factors]
        shares = rng.standard_normal((n_members, *shape)) / np.sqrt(n_members * max(n_members - 1, 1))

        def evaluated(block: Block) -> Array:
            rotated = self._rotated(model, block)
            bars = self.at(model, block)
            mean, noise, members = (to_host(part) for part in (bars.mean, bars.noise, bars.members))
            moved = sum(
                np.tensordot(part, draw, 1) / np.sqrt(n_members) for part, draw in zip(rotated, draws, strict=True)
            )
            own = tails.draws(rng, self.noise.degrees, (mean.shape[0], *shape))
            spread = np.einsum("nmq,mqs->nqs", members - np.mean(members, axis=1, keepdims=True), shares)
            drawn = mean[:, :, None] + spread + np.sqrt(noise)[:, :, None] * (moved + own)
            return like(drawn.reshape(mean.shape[0], -1), bars.mean)

        return self._in_order(model, x, evaluated)

    def at(self, model: FourierModel, block: Block) -> Bars:
        """Values and variances at a block of scaled rows."""
        return _bars(model, Exact(model, self.sizes, self.posterior, self.noise)(block))

    @property
    def parts(self) -> list[slice]:
        """The places of each member's frequencies."""
        return places(self.sizes)

    def _evaluation(self, model: FourierModel, x: Any) -> Evaluation:
        exact = Exact(model, self.sizes, self.posterior, self.noise)
        return Rounded(exact) if Rounded.suits(exact, x) else exact

    def _in_folds(self, model: FourierModel, x: Any) -> Evaluation:
        """The members as they were before the last solve."""
        amplitudes = like(self.folds, model.amplitudes) / len(self.sizes)
        return self._evaluation(replace(model, amplitudes=amplitudes), x)

    def _rotated(self, model: FourierModel, block: Block) -> list[np.ndarray]:
        columns = (model.features.columns(block, model.frequencies[part, :]) for part in self.parts)
        return [to_host(self.posterior.rotated(member, each)) for member, each in enumerate(columns)]

    def _joined(self, model: FourierModel, x: Any, evaluate: Any) -> Array:
        """The results for all blocks of rows, one below the other. NumPy's blocks are small: a thread takes each."""
        if not isinstance(x, np.ndarray):
            return self._in_order(model, x, evaluate)
        blocks = list(self._blocks(model, x))
        parts: list[Any] = [None] * len(blocks)

        def fill(places: range) -> None:
            for place in places:
                parts[place] = evaluate(blocks[place])

        n_threads = blas_threads()
        with one_thread():
            in_threads(fill, [len(blocks) * i // n_threads for i in range(n_threads + 1)], len(blocks) > 1)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _in_order(self, model: FourierModel, x: Any, evaluate: Any) -> Array:
        """The same, one block after the other: for rows that are streamed, and for draws from one generator."""
        parts = [evaluate(block) for block in self._blocks(model, x)]
        return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts, axis=0)

    def _blocks(self, model: FourierModel, x: Any) -> Iterator[Block]:
        return model.scaling.rows(x).blocks(CACHED * model.features.n_columns * int(model.frequencies.shape[0]))

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file, as JSON values and NumPy arrays; docs/files.md has their names and shapes."""
        return {
            "sizes": list(self.sizes),
            "posterior": self.posterior.to_tables(),
            "noise": self.noise.to_tables(),
            "conformal": self.plus.to_tables(),
            **({} if self.conformal is self.plus else {"average": self.conformal.to_tables()}),
            "folds": self.folds,
        }

    @classmethod
    def from_tables(cls, fields: Fields, model: FourierModel) -> ErrorBars:
        """The inverse of `to_tables`; the fields are checked against the model that they belong to."""
        sizes, n_columns = fields.get("sizes"), model.features.n_columns
        n_frequencies, n_outputs = model.amplitudes.shape
        if (
            not isinstance(sizes, list)
            or not all(type(n) is int and n > 0 for n in sizes)
            or sum(sizes) != n_frequencies
        ):
            raise ValueError(f"{fields.name}.sizes must be whole numbers that sum to {n_frequencies}, got {sizes}.")
        plus = Conformal.from_tables(fields.fields("conformal"), len(sizes), n_outputs)
        average = plus
        if fields.has("average"):
            average = Conformal.from_tables(fields.fields("average"), 1, n_outputs)
        elif len(sizes) > 1:  # files of the first version
            average = replace(plus, member=np.zeros_like(plus.member))
        return cls(
            tuple(sizes),
            Posterior.from_tables(fields.fields("posterior"), [n_columns * n for n in sizes]),
            NoiseModel.from_tables(fields.fields("noise"), n_frequencies, n_columns, n_outputs),
            average,
            plus,
            fields.array("folds", n_frequencies, n_outputs, kinds="fc"),
        )
