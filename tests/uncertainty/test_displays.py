"""The displays draw what was measured."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.uncertainty import CoverageDisplay, ReliabilityDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, (1500, 1))
Y = np.sin(2 * X[:, 0]) + RNG.normal(size=1500) / 5


def test_coverage_is_drawn():
    model = AdaptiveFourierRegressor(8, random_state=0).fit(X[:900], Y[:900])
    display = CoverageDisplay.from_estimator(model, X[900:], Y[900:])
    line = display.axes_[0].lines[1]
    assert np.all(line.get_xdata() == display.levels)
    assert np.all(line.get_ydata() == display.coverage)
    assert np.max(np.abs(display.coverage - display.levels)) < 0.1
    assert np.all(np.diff(display.width) > 0)
    assert display.figure_ is display.axes_[2].figure
    assert display.plot(display.axes_) is display


def test_several_outputs_are_refused():
    model = AdaptiveFourierRegressor(8, random_state=0).fit(X, np.stack((Y, -Y), axis=1))
    with pytest.raises(ValueError, match="needs a regressor of one output"):
        CoverageDisplay.from_estimator(model, X, Y)


def test_reliability_is_drawn():
    x, y = load_iris(return_X_y=True)
    model = AdaptiveFourierClassifier(8, random_state=0).fit(x[::2], y[::2])
    display = ReliabilityDisplay.from_estimator(model, x[1::2], y[1::2])
    assert np.all(display.ax_.lines[1].get_ydata() == display.reliability.accuracy)
    assert display.reliability.n_rows.sum() == 75
    assert 0 <= display.reliability.error < 0.2
