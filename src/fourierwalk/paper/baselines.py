"""Fixed random frequencies with a tuned bandwidth: the baseline of every walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split


class TunedSpread(NamedTuple):
    """The estimator refitted on all rows, the best spread σ, and the held-out score of each spread."""

    estimator: Any
    spread: float
    scores: dict[float, float]


def tuned_fixed(estimator: Any, x: Any, y: Any, spreads: Sequence[float], seed: int) -> TunedSpread:
    """Fixed frequencies N(0, σ²) with σ chosen on a fifth of the training rows, and λ by cross-validation.

    Parameters
    ----------
    estimator : AdaptiveFourierRegressor or AdaptiveFourierClassifier
        Whose `n_frequencies` and `features` are used.
    x, y : array
        Training rows only.
    spreads : sequence of float
        The σ to try, in scaled units.
    seed : int
        Of the split and of the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from fourierwalk import AdaptiveFourierRegressor
    >>> x = np.random.default_rng(0).normal(size=(400, 1))
    >>> tuned_fixed(AdaptiveFourierRegressor(64), x, np.sin(9 * x[:, 0]), [1.0, 8.0], seed=0).spread
    8.0
    """
    stratify = y if hasattr(estimator, "predict_proba") else None
    x_fit, x_held, y_fit, y_held = train_test_split(x, y, test_size=0.2, random_state=seed, stratify=stratify)

    def fixed(spread: float) -> Any:
        return clone(estimator).set_params(sampler="fixed", initial=float(spread), random_state=seed)

    scores = {float(spread): float(fixed(spread).fit(x_fit, y_fit).score(x_held, y_held)) for spread in spreads}
    best = max(scores, key=lambda spread: scores[spread])
    return TunedSpread(fixed(best).fit(x, y), best, scores)


SPREADS = tuple(float(value) for value in np.geomspace(0.01, 300, 16).round(4))
