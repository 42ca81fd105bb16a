"""Noise that varies with x: a small model of the logarithm of squared residuals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fourierwalk.arrays.library import Array, like, namespace
from fourierwalk.arrays.products import matmul
from fourierwalk.files.fields import Fields
from fourierwalk.uncertainty import tails

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
    degrees : array of shape (q,)
        The degrees of freedom of Student's t that the errors follow; a thousand: they are normal.

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
    degrees: np.ndarray

    @classmethod
    def of_variance(cls, variance: np.ndarray, degrees: np.ndarray | None = None) -> NoiseModel:
        """Constant noise."""
        log = np.log(np.maximum(variance, np.finfo(np.float64).tiny))
        degrees = np.full(log.size, tails.DEGREES[-1]) if degrees is None else degrees
        return cls(np.zeros(0, dtype=np.int64), log, np.zeros((0, log.size)), log, log, degrees)

    def variance(self, columns: Array) -> Array:
        """The variance at rows with these columns of the waves, (n, q); constant noise ignores the columns."""
        if self.slopes.shape[0]:
            return self.of_exponent(matmul(columns, like(self.slopes, columns)))
        return self.of_exponent(like(np.zeros((columns.shape[0], self.constant.size)), columns))

    def of_exponent(self, exponent: Array) -> Array:
        """The variance from the product of columns and slopes, (n, q)."""
        xp = namespace(exponent)
        constant, least, most = (like(each, exponent)[None, :] for each in (self.constant, self.least, self.most))
        return xp.exp(xp.minimum(xp.maximum(exponent + constant, least), most))

    def scaled(self, scale: np.ndarray) -> NoiseModel:
        """The noise of targets that are multiplied by `scale`, (q,)."""
        more = 2 * np.log(scale)
        return replace(self, constant=self.constant + more, least=self.least + more, most=self.most + more)

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
        slopes, degrees = fields.array("slopes", n_columns * waves.size, n_outputs), fields.array("degrees", n_outputs)
        if not np.all(degrees > 2):
            raise ValueError(f"{fields.name}.degrees must be above 2, got {degrees.min():g}.")
        return cls(waves, constant, slopes, least, most, degrees)


class Residuals(NamedTuple):
    """What the noise is learnt from: rows that the frequencies have not seen."""

    squares: np.ndarray  # squared residuals, divided by one plus the variance of the amplitudes, (n, q)
    weight: np.ndarray  # (n,)
    fold: np.ndarray  # the part of a cross-validation that each row belongs to, (n,)


def slowest(frequencies: np.ndarray) -> np.ndarray:
    """The indices of the shortest frequencies, at most `MOST_WAVES`, in ascending order."""
    return np.sort(np.argsort(np.linalg.norm(frequencies, axis=1), kind="stable")[:MOST_WAVES])


class Learnt(NamedTuple):
    """A noise model, and the variance that it gives to the rows it was learnt from, (n, q).

    If the noise varies, the variance of a row is of a model that has not seen the row.
    """

    model: NoiseModel
    variance: np.ndarray


class _Output(NamedTuple):
    """The noise of one output, whose squares have the mean one."""

    theta: np.ndarray  # constant and slopes
    degrees: float
    exponent: np.ndarray  # of each row, by a model that has not seen it if the noise varies


def learn(waves: np.ndarray, columns: np.ndarray, residuals: Residuals) -> Learnt:
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
    squares, weight, fold = residuals
    means = weight @ squares / np.sum(weight)
    logs = np.log(np.maximum(means, np.finfo(np.float64).tiny))
    may_vary = means.size <= MOST_OUTPUTS and np.unique(fold).size > 1
    scaled = squares / np.where(means > 0, means, 1.0)
    found = [_one(columns, scaled[:, i], weight, fold if may_vary else None) for i in range(means.size)]
    thetas, degrees = np.stack([each.theta for each in found], axis=1), np.array([each.degrees for each in found])
    constant, unseen = logs + thetas[0], logs + np.stack([each.exponent for each in found], axis=1)
    if not np.any(thetas[1:]):
        return Learnt(NoiseModel.of_variance(np.exp(constant), degrees), np.exp(unseen))
    exponent = constant + columns @ thetas[1:]
    least, most = np.min(exponent, axis=0), np.max(exponent, axis=0)
    model = NoiseModel(waves, constant, thetas[1:], least, most, degrees)
    return Learnt(model, np.exp(np.clip(unseen, least, most)))


def _one(columns: np.ndarray, squares: np.ndarray, weight: np.ndarray, fold: np.ndarray | None) -> _Output:
    """The noise of one output.

    Degrees are chosen for constant noise, and once more for noise that varies: this often explains the tails.
    """
    if not np.any(squares):
        return _Output(np.zeros(columns.shape[1] + 1), tails.DEGREES[-1], np.zeros(squares.size))
    design = np.concatenate((np.ones((squares.size, 1)), columns), axis=1)
    whole = _Fisher.of(design, squares, weight)
    flat, degrees = min(
        ((whole.solve(np.inf, degrees), degrees) for degrees in tails.DEGREES), key=lambda each: whole.loss(*each)
    )
    constant = _Output(flat, degrees, np.full(squares.size, flat[0]))
    if fold is None:
        return constant
    ridge, exponent = _validated(design, squares, weight, fold, degrees)
    if ridge is None:
        return constant
    theta = whole.solve(ridge, degrees)
    degrees = min(tails.DEGREES, key=lambda each: whole.loss(theta, each))
    return _Output(whole.solve(ridge, degrees), degrees, exponent)


def _validated(
    design: np.ndarray, squares: np.ndarray, weight: np.ndarray, fold: np.ndarray, degrees: float
) -> tuple[float | None, np.ndarray]:
    """The ridge with the largest likelihood in a cross-validation, and its exponents there; None: constant noise."""
    exponents = {ridge: np.empty(squares.size) for ridge in (*RIDGES, np.inf)}
    for part in np.unique(fold):
        out = fold == part
        system = _Fisher.of(design[~out], squares[~out], weight[~out])
        for ridge, exponent in exponents.items():
            exponent[out] = design[out] @ system.solve(ridge, degrees)
    losses = {ridge: tails.losses(exponent, squares, degrees) for ridge, exponent in exponents.items()}
    best = min(RIDGES, key=lambda ridge: float(weight @ losses[ridge]))
    gain = losses[np.inf] - losses[best]
    mean = weight @ gain / np.sum(weight)
    error = np.sqrt(weight @ (gain - mean) ** 2) / np.sum(weight)
    return best if mean > SURE * error else None, exponents[best]


class _Fisher(NamedTuple):
    """Maximum likelihood with a ridge. The expected Hessian does not depend on the coefficients: it is formed once."""

    design: np.ndarray
    squares: np.ndarray
    weight: np.ndarray  # shares that sum to one
    values: np.ndarray  # eigenvalues of the covariance of the columns
    basis: np.ndarray
    means: np.ndarray  # of the columns

    @classmethod
    def of(cls, design: np.ndarray, squares: np.ndarray, weight: np.ndarray) -> _Fisher:
        weight = weight / np.sum(weight)
        means = weight @ design[:, 1:]
        centred = (design[:, 1:] - means) * np.sqrt(weight)[:, None]
        values, basis = np.linalg.eigh(centred.T @ centred)
        return cls(design, squares, weight, np.maximum(values, 0.0), basis, means)

    def solve(self, ridge: float, degrees: float) -> np.ndarray:
        """Constant and slopes, by Fisher scoring with step halving; an infinite ridge leaves the constant alone."""
        theta, penalty = np.zeros(self.design.shape[1]), 0.0 if np.isinf(ridge) else ridge
        loss = self.loss(theta, degrees)
        for _ in range(MOST_STEPS):
            step, size, fallen, there = self._step(theta, ridge, degrees), 1.0, -np.inf, theta
            while size > 1e-3 and not fallen > 0:
                there = theta + size * step
                fallen = loss - self.loss(there, degrees) - 0.5 * penalty * float(there[1:] @ there[1:])
                size /= 2
            if not fallen > LEAST_GAIN:
                break
            theta, loss = there, loss - fallen
        return theta

    def loss(self, theta: np.ndarray, degrees: float) -> float:
        """The mean of −log density, without the ridge."""
        return float(self.weight @ tails.losses(self.design @ theta, self.squares, degrees))

    def _step(self, theta: np.ndarray, ridge: float, degrees: float) -> np.ndarray:
        """Minus the inverse of the expected Hessian times the gradient; the constant is eliminated."""
        information = tails.information(degrees)
        slopes = self.weight * tails.slopes(self.design @ theta, self.squares, degrees)
        constant = -float(np.sum(slopes)) / information
        if np.isinf(ridge):
            return np.concatenate(([constant], np.zeros(theta.size - 1)))
        gradient = slopes @ self.design[:, 1:] + ridge * theta[1:] + self.means * constant * information
        moved = -self.basis @ ((self.basis.T @ gradient) / (information * self.values + ridge))
        return np.concatenate(([constant - self.means @ moved], moved))
