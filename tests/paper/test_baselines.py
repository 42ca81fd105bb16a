"""The tuned baseline chooses on held-out training rows."""

import numpy as np

from fourierwalk import AdaptiveFourierClassifier, AdaptiveFourierRegressor
from fourierwalk.paper.baselines import tuned_fixed


def test_the_spread_with_the_best_held_out_score_wins():
    x = np.random.default_rng(0).standard_normal((500, 1))
    tuned = tuned_fixed(AdaptiveFourierRegressor(64), x, np.sin(20 * x[:, 0]), [0.5, 15.0, 500.0], seed=0)
    assert tuned.spread == 15.0 == max(tuned.scores, key=tuned.scores.get)
    assert tuned.estimator.sampler == "fixed"
    assert tuned.estimator.initial == 15.0
    assert set(tuned.scores) == {0.5, 15.0, 500.0}


def test_classifiers_too():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    y = np.where(np.sum(x**2, axis=1) > 1.4, "out", "in")
    tuned = tuned_fixed(AdaptiveFourierClassifier(32), x, y, [1e-3, 1.0], seed=0)
    assert tuned.spread == 1.0
    assert tuned.estimator.score(x, y) > 0.9
