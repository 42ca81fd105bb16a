"""How well error bars and probabilities are calibrated, measured on rows that no fit has seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fourierwalk.uncertainty import tails

N_BINS = 10
"""Bins of a histogram of probabilities."""


class Reliability(NamedTuple):
    """For bins of the predicted probability: its mean, the share of right labels, and the number of rows."""

    confidence: np.ndarray
    accuracy: np.ndarray
    n_rows: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error: the mean of |share right − mean probability|, weighted by rows."""
        return float(np.sum(self.n_rows * np.abs(self.accuracy - self.confidence)) / np.sum(self.n_rows))


def coverage(y_true: Any, intervals: Any) -> np.ndarray:
    """The share of targets inside their intervals, for each level.

    Parameters
    ----------
    y_true : array of shape (n,)
        Targets.
    intervals : array of shape (n, 2) or (n, 2, n_levels)
        What `predict_interval` gave.

    Returns
    -------
    array of shape () or (n_levels,)
        The shares.

    Examples
    --------
    >>> float(coverage([1.0, 5.0], [[0.0, 2.0], [0.0, 2.0]]))
    0.5
    """
    intervals = np.asarray(intervals, dtype=np.float64)
    if intervals.ndim not in (2, 3) or intervals.shape[1] != 2:
        raise ValueError(f"intervals must have the shape (n, 2) or (n, 2, n_levels), got {intervals.shape}.")
    targets = _one_output("y_true", y_true, len(intervals)).reshape(-1, *(1,) * (intervals.ndim - 2))
    return np.mean((intervals[:, 0] <= targets) & (targets <= intervals[:, 1]), axis=0)


def probability_integral(y_true: Any, mean: Any, std: Any, degrees: Any = tails.DEGREES[-1]) -> np.ndarray:
    """The probability of values below each target; uniform if the distribution is the right one.

    Parameters
    ----------
    y_true, mean, std : array of shape (n,)
        Targets, and what ``predict(X, return_std=True)`` gave.
    degrees : float
        The degrees of freedom of Student's t that the errors follow; a thousand: they are normal.

    Examples
    --------
    >>> probability_integral([0.0, 3.0], [0.0, 0.0], [1.0, 1.0]).round(3)
    array([0.5  , 0.999])
    """
    targets, mean, std = _alike(y_true, mean, std)
    return tails.distribution((targets - mean) / std, degrees)


def negative_log_likelihood(y_true: Any, mean: Any, std: Any, degrees: Any = tails.DEGREES[-1]) -> float:
    """The mean of −log density of the targets. The arguments are those of `probability_integral`.

    Examples
    --------
    >>> round(negative_log_likelihood([0.0], [0.0], [1.0]), 2)
    0.92
    """
    targets, mean, std = _alike(y_true, mean, std)
    return float(np.mean(tails.losses(2 * np.log(std), (targets - mean) ** 2, degrees)))


def _alike(y_true: Any, mean: Any, std: Any) -> list[np.ndarray]:
    """The three as arrays of shape (n,)."""
    n = np.size(y_true)
    return [_one_output(name, each, n) for name, each in (("y_true", y_true), ("mean", mean), ("std", std))]


def _one_output(name: str, values: Any, n: int) -> np.ndarray:
    """Values of shape (n,) or (n, 1) as (n,): a column beside a row would give all pairs."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name} must have the shape ({n},), one value for each row, got {array.shape}.")
    return array.reshape(n)


def reliability(y_true: Any, y_prob: Any, *, labels: Any = None, n_bins: int = N_BINS) -> Reliability:
    """Predicted probabilities of the most likely class, beside how often it is right. Empty bins are left out.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels.
    y_prob : array of shape (n, n_classes)
        Probabilities of the classes, as `predict_proba` gives them.
    labels : array of shape (n_classes,), optional
        The label of each column; None: the labels of `y_true` in ascending order.
    n_bins : int, default=10
        The number of bins between 0 and 1.
    """
    probability, truth = np.asarray(y_prob, dtype=np.float64), np.asarray(y_true)
    truth = truth[:, 0] if truth.ndim == 2 and truth.shape[1] == 1 else truth
    names = np.unique(truth) if labels is None else np.asarray(labels)
    if probability.ndim != 2 or probability.shape != (truth.size, names.size):
        raise ValueError(f"y_prob must have the shape {(truth.size, names.size)}, got {probability.shape}.")
    best = np.argmax(probability, axis=1)
    sure, right = probability[np.arange(truth.size), best], names[best] == truth
    place = np.minimum((sure * n_bins).astype(np.int64), n_bins - 1)
    count = np.bincount(place, minlength=n_bins)
    used = count > 0
    means = [np.bincount(place, values, minlength=n_bins)[used] / count[used] for values in (sure, right)]
    return Reliability(means[0], means[1], count[used])


def expected_calibration_error(y_true: Any, y_prob: Any, *, labels: Any = None, n_bins: int = N_BINS) -> float:
    """The expected calibration error of probabilities: 0 is perfect, 1 the worst.

    The arguments are those of `reliability`.

    Examples
    --------
    Two rows with a probability of 0.9, of which one is right: 0.5 instead of 0.9.

    >>> round(expected_calibration_error([0, 1], [[0.9, 0.1], [0.9, 0.1]]), 3)
    0.4
    """
    return reliability(y_true, y_prob, labels=labels, n_bins=n_bins).error
