"""Noise that varies with x: a small model of the logarithm of squared residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.files.fields import Fields

MOST_WAVES = 64
"""The most frequencies of the noise: the slowest ones of the model itself."""

MOST_OUTPUTS = 10
"""With more outputs the noise of each is constant: a model for each would take too long."""

RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
"""The ridges that are tried."""

SURE = 3.0
"""The standard errors by which the model must beat constant noise, in likelihood of residuals that it has not seen."""

MOST_STEPS, LEAST_GAIN = 30, 1e-7


@dataclass(frozen=True)
class NoiseModel:
    """The variance of the noise, exp(constant + columns @ slopes), kept within the range that it had in the fit.

    Parameters
    ----------
    waves : array of int, of shape (p,)
        The frequencies of the model whose columns are used; none if the noise is constant.
    constant : array of shape (q,)
        The constant of each output.
    slopes : array of shape (n_columns · p, q)
        The coefficients of the columns.
    least, most : array of shape (q,)
        The range of the exponent at the rows of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> NoiseModel.of_variance(np.array([4.0])).variance(np.zeros((3, 0)))
    array([[4.],
           [4.],
           [4.]])
    """

    waves: np.ndarray
    constant: np.ndarray
    slopes: np.ndarray
    least: np.ndarray
    most: np.ndarray

    @classmethod
    def of_variance(cls, variance: np.ndarray) -> NoiseModel:
        """Constant noise."""
        log = np.log(np.maximum(variance, np.finfo(np.float64).tiny))
        return cls(np.zeros(0, dtype=np.int64), log, np.zeros((0, log.size)), log, log)

    def variance(self, columns: Array) -> Array:
        """The variance at rows with these columns of the waves, (n, q); constant noise ignores the columns."""
        xp = namespace(columns)
        constant, slopes, least, most = (
            like(each, columns) for each in (self.constant, self.slopes, self.least, self.most)
        )
        exponent = xp.broadcast_to(constant[None, :], (columns.shape[0], constant.shape[0]))
        if slopes.shape[0]:
            exponent = exponent + matmul(columns, slopes)
        return xp.exp(xp.minimum(xp.maximum(exponent, least[None, :]), most[None, :]))

    def scaled(self, scale: np.ndarray) -> NoiseModel:
        """The noise of targets that are multiplied by `scale`, (q,)."""
        more = 2 * np.log(scale)
        return NoiseModel(self.waves, self.constant + more, self.slopes, self.least + more, self.most + more)

    def to_tables(self) -> dict[str, Any]:
        """The contents of a file."""
        return dict(vars(self))

    @classmethod
    def from_tables(cls, fields: Fields, n_frequencies: int, n_columns: int, n_outputs: int) -> NoiseModel:
        """The inverse of `to_tables`; the fields are checked."""
        waves = fields.array("waves", None, kinds="i")
        if waves.size and not 0 <= waves.min() <= waves.max() < n_frequencies:
            raise ValueError(f"{fields.name}.waves must be from 0 to {n_frequencies - 1}, got {waves.max()}.")
        constant, least, most = (fields.array(name, n_outputs) for name in ("constant", "least", "most"))
        return cls(waves, constant, fields.array("slopes", n_columns * waves.size, n_outputs), least, most)


class Residuals(NamedTuple):
    """What the noise is learnt from: rows that the frequencies have not seen."""

    squares: np.ndarray  # squared residuals, divided by one plus the variance of the amplitudes, (n, q)
    weight: np.ndarray  # (n,)
    fold: np.ndarray  # the part of a cross-validation that each row belongs to, (n,)


def slowest(frequencies: np.ndarray) -> np.ndarray:
    """The indices of the shortest frequencies, at most `MOST_WAVES`, in ascending order."""
    return np.sort(np.argsort(np.linalg.norm(frequencies, axis=1), kind="stable")[:MOST_WAVES])


def learn(waves: np.ndarray, columns: np.ndarray, residuals: Residuals) -> NoiseModel:
    """The noise model of the residuals; constant where cross-validation does not clearly prefer another.

    Parameters
    ----------
    waves : array of int, of shape (p,)
        The frequencies whose columns these are.
    columns : array of shape (n, n_columns · p)
        The columns at the rows of the residuals.
    residuals : Residuals
        Squared residuals.
    """
    squares, weight, _ = residuals
    least = np.finfo(np.float64).eps ** 2 * np.max(squares, axis=0, initial=0.0)
    means = np.maximum(weight @ squares / np.sum(weight), least)
    flat = NoiseModel.of_variance(means)
    n_outputs = means.size
    if n_outputs > MOST_OUTPUTS or np.unique(residuals.fold).size < 2:
        return flat
    found = [
        _one(columns, np.maximum(squares[:, i], least[i]) / means[i], residuals) if means[i] > 0 else None
        for i in range(n_outputs)
    ]
    if all(each is None for each in found):
        return flat
    shapes = [np.zeros(columns.shape[1] + 1) if each is None else each for each in found]
    constant, slopes = flat.constant + [each[0] for each in shapes], np.stack([each[1:] for each in shapes], axis=1)
    exponent = constant + columns @ slopes
    return NoiseModel(waves, constant, slopes, np.min(exponent, axis=0), np.max(exponent, axis=0))


def _one(columns: np.ndarray, squares: np.ndarray, residuals: Residuals) -> np.ndarray | None:
    """Constant and slopes of one output, whose squares have the mean one; None: the noise is constant."""
    _, weight, fold = residuals
    design = np.concatenate((np.ones((squares.size, 1)), columns), axis=1)
    losses = {ridge: np.empty(squares.size) for ridge in (*RIDGES, np.inf)}
    for part in np.unique(fold):
        out = fold == part
        system = _Fisher.of(design[~out], squares[~out], weight[~out])
        for ridge, loss in losses.items():
            loss[out] = _losses(design[out] @ system.solve(ridge), squares[out])
    best = min(RIDGES, key=lambda ridge: float(weight @ losses[ridge]))
    gain = losses[np.inf] - losses[best]
    mean = weight @ gain / np.sum(weight)
    error = np.sqrt(weight @ (gain - mean) ** 2) / np.sum(weight)
    return _Fisher.of(design, squares, weight).solve(best) if mean > SURE * error else None


def _losses(exponent: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Half of the log variance plus the square over the variance: −log likelihood of each row, up to a constant."""
    return 0.5 * (exponent + squares * np.exp(-np.clip(exponent, -50.0, 50.0)))


class _Fisher(NamedTuple):
    """Maximum likelihood with a ridge. The expected Hessian does not depend on the coefficients: it is formed once."""

    design: np.ndarray
    squares: np.ndarray
    weight: np.ndarray  # shares that sum to one
    values: np.ndarray  # eigenvalues of the information of the slopes
    basis: np.ndarray
    means: np.ndarray  # of the columns

    @classmethod
    def of(cls, design: np.ndarray, squares: np.ndarray, weight: np.ndarray) -> _Fisher:
        weight = weight / np.sum(weight)
        means = weight @ design[:, 1:]
        centred = (design[:, 1:] - means) * np.sqrt(weight)[:, None]
        values, basis = np.linalg.eigh(0.5 * centred.T @ centred)
        return cls(design, squares, weight, np.maximum(values, 0.0), basis, means)

    def solve(self, ridge: float) -> np.ndarray:
        """Constant and slopes, by Fisher scoring with step halving; an infinite ridge leaves the constant alone."""
        theta = np.zeros(self.design.shape[1])
        theta[0] = np.log(max(float(self.weight @ self.squares), 1e-300))
        if np.isinf(ridge):
            return theta
        loss = self._loss(theta, ridge)
        for _ in range(MOST_STEPS):
            step, size, fallen = self._step(theta, ridge), 1.0, -np.inf
            while size > 1e-3 and not (fallen := loss - self._loss(theta + size * step, ridge)) > 0:
                size /= 2
            if not fallen > LEAST_GAIN:
                break
            theta, loss = theta + size * step, loss - fallen
        return theta

    def _loss(self, theta: np.ndarray, ridge: float) -> float:
        return float(self.weight @ _losses(self.design @ theta, self.squares) + 0.5 * ridge * theta[1:] @ theta[1:])

    def _step(self, theta: np.ndarray, ridge: float) -> np.ndarray:
        """The inverse of the expected Hessian times the gradient, by elimination of the constant."""
        shares = self.squares * np.exp(-np.clip(self.design @ theta, -50.0, 50.0))
        gradient = 0.5 * (self.weight * (1.0 - shares)) @ self.design
        gradient[1:] += ridge * theta[1:]
        reduced = self.basis.T @ (gradient[1:] - self.means * gradient[0])
        slopes = -self.basis @ (reduced / (self.values + ridge))
        return np.concatenate(([-2.0 * gradient[0] - self.means @ slopes], slopes))
