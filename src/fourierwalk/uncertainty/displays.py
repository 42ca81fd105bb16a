"""Figures of calibration, in the form of scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fourierwalk.reporting import plots
from fourierwalk.uncertainty import calibration
from fourierwalk.uncertainty.calibration import Reliability

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


class CoverageDisplay:
    """Coverage and width of prediction intervals by level, and a histogram of probability integrals.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        The levels asked for.
    coverage : array of shape (n_levels,)
        The share of targets inside.
    width : array of shape (n_levels,)
        The mean width.
    integral : array of shape (n,)
        The probability integral of each target: uniform if its distribution is the right one.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        The three panels.
    figure_ : matplotlib figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> from fourierwalk.uncertainty import CoverageDisplay
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-3, 3, (600, 1))
    >>> y = np.sin(2 * x[:, 0]) + rng.normal(size=600) / 5
    >>> model = AdaptiveFourierRegressor(16, random_state=0).fit(x[:400], y[:400])
    >>> display = CoverageDisplay.from_estimator(model, x[400:], y[400:], levels=(0.5, 0.9))
    >>> bool(np.max(np.abs(display.coverage - display.levels)) < 0.1)
    True
    """

    def __init__(self, levels: Any, coverage: Any, width: Any, integral: Any) -> None:
        self.levels, self.coverage, self.width = (np.asarray(each) for each in (levels, coverage, width))
        self.integral = np.asarray(integral)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, levels: Sequence[float] = LEVELS, ax: Any = None
    ) -> CoverageDisplay:
        """Predict intervals at rows that the estimator has not seen, and draw the figure.

        Parameters
        ----------
        estimator : AdaptiveFourierRegressor
            A fitted regressor of one output.
        X, y : arrays of shape (n, d) and (n,)
            Rows that it has not seen.
        levels : sequence of floats
            The levels.
        ax : sequence of three matplotlib axes, optional
            Where to draw. None: a new figure.
        """
        intervals = np.asarray(estimator.predict_interval(X, list(levels)), dtype=np.float64)
        if intervals.ndim != 3:
            raise ValueError("CoverageDisplay needs a regressor of one output, got several: draw one at a time.")
        mean, std = estimator.predict(X, return_std=True)
        integral = calibration.probability_integral(y, mean, std, estimator.error_bars_.noise.degrees[0])
        width = np.mean(intervals[:, 1] - intervals[:, 0], axis=0)
        return cls(levels, calibration.coverage(y, intervals), width, integral).plot(ax)

    def plot(self, ax: Any = None) -> CoverageDisplay:
        """Draw the three panels, in the axes given or in a new figure."""
        axes = plots.new_figure(3)[1] if ax is None else ax
        one, two, three = self.axes_ = list(axes)
        self.figure_ = one.figure
        one.plot([0, 1], [0, 1], color=plots.QUIET, lw=1)
        one.plot(self.levels, self.coverage, marker="o", ms=4, color=plots.COLORS[0])
        one.set(xlabel="confidence level", ylabel="share of targets inside", xlim=(0, 1), ylim=(0, 1))
        two.plot(self.levels, self.width, marker="o", ms=4, color=plots.COLORS[0])
        two.set(xlabel="confidence level", ylabel="mean width", xlim=(0, 1), ylim=(0, None))
        three.hist(self.integral, bins=np.linspace(0, 1, 11), density=True, color=plots.COLORS[0], alpha=0.6)
        three.axhline(1.0, color=plots.QUIET, lw=1)
        three.set(xlabel="probability integral of the targets", ylabel="density", xlim=(0, 1))
        return self


class ReliabilityDisplay:
    """How often the most likely class is right, over the probability that it was given.

    Parameters
    ----------
    reliability : Reliability
        Mean probability, share of right labels and number of rows of each bin.

    Attributes
    ----------
    ax_ : matplotlib axes
        The panel.
    figure_ : matplotlib figure
        The figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fourierwalk import AdaptiveFourierClassifier
    >>> from fourierwalk.uncertainty import ReliabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdaptiveFourierClassifier(16, random_state=0).fit(X[::2], y[::2])
    >>> bool(ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2]).reliability.error < 0.2)
    True
    """

    def __init__(self, reliability: Reliability) -> None:
        self.reliability = reliability

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_bins: int = calibration.N_BINS, ax: Any = None
    ) -> ReliabilityDisplay:
        """Predict probabilities at rows that the estimator has not seen, and draw the figure.

        Parameters
        ----------
        estimator : AdaptiveFourierClassifier
            A fitted classifier.
        X, y : arrays of shape (n, d) and (n,)
            Rows that it has not seen.
        n_bins : int, default=10
            The number of bins between 0 and 1.
        ax : matplotlib axes, optional
            Where to draw. None: a new figure.
        """
        probability = estimator.predict_proba(X)
        return cls(calibration.reliability(y, probability, labels=estimator.classes_, n_bins=n_bins)).plot(ax)

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw the panel, in the axes given or in a new figure."""
        self.ax_ = plots.new_figure()[1][0] if ax is None else ax
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color=plots.QUIET, lw=1)
        self.ax_.plot(self.reliability.confidence, self.reliability.accuracy, marker="o", ms=4, color=plots.COLORS[0])
        self.ax_.set(xlabel="probability of the most likely class", ylabel="share right", xlim=(0, 1), ylim=(0, 1))
        return self
